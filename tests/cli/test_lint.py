"""`tamesu lint`: every rule at its place, everything at once, and nothing of a project executed."""

from __future__ import annotations

import re
import shutil

import pytest

from tests.cli.calling import Caller
from tests.cli.lint_cases import (
    CASE,
    COMPOSE,
    CONFIG,
    DOCKERFILE,
    ITEMS,
    MANIFEST,
    PINNED,
    PRICES,
    RECORDINGS,
    RUBRIC,
    SYSTEM,
    TASK,
    Case,
    Edit,
    case_id,
    findings,
    folder,
    items_file,
    line_number,
    remove,
    source,
    swap,
    write,
)
from tests.cli.lint_catalogue import CASES
from tests.cli.lint_eval_cases import AS_TEXT
from tests.projects import DATASET, EXPERIMENT, Done, ShapesProject


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_a_mistake_is_one_line_at_its_place(case: Case, shapes: ShapesProject, call: Caller) -> None:
    for edit in case.edits:
        edit(shapes)
    done = call(shapes, "lint")
    assert (done.code, done.err) == (1, "")
    found = [one for one in findings(done.out) if one.rule == case.rule and case.says in one.message]
    places = {(one.file, one.severity, one.line) for one in found}
    assert (case.file.as_posix(), "error", line_number(shapes, case)) in places


def test_a_clean_project_passes(shapes: ShapesProject, call: Caller) -> None:
    assert call(shapes, "lint") == Done(0, "1 eval(s): no errors\n", "")
    assert call(shapes, "lint", "replayed").code == 0


def test_lint_of_one_eval_leaves_the_others_alone(shapes: ShapesProject, call: Caller) -> None:
    shutil.copytree(shapes.eval, shapes.eval.parent / "second")
    assert call(shapes, "lint", "replayed").code == 0
    done = call(shapes, "lint", "second")
    assert done.code == 1
    assert [one.rule for one in findings(done.out)] == ["name/folder"]
    assert call(shapes, "lint").code == 1


@pytest.mark.parametrize(
    "edits",
    [
        pytest.param(source(COMPOSE, f"services:\n  default:\n    image: {PINNED}\n"), id="compose-pinned"),
        pytest.param(source(DOCKERFILE, f"FROM {PINNED} AS base\nFROM base\nFROM scratch\n"), id="dockerfile-pinned"),
        pytest.param(
            (
                *source(COMPOSE, "services:\n  default:\n    image: python:3.12\n"),
                swap("  artifacts:\n", "  allow_mutable_images: true\n  artifacts:\n"),
            ),
            id="mutable-images-allowed",
        ),
        pytest.param(source(EXPERIMENT / "inspect/tools.py", "import json\n"), id="declared-helper"),
        pytest.param(
            (write(EXPERIMENT / "inspect/__pycache__/old.py", "x\n"), write(EXPERIMENT / "inspect/notes.md", "x\n")),
            id="caches-and-prose-beside-the-task",
        ),
        pytest.param(
            (
                swap(
                    "  sources:\n    generation: [../../inspect/task.py]\n    scoring: [../../inspect/drawing.py]\n", ""
                ),
            ),
            id="sources-left-out",
        ),
        pytest.param((swap("    arms: [terse, worked-example]\n", ""),), id="runs-without-arms-take-all"),
        pytest.param((AS_TEXT,), id="a-text-whose-task-file-brings-scorers"),
    ],
)
def test_what_is_allowed_is_no_finding(edits: tuple[Edit, ...], shapes: ShapesProject, call: Caller) -> None:
    for edit in edits:
        edit(shapes)
    done = call(shapes, "lint")
    assert (done.code, done.out) == (0, "1 eval(s): no errors\n")


