"""Pipes, devices, links out of the project and permissions: each is one finding, never a hang or an abort."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tamesu.edge.documents import reading as reading_module
from tamesu.edge.documents.yaml_reader import MAX_BYTES
from tests.cli.calling import Caller
from tests.cli.lint_cases import (
    ANSWERS,
    CASE,
    COMPOSE,
    CONFIG,
    MANIFEST,
    PRICES,
    RUBRIC,
    SYSTEM,
    TASK,
    findings,
    source,
)
from tests.projects import DATASET, EXPERIMENT, ShapesProject

RATIONALE = EXPERIMENT / "rubrics/drawing.md"
HELPER = EXPERIMENT / "inspect/drawing.py"
READ = [MANIFEST, CASE, CONFIG, PRICES, RUBRIC, RATIONALE, SYSTEM, TASK, HELPER, ANSWERS, DATASET, COMPOSE]


def prepared(project: ShapesProject, path: Path) -> Path:
    """Return where a file stood that is read, with nothing there any more."""
    if path == COMPOSE:
        for edit in source(COMPOSE, "services: {}\n"):
            edit(project)
    project.path(path).unlink(missing_ok=True)
    return project.path(path)


def told(project: ShapesProject, call: Caller, path: Path) -> set[str]:
    done = call(project, "lint")
    assert (done.code, done.err) == (1, "")
    return {one.rule for one in findings(done.out) if one.file == path.as_posix()}


@pytest.mark.parametrize("path", READ, ids=lambda path: path.name)
def test_a_pipe_is_no_file(path: Path, shapes: ShapesProject, call: Caller) -> None:
    os.mkfifo(prepared(shapes, path))
    assert told(shapes, call, path) == {"file/unreadable"}


@pytest.mark.parametrize("path", READ, ids=lambda path: path.name)
def test_a_link_out_of_the_project(path: Path, shapes: ShapesProject, call: Caller, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("x: 1\n")
    prepared(shapes, path).symlink_to(outside)
    rules = {one.rule for one in findings(call(shapes, "lint").out)}
    assert "path/escapes" in rules


def test_a_link_out_of_the_project_among_sources_left_out(shapes: ShapesProject, call: Caller, tmp_path: Path) -> None:
    outside = tmp_path / "helper.py"
    outside.write_text("x = 1\n")
    text = shapes.manifest.read_text()
    start, end = text.index("  sources:\n"), text.index("  limits:")
    shapes.manifest.write_text(text[:start] + text[end:])
    assert call(shapes, "lint").code == 0
    shapes.path(EXPERIMENT / "inspect/helper.py").symlink_to(outside)
    assert told(shapes, call, EXPERIMENT / "inspect/helper.py") == {"path/escapes"}


@pytest.mark.parametrize("path", [CONFIG, SYSTEM], ids=lambda path: path.name)
def test_a_device_and_an_endless_file(path: Path, shapes: ShapesProject, call: Caller) -> None:
    with prepared(shapes, path).open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    assert told(shapes, call, path) == {"yaml/size" if path == CONFIG else "file/unreadable"}
    prepared(shapes, path).symlink_to("/dev/zero")
    assert {"path/escapes"} == {one.rule for one in findings(call(shapes, "lint").out)}


@pytest.mark.parametrize("path", [SYSTEM, TASK, HELPER, ANSWERS, DATASET], ids=lambda path: path.name)
def test_a_file_without_permission_is_told_with_everything_else(
    path: Path, shapes: ShapesProject, call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Permissions do not hold for every user that runs tests, so the read itself refuses."""
    honest = reading_module.read_regular_file

    def refusing(asked: Path, most: int | None = None) -> bytes:
        if asked == shapes.path(path):
            raise PermissionError(13, "Permission denied", str(asked))
        return honest(asked, most)

    monkeypatch.setattr(reading_module, "read_regular_file", refusing)
    shapes.edit_eval("provider: replay\n    model: sketcher-small", "provider: nobody\n    model: sketcher-small")
    done = call(shapes, "lint")
    assert (done.code, done.err) == (1, "")
    found = {(one.file, one.rule) for one in findings(done.out)}
    assert (path.as_posix(), "file/unreadable") in found
    assert (MANIFEST.as_posix(), "provider/no-route") in found or path == DATASET


def test_a_folder_without_permission(shapes: ShapesProject, call: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    shut = EXPERIMENT / "inspect/shut"
    shapes.path(shut).mkdir()
    honest = os.scandir

    def refusing(asked: str | Path) -> object:
        if Path(asked) == shapes.path(shut):
            raise PermissionError(13, "Permission denied", str(asked))
        return honest(asked)

    monkeypatch.setattr(os, "scandir", refusing)
    assert told(shapes, call, shut) == {"file/unreadable"}
