"""C37: compose files and rubrics go through the strict reader too; honest anchors pass."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.cli.calling import Caller
from tests.projects import EXPERIMENT, ShapesProject

COMPOSE = EXPERIMENT / "inspect/compose.yaml"
RUBRIC = EXPERIMENT / "rubrics/drawing.yml"
TASK = "generation: [../../inspect/task.py]"
PINNED = "python@sha256:" + "a" * 64
BOMB = "l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"l{level}: &l{level} [{', '.join([f'*l{level - 1}'] * 10)}]\n" for level in range(1, 8)
)
LOOP = "x-loop: &loop {inner: [*loop]}\n"
HONEST = (
    "x-image: &image {image: " + PINNED + "}\n"
    "x-limits: &limits {mem_limit: 1gb, cpus: 1}\n"
    "x-both: &both {<<: [*image, *limits]}\n"
    "services:\n  default: *both\n  other: {<<: *both, network_mode: none}\n"
)


def declare_compose(project: ShapesProject, text: str) -> None:
    project.path(COMPOSE).write_text(text)
    project.edit_eval(TASK, f"{TASK[:-1]}, ../../inspect/compose.yaml]")


@pytest.mark.parametrize(
    ("text", "rule"), [(BOMB, "yaml/alias-bomb"), (LOOP, "yaml/self-reference")], ids=["bomb", "loop"]
)
@pytest.mark.parametrize("file", [COMPOSE, RUBRIC], ids=["compose", "rubric"])
def test_c37_a_bomb_is_a_finding_at_its_line(
    file: Path, text: str, rule: str, shapes: ShapesProject, call: Caller
) -> None:
    if file == COMPOSE:
        declare_compose(shapes, text)
    else:
        shapes.path(file).write_text(text)
    start = time.monotonic()
    done = call(shapes, "lint")
    assert time.monotonic() - start < 5
    line = 4 if text is BOMB else 1
    assert (done.code, done.err) == (1, "")
    assert f"{file.as_posix()}:{line}:" in done.out
    assert f" error {rule} " in done.out


def test_c37_a_compose_file_of_three_anchors_passes(shapes: ShapesProject, call: Caller) -> None:
    declare_compose(shapes, HONEST)
    assert call(shapes, "lint").code == 0


def test_compose_spellings_of_yaml_1_1_are_left_to_compose(shapes: ShapesProject, call: Caller) -> None:
    """What a compose file means is decided by Docker; only manifests must be quoted."""
    declare_compose(shapes, HONEST.replace("network_mode: none", "restart: no"))
    assert call(shapes, "lint").code == 0