def test_repeated_violations_of_a_kind_are_all_told(shapes: ShapesProject, call: Caller) -> None:
    for name in ("b.py", "a.py"):
        write(EXPERIMENT / "inspect" / name, "x = 1\n")(shapes)
    swap("system: ../../prompts/system.md", "system: ../../prompts/none.md")(shapes)
    swap("items:\n", "owner: me\nitems:\n", DATASET)(shapes)
    remove(CASE)(shapes)
    rules = [one.rule for one in findings(call(shapes, "lint").out)]
    assert sorted(rules) == [
        "file/unreadable",
        "path/missing",
        "path/missing",
        "schema/additionalProperties",
        "sources/undeclared",
        "sources/undeclared",
    ]


def test_mistakes_of_different_kinds_are_told_at_once(shapes: ShapesProject, call: Caller) -> None:
    """A missing file must not hide names that do not agree: one round of corrections, not three."""
    swap("name: replayed", "name: other")(shapes)
    swap("prompts/terse.md.j2", "prompts/none.md.j2")(shapes)
    swap('"mean_score:scene_coverage"', '"mean_score:scene"')(shapes)
    rules = {one.rule for one in findings(call(shapes, "lint").out)}
    assert rules == {"path/missing", "name/folder", "metric/not-produced"}


def test_findings_are_told_in_the_order_of_the_files(shapes: ShapesProject, call: Caller) -> None:
    swap("name: replayed", "name: other")(shapes)
    swap("provider: replay", "provider: abacus")(shapes)
    lines = [one.line for one in findings(call(shapes, "lint").out)]
    assert lines == sorted(lines)
    assert len(lines) >= 3


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(swap("file: ../../inspect/task.py", "file: ../../inspect"), id="task-file-is-a-folder"),
        pytest.param(swap(RECORDINGS, "recordings: ../../recordings"), id="recordings-are-a-folder"),
        pytest.param(
            lambda project: (items_file("")[0](project), project.path(ITEMS).mkdir()), id="items-file-is-a-folder"
        ),
        pytest.param(folder(RUBRIC), id="rubric-is-a-folder"),
        pytest.param(folder(SYSTEM), id="prompt-is-a-folder"),
        pytest.param(folder(CONFIG), id="config-is-a-folder"),
        pytest.param(folder(PRICES), id="prices-are-a-folder"),
        pytest.param(folder(TASK), id="task-is-a-folder"),
    ],
)
def test_a_folder_in_the_place_of_a_file_is_a_finding(edit: Edit, shapes: ShapesProject, call: Caller) -> None:
    edit(shapes)
    done = call(shapes, "lint")
    assert (done.code, done.err) == (1, "")
    assert {one.severity for one in findings(done.out)} == {"error"}


@pytest.mark.parametrize(
    ("missing", "field"), [("task: artifact_bundle\n", "task"), ("execution", "native"), ("runs", "runs")]
)
def test_a_block_left_out_is_a_finding(missing: str, field: str, shapes: ShapesProject, call: Caller) -> None:
    """`task` left out is the case's default; without one, and without the other blocks, lint says what to add."""
    text = shapes.manifest.read_text()
    if missing.endswith("\n"):
        text = text.replace(missing, "")
        swap("default_task: artifact_bundle\n", "", CASE)(shapes)
    else:
        text = re.sub(rf"^{missing}:\n(?:[ ].*\n|\n)+", "", text, flags=re.MULTILINE)
    shapes.manifest.write_text(text)
    done = call(shapes, "lint")
    assert (done.code, done.err) == (1, "")
    assert any(f"'{field}'" in one.message for one in findings(done.out))


def test_the_task_of_the_case_is_the_default(shapes: ShapesProject, call: Caller) -> None:
    swap("task: artifact_bundle\n", "")(shapes)
    assert call(shapes, "lint").code == 0


def test_recordings_are_checked_before_anything_runs(shapes: ShapesProject, call: Caller) -> None:
    """A mistake in them is the user's, at a line of the user's file, not of a copy made for a run."""
    write(EXPERIMENT / "recordings/answers.jsonl", '{"tamesu_recording": 1, "label": "x"}\n{"item": 1}\n')(shapes)
    done = call(shapes, "lint")
    assert done.code == 1
    assert [(one.file.rpartition("/")[2], one.line) for one in findings(done.out)] == [("answers.jsonl", 2)]


