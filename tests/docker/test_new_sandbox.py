"""What `tamesu new eval --with sandbox` writes, run with real containers once its image is pinned."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.cli.scaffolded import EXPERIMENT
from tests.projects import ShapesProject

pytestmark = pytest.mark.docker

EVAL = EXPERIMENT / "evals/boxed"


@pytest.fixture
def boxed(tmp_path: Path, image: str) -> ShapesProject:
    project = ShapesProject(tmp_path)
    steps = (("case", "word-problems"), ("experiment", "steps-first"), ("eval", "boxed", "--with", "sandbox"))
    for step in steps:
        assert project.tamesu("new", *step).code == 0
    project.edit(EVAL / "inspect/compose.yaml", "python:3.12-slim-bookworm", image)
    assert project.tamesu("activate", "boxed").code == 0
    return project


def scores(project: ShapesProject) -> dict[str, tuple[float, str]]:
    found = {}
    for path in project.path(EVAL).glob("runs/*/items/*/result.yml"):
        score = yaml.safe_load(path.read_text())["scores"]["right_output"]
        found[path.parent.name] = (score["value"], score["metadata"]["reason"])
    return found


def answer(project: ShapesProject, programs: dict[str, str]) -> None:
    lines: list[object] = [{"tamesu_recording": 1, "label": "made up for a test"}]
    lines += [{"item": item, "turns": [{"text": f"```python\n{code}\n```\n"}]} for item, code in programs.items()]
    project.path(EVAL / "recordings/answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_it_runs_as_written(boxed: ShapesProject) -> None:
    done = boxed.tamesu("run", "boxed")
    assert (done.code, done.err) == (0, "")
    assert scores(boxed) == {"rolls": (1.0, "none"), "train": (1.0, "none"), "fence": (0.0, "no_block")}


def test_programs_that_do_not_end_or_fail_or_flood_get_their_reason(boxed: ShapesProject) -> None:
    answer(
        boxed,
        {
            "rolls": "while True: pass",
            "train": "print('x' * 10_000_000)",
            "fence": "import socket\nsocket.create_connection(('192.0.2.1', 80), 2)",
        },
    )
    done = boxed.tamesu("run", "boxed")
    assert (done.code, done.err) == (0, "")
    assert scores(boxed) == {"rolls": (0.0, "timeout"), "train": (0.0, "run_failed"), "fence": (0.0, "run_failed")}
    (log,) = boxed.path(EVAL).glob("runs/*/items/fence/artifacts/run.log")
    assert "Network is unreachable" in log.read_text()
