"""The c-renderer example without Docker: its checks of images, its errors, its documents."""

from __future__ import annotations

import asyncio
import importlib.util
import io
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.util import ExecResult
from PIL import Image

from tests import c_renderer
from tests.c_renderer import COMPOSE, ENDS, EXAMPLE, EXPERIMENT


def load(file: str) -> ModuleType:
    name = f"example_c_renderer_{file}"
    spec = importlib.util.spec_from_file_location(name, EXAMPLE / EXPERIMENT / "inspect" / f"{file}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


picture = load("picture")
workshop = load("workshop")

WANTED = '{"width": 2, "height": 1, "points": [[0, 0, "#ff0000"], [1, 0, "#0000ff"]]}'


def refused(content: bytes) -> str:
    with pytest.raises(picture.NoPicture) as caught:
        picture.decode(content)
    return str(caught.value.reason)


# --- the image -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "size"),
    [
        (b"P6\n2 1\n255\n\xff\0\0\0\0\xff", (2, 1)),
        (b"P3\n2 1\n255\n255 0 0 0 0 255\n", (2, 1)),
        (b"P6\n# a remark\n1 1\n255\nabc and more", (1, 1)),
        (b"P5\n1 2\n255\n\x00\xff", (1, 2)),
    ],
)
def test_ppm_becomes_an_rgb_image_and_a_png(content: bytes, size: tuple[int, int]) -> None:
    image = picture.decode(content)
    assert (image.mode, image.size) == ("RGB", size)
    again = Image.open(io.BytesIO(picture.png(image)))
    assert (again.format, again.size) == ("PNG", size)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no_output"),
        (b"hello\n", "not_an_image"),
        (b"P6\n2 1\n255\n\xff\0\0", "not_an_image"),
        (b"P6\n0 1\n255\n", "not_an_image"),
        (b"P6\n100000 100000\n255\n", "too_large"),
        (b"P3\n2 1\n255\n255 0 0 0 0 999\n", "not_an_image"),
        (b"\x89PNG\r\n\x1a\n", "not_an_image"),
    ],
)
def test_what_is_no_image_has_a_reason(content: bytes, reason: str) -> None:
    assert refused(content) == reason


@given(st.binary() | st.binary().map(lambda tail: b"P6\n3 2\n255\n" + tail))
def test_any_bytes_are_an_image_or_refused(content: bytes) -> None:
    try:
        image = picture.decode(content)
    except picture.NoPicture as none:
        assert none.reason in {"no_output", "not_an_image", "too_large"}
    else:
        assert image.width * image.height <= picture.MAX_PIXELS


def test_points_and_size_are_compared() -> None:
    wanted = picture.read_wanted(WANTED)
    right = Image.new("RGB", (2, 1), (250, 20, 0))
    right.putpixel((1, 0), (0, 24, 231))
    picture.check_size(right, wanted)
    assert picture.differences(right, wanted) == []
    right.putpixel((1, 0), (0, 25, 255))
    assert picture.differences(right, wanted) == ["(1, 0) is (0, 25, 255), not (0, 0, 255)"]
    with pytest.raises(picture.NoPicture, match="wrong_size: 1 x 2 instead of 2 x 1"):
        picture.check_size(Image.new("RGB", (1, 2)), wanted)


# --- errors of the sandbox -------------------------------------------------------------------------------