def test_task_args_may_not_hold_the_dataset(shapes: ShapesProject, call: Caller) -> None:
    swap("  task: draw_scene\n", "  task: draw_scene\n  task_args: {dataset: mine.jsonl}\n")(shapes)
    done = call(shapes, "lint")
    assert done.code == 1
    assert "dataset" in findings(done.out)[0].message


@pytest.mark.parametrize("kind", ["file", "folder", "case"])
def test_a_symlink_out_of_the_project_is_refused(kind: str, shapes: ShapesProject, call: Caller) -> None:
    outside = shapes.root.parent / "outside"
    if kind == "case":
        shutil.move(shapes.path("cases/shape-drawing"), outside)
        shapes.path("cases/shape-drawing").symlink_to(outside)
    elif kind == "folder":
        shutil.move(shapes.path(EXPERIMENT / "prompts"), outside)
        shapes.path(EXPERIMENT / "prompts").symlink_to(outside)
    else:
        shutil.move(shapes.path(SYSTEM), outside)
        shapes.path(SYSTEM).symlink_to(outside)
    done = call(shapes, "lint")
    assert done.code == 1
    assert {one.rule for one in findings(done.out)} == {"path/escapes"}


def test_a_symlink_inside_the_project_is_followed(shapes: ShapesProject, call: Caller) -> None:
    shapes.path(SYSTEM).rename(shapes.path(SYSTEM).with_name("other.md"))
    shapes.path(SYSTEM).symlink_to("other.md")
    assert call(shapes, "lint").code == 0


def test_a_symlink_to_itself_is_a_finding(shapes: ShapesProject, call: Caller) -> None:
    shapes.path(SYSTEM).unlink()
    shapes.path(SYSTEM).symlink_to(SYSTEM.name)
    done = call(shapes, "lint")
    assert (done.code, done.err) == (1, "")
    assert {one.line for one in findings(done.out)} == {35, 38}


def test_reading_commands_execute_nothing_of_the_project(shapes: ShapesProject) -> None:
    """Neither import nor network nor Docker: an executed task would leave a file, a connection an error."""
    trap = "import pathlib as _p, sys as _s\n_p.Path({!r}).write_text('ran')\n"
    marker = shapes.root.parent / "executed"
    for name in ("task.py", "drawing.py"):
        path = shapes.path(EXPERIMENT / "inspect" / name)
        path.write_text(path.read_text().replace("import json\n", "import json\n" + trap.format(str(marker)), 1))
    guard = shapes.root.parent / "guard"
    guard.mkdir()
    (guard / "sitecustomize.py").write_text(
        "import socket\n"
        "def refuse(*_, **__):\n    raise RuntimeError('the network was used')\n"
        "socket.socket.connect = refuse\nsocket.create_connection = refuse\nsocket.getaddrinfo = refuse\n"
    )
    environment = {"PYTHONPATH": str(guard), "DOCKER_HOST": "tcp://127.0.0.1:1", "PATH": "/nonexistent"}
    for command in ("lint", "plan", "status", "list", "models"):
        done = shapes.tamesu(command, env=environment)
        assert (done.code, done.err) == (0, "")
    assert shapes.jobs()["execute"] == 8
    assert not marker.exists()
    assert shapes.calls() == []
    assert not (shapes.eval / "runs").exists()
    assert not (shapes.eval / "ledger.jsonl").exists()


def test_plan_names_the_first_finding_and_how_many_there_are(shapes: ShapesProject, call: Caller) -> None:
    swap("name: replayed", "name: other")(shapes)
    swap("provider: replay", "provider: abacus")(shapes)
    done = call(shapes, "plan")
    assert done.code == 1
    assert done.err.startswith(f"tamesu: {MANIFEST.as_posix()}:1:1: error name/folder ")
    assert done.err.endswith("(and 2 more; see `tamesu lint`)\n")
    assert done.err.count("\n") == 1
