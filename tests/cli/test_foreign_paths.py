"""A case that came from elsewhere names files of its own folder only: nothing else of the project is shown or sent."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calling import Caller
from tests.projects import DATASET, EXPERIMENT, ShapesProject

CANARY = "canary-of-a-private-file"
PRIVATE = {"items": "config/private.jsonl", "a schema": "config/private.json", "": "config/private.yml"}
MARKER = Path("cases/shape-drawing/.untrusted-origin")
FROM_EVAL, FROM_EXPERIMENT, FROM_DATASET = "../" * 6, "../" * 4, "../" * 4
EVAL_DATASET = "../../../../datasets/scenes-v1/dataset.yml"
TERSE = "../../prompts/terse.md.j2"
RUBRIC = EXPERIMENT / "rubrics/drawing.yml"
ANSWERS = EXPERIMENT / "recordings/answers.jsonl"

Edit = Callable[[ShapesProject, str], None]


def in_eval(old: str, new: str = "{}") -> Edit:
    return lambda project, target: project.edit_eval(old, new.format(FROM_EVAL + target))


def link(path: Path) -> Edit:
    def edit(project: ShapesProject, target: str) -> None:
        place = project.path(path)
        place.unlink()
        place.symlink_to(os.path.relpath(project.path(target), place.parent))

    return edit


def items_from(project: ShapesProject, target: str) -> None:
    project.path(DATASET).write_text(f"name: scenes\nitems_from: {FROM_DATASET}{target}\n")


def asset(project: ShapesProject, target: str) -> None:
    project.edit(DATASET, "items:\n", f"shared_assets: [{FROM_DATASET}{target}]\nitems:\n")


def items_from_link(project: ShapesProject, target: str) -> None:
    project.path(DATASET).write_text("name: scenes\nitems_from: items.jsonl\n")
    project.path(DATASET.parent / "items.jsonl").symlink_to(project.path(target))


NAMED: dict[str, Edit] = {
    "a prompt": in_eval(TERSE),
    "a dataset": in_eval(EVAL_DATASET),
    "recordings": in_eval("../../recordings/answers.jsonl"),
    "a rubric": in_eval("../../rubrics/drawing.yml"),
    "a schema": in_eval("task: artifact_bundle", "task: artifact_bundle\noutput_schema: {}"),
    "a source": in_eval("generation: [../../inspect/task.py]", "generation: [../../inspect/task.py, {}]"),
    "a task": in_eval("file: ../../inspect/task.py", "file: {}"),
    "a compose file": in_eval("  limits: {cost", "  inspect: {{sandbox: [docker, {}]}}\n  limits: {{cost"),
    "items": items_from,
    "an asset": asset,
    "a rationale": lambda project, target: project.edit(RUBRIC, "drawing.md", f"{FROM_EXPERIMENT}../{target}"),
    "a link of a prompt": link(EXPERIMENT / "prompts/terse.md.j2"),
    "a link of recordings": link(ANSWERS),
    "a link of items": items_from_link,
}


def told(project: ShapesProject, call: Caller) -> set[str]:
    done = call(project, "lint", "--format", "json")
    return {finding["rule"] for finding in json.loads(done.out)}


@pytest.fixture
def private(shapes: ShapesProject) -> ShapesProject:
    for name in PRIVATE.values():
        shapes.path(name).write_text(f'{{"{CANARY}": 1}}\n')
    return shapes


@pytest.mark.parametrize("name", NAMED)
def test_a_file_outside_the_case_is_an_error_and_is_shown_nowhere(
    name: str, private: ShapesProject, call: Caller
) -> None:
    NAMED[name](private, PRIVATE.get(name, PRIVATE[""]))
    private.path(MARKER).write_text("")
    assert "path/foreign" in told(private, call)
    for command in ("lint", "plan", "plan --json", "status", "present", "run replayed --trust-code"):
        done = call(private, *command.split())
        assert CANARY not in done.out + done.err
    pages = [path for path in private.path("build").rglob("*") if path.is_file()]
    assert not any(CANARY.encode() in path.read_bytes() for path in pages)
    assert private.calls() == []


@pytest.mark.parametrize("target", ["cases/own/case.yml", "cases/shape-drawings/case.yml", "config/none.yml"])
def test_neither_a_file_of_another_case_nor_whether_one_is_there(
    target: str, private: ShapesProject, call: Caller
) -> None:
    if "none" not in target:
        private.path(target).parent.mkdir()
        private.path(target).write_text(f"title: {CANARY}\n")
    private.edit_eval(TERSE, FROM_EVAL + target)
    private.path(MARKER).write_text("")
    done = call(private, "lint")
    lines = [line for line in (done.out + done.err).splitlines() if "eval.yml" in line]
    assert len(lines) == 1
    assert f"error path/foreign '{FROM_EVAL}{target}' leads out of a case that came from elsewhere" in lines[0]
    assert CANARY not in call(private, "plan").out


@pytest.mark.parametrize("name", ["a prompt", "a link of a prompt"])
def test_a_case_of_ones_own_may_share_files(name: str, private: ShapesProject, call: Caller) -> None:
    NAMED[name](private, "config/private.yml")
    assert told(private, call) == {"replay/same-prompt"}, "it was read: every item gets the same text"


def test_a_case_of_ones_own_may_name_files_of_a_marked_one(shapes: ShapesProject, call: Caller) -> None:
    """Also where what it names there is bound to its case."""
    own = shapes.path("cases/own/experiments/first/evals/one/eval.yml")
    own.parent.mkdir(parents=True)
    shutil.copy(shapes.path("cases/shape-drawing/case.yml"), shapes.path("cases/own/case.yml"))
    there = "../../../../../shape-drawing/"
    text = re.sub(r"(?<![./])(\.\./){4}", there, shapes.manifest.read_text())
    own.write_text(re.sub(r"(?<![./])(\.\./){2}(?!\.)", f"{there}experiments/prompt-wording/", text))
    own.write_text(own.read_text().replace("name: replayed", "name: one"))
    shapes.path(MARKER).write_text("")
    assert told(shapes, call) == set()
