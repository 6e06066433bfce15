"""Checks of pictures: measured from bytes, judged by the settings of now."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from tamesu.base.model.manifest import MechanicalCheck
from tamesu.core.checks.names import PICTURE_CHECKS
from tamesu.core.checks.picture import PictureTask, judged_value, picture_scores
from tamesu.core.images import measure_image

ALL = tuple(MechanicalCheck(name) for name in PICTURE_CHECKS)


def picture(mode: str = "RGB", size: tuple[int, int] = (40, 30), kind: str = "PNG", split: bool = True) -> bytes:
    """A picture whose halves differ, unless it is one colour."""
    image = Image.new(mode, size)
    if split:
        image.paste(
            Image.new(mode, (size[0] // 2, size[1]), "white" if mode != "RGBA" else (255, 255, 255, 255)), (0, 0)
        )
    buffer = io.BytesIO()
    image.save(buffer, format=kind)
    return buffer.getvalue()


def verdicts(
    content: bytes, checks: tuple[MechanicalCheck, ...] = ALL, asked: str | None = "png"
) -> dict[str, float | None]:
    found = picture_scores(checks, PictureTask(asked), measure_image(content))
    return {score.name: score.number for score in found}


def test_a_picture_as_it_was_asked_for() -> None:
    assert verdicts(picture("RGBA")) == {
        "decodable_image": 1.0,
        "min_resolution": 1.0,
        "format_match": 1.0,
        "non_uniform": 1.0,
        "has_transparency": 1.0,
    }


def test_each_check_fails_by_itself() -> None:
    assert verdicts(picture(), asked="jpg") == {
        "decodable_image": 1.0,
        "min_resolution": 1.0,
        "format_match": 0.0,
        "non_uniform": 1.0,
        "has_transparency": 0.0,
    }
    assert verdicts(picture(split=False))["non_uniform"] == 0.0
    assert verdicts(picture(kind="JPEG"), asked="jpg")["format_match"] == 1.0
    assert verdicts(picture(kind="JPEG"), asked=None)["format_match"] == 1.0


@pytest.mark.parametrize("content", [b"", b"no picture", picture()[:60]])
def test_what_does_not_decode_fails_every_check(content: bytes) -> None:
    assert set(verdicts(content).values()) == {0.0}


@pytest.mark.parametrize(("width", "height", "value"), [(40, 30, 1.0), (41, 30, 0.0), (40, 31, 0.0), (30, 30, 1.0)])
def test_a_minimum_is_about_both_sides(width: int, height: int, value: float) -> None:
    check = MechanicalCheck("min_resolution", settings={"width": width, "height": height})
    assert verdicts(picture(), (check,)) == {"min_resolution": value}


def test_another_setting_is_judged_from_what_was_measured() -> None:
    (score,) = picture_scores((MechanicalCheck("min_resolution"),), PictureTask(None), measure_image(picture()))
    stricter = MechanicalCheck("min_resolution", settings={"width": 100})
    assert (score.number, judged_value(stricter, score.metadata)) == (1.0, 0.0)
    assert judged_value(MechanicalCheck("valid_json"), score.metadata) is None
    assert judged_value(stricter, None) is None
