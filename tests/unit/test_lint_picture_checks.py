"""Formats that `format_match` may wait for: lint refuses those in which no picture is ever kept, and no other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamesu.base.canonical import Json
from tamesu.base.model.manifest import Arm, Eval, MechanicalCheck, ModelEntry
from tamesu.core.lint.picture_checks import picture_check_remarks
from tests.factories import make_eval


def pictures(check: MechanicalCheck, asked: str | None = None, arm: str | None = None) -> Eval:
    """Return a picture eval with one check; `asked` is the format of the defaults, `arm` that of the only arm."""
    evaluation = make_eval()
    image: dict[str, Json] = {} if asked is None else {"image": {"output_format": asked}}
    own: dict[str, Json] = {} if arm is None else {"image": {"output_format": arm}}
    return replace(
        evaluation,
        task="image_generation",
        policy=replace(evaluation.policy, mechanical=(check,)),
        defaults=replace(evaluation.defaults, parameters=image),
        arms=(Arm("plain", "", None, None, own),),
        models=(ModelEntry("replay", "m"),),
    )


@pytest.mark.parametrize("name", ["bmp", "tiff", "tif"])
def test_a_format_that_is_read_and_never_kept_is_refused(name: str) -> None:
    (told,) = picture_check_remarks(pictures(MechanicalCheck("format_match", settings={"format": name})))
    assert (told.rule, told.path, told.severity) == ("check/never-passes", ("evaluation", "mechanical", 0), "error")
    assert f"'{name}'" in told.message


@pytest.mark.parametrize("name", ["png", "jpeg", "jpg", "JPG", "webp", "gif"])
def test_a_format_that_is_kept_is_none_of_its_business(name: str) -> None:
    check = MechanicalCheck("format_match", settings={"format": name})
    assert list(picture_check_remarks(pictures(check, asked="bmp"))) == []
    assert list(picture_check_remarks(pictures(MechanicalCheck("format_match"), asked=name))) == []


def test_what_parameters_ask_for_counts_where_the_check_names_none() -> None:
    check = MechanicalCheck("format_match")
    (told,) = picture_check_remarks(pictures(check, asked="avif"))
    assert told.path == ("defaults", "parameters", "image", "output_format")
    assert list(picture_check_remarks(pictures(check, asked="avif", arm="png"))) == []
    assert list(picture_check_remarks(pictures(check))) == []


def test_only_a_listed_check_that_can_fail_is_told() -> None:
    assert list(picture_check_remarks(pictures(MechanicalCheck("non_uniform"), asked="bmp"))) == []
    anything = MechanicalCheck("format_match", pass_at=0.0, settings={"format": "bmp"})
    assert list(picture_check_remarks(pictures(anything))) == []