class Broken:
    """A sandbox that raises whatever it is asked."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def exec(self, *arguments: object, **options: object) -> None:
        raise self._error

    async def write_file(self, *arguments: object) -> None:
        raise self._error


@pytest.mark.parametrize(
    ("step", "error", "reason"),
    [
        (workshop.compile_source, TimeoutError(), "compile_timeout"),
        (workshop.run_program, TimeoutError(), "run_timeout"),
        (workshop.run_program, PermissionError("no\nmore"), "run_denied"),
        (lambda: workshop.copied("x", 1), TimeoutError(), "copy_timeout"),
        (lambda: workshop.copied("x", 1), PermissionError(), "copy_denied"),
        (lambda: workshop.write_source("x"), PermissionError("no"), "sandbox_denied"),
    ],
)
def test_time_and_permission_become_reasons(
    step: Any, error: Exception, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workshop, "sandbox", lambda: Broken(error))
    with pytest.raises(workshop.Stopped) as caught:
        asyncio.run(step())
    assert caught.value.reason == reason
    assert "\n" not in str(caught.value)


def test_a_sandbox_that_is_gone_is_no_score(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workshop, "sandbox", lambda: Broken(RuntimeError("the sandbox is not running")))
    with pytest.raises(RuntimeError, match="not running"):
        asyncio.run(workshop.run_program())


class Told:
    """A sandbox whose commands end with a code and an output."""

    def __init__(self, code: int, output: str) -> None:
        self._done = ExecResult(code == 0, code, output, "")

    async def exec(self, *arguments: object, **options: object) -> ExecResult[str]:
        return self._done


@pytest.mark.parametrize(
    ("returned", "output", "code"),
    [
        (137, "0 10.00 10.40\n", 0),
        (137, "3 10.00 10.40\n", 3),
        (137, "124 10.00 15.01\n", workshop.TIMED_OUT),
        (137, "137 10.00 16.01\n", workshop.TIMED_OUT),
        (137, "137 10.00 10.40\n", 137),
        (137, "", 137),
        (143, "", 143),
        (0, "", workshop.FAILED),
        (137, "0 1.0 1.0\n9 1.0 1.0\n", 137),
        (137, "0 x 1.0\n", 137),
        (137, "\u0660 1.0 1.0\n", 137),
        (137, f"{'9' * 5000} 1.0 1.0\n", 137),
    ],
)
def test_how_a_program_ended_is_told_by_the_shell_alone(
    returned: int, output: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workshop, "sandbox", lambda: Told(returned, output))
    assert asyncio.run(workshop.run_program()) == code


# --- its documents ---------------------------------------------------------------------------------------


def test_lint_asks_for_nothing_but_the_digest_of_the_image(tmp_path: Path) -> None:
    project = c_renderer.copy(tmp_path / "project")
    done = project.tamesu("lint", "--strict")
    line = (EXAMPLE / COMPOSE).read_text().splitlines().index(next(filter(is_image, compose_lines()))) + 1
    assert done.code == 1
    assert [part.split(" error ")[0] for part in done.out.splitlines() if " error " in part or " warning " in part] == [
        f"{COMPOSE}:{line}:5:"
    ]
    assert f"image/not-pinned image '{c_renderer.TAG}'" in done.out


def compose_lines() -> list[str]:
    return (EXAMPLE / COMPOSE).read_text().splitlines()


def is_image(line: str) -> bool:
    return line.lstrip().startswith("image:")


def test_the_table_of_the_recordings_says_how_each_answer_ends() -> None:
    text = (EXAMPLE / EXPERIMENT / "recordings/README.md").read_text()
    rows = re.findall(r"^\| `([\w-]+)` \| .* \| ([\d.]+) \| `(\w+)` \|$", text, flags=re.MULTILINE)
    assert {item: (float(score), reason) for item, score, reason in rows} == {
        item: (end.score, end.reason) for item, end in ENDS.items()
    }


def test_every_picture_has_one_answer_and_points_within_its_size() -> None:
    (path,) = EXAMPLE.glob("cases/*/datasets/*/dataset.yml")
    items = yaml.safe_load(path.read_text())["items"]
    assert {item["id"] for item in items} == set(ENDS)
    for item in items:
        expected = item["expected"]
        assert (expected["width"], expected["height"]) == (item["input"]["width"], item["input"]["height"])
        assert all(0 <= x < expected["width"] and 0 <= y < expected["height"] for x, y, _ in expected["points"])


def test_the_page_about_sandboxes_shows_the_compose_file_of_the_example() -> None:
    page = (c_renderer.projects.ROOT / "docs/sandboxes.md").read_text()
    shown = "".join(f"    {line}\n" for line in compose_lines())
    assert f"\n{shown}\n" in page
    rows = re.findall(r"^\| `([a-z_-]+)[`:]", page, flags=re.MULTILINE)
    assert {"network_mode", "read_only", "user", "mem_limit", "pids_limit", "cpus", "command", "stop_signal"} <= set(
        rows
    )


def test_the_commands_on_the_page_are_those_of_the_example() -> None:
    page = (c_renderer.projects.ROOT / "docs/sandboxes.md").read_text()
    assert f"COPY = '{workshop.COPY}'" in page
    commands = workshop.RUN.splitlines()[1:]
    assert "".join(f"    {command}\n" for command in commands) in page
