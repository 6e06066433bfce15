"""`tamesu new eval --with sandbox`: a task of the eval's own, and nothing to fill in but the digest of its image."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tamesu.core.scaffold import SANDBOX_OUTLINE
from tamesu.edge.documents.task_outline import read_task_outline
from tests import c_renderer
from tests.cli.calling import Caller
from tests.cli.scaffolded import EXPERIMENT, begun, contents

EVAL = EXPERIMENT / "evals/boxed"
COMPOSE = EVAL / "inspect/compose.yaml"
PIN = "python@sha256:" + "a" * 64
FILES = {"eval.yml", "inspect/compose.yaml", "inspect/task.py", "prompts/program.md.j2", "recordings/answers.jsonl"}


@pytest.fixture
def boxed(tmp_path: Path, call: Caller) -> Path:
    """A project with an eval that has a sandbox, beside one that has none."""
    begun(tmp_path, call)
    done = call(tmp_path, "new", "eval", "steps-first/boxed", "--with", "sandbox")
    assert (done.code, done.err) == (0, "")
    return tmp_path


def pin(root: Path) -> None:
    compose = root / COMPOSE
    compose.write_text(compose.read_text().replace("python:3.12-slim-bookworm", PIN))


def test_task_prompt_compose_file_and_answers_stand_in_the_evals_own_folder(boxed: Path) -> None:
    assert set(contents(boxed / EVAL)) == FILES
    manifest = yaml.safe_load((boxed / EVAL / "eval.yml").read_text())
    assert (manifest["execution"]["file"], manifest["execution"]["task"]) == ("inspect/task.py", "solve_by_program")
    assert manifest["arms"] == [{"id": "program", "prompts": {"user": "prompts/program.md.j2"}}]


def test_all_that_must_be_filled_in_is_the_digest_of_the_image(boxed: Path, call: Caller) -> None:
    done = call(boxed, "lint", "--strict")
    assert done.code == 1
    (line,) = (line for line in done.out.splitlines() if " error " in line or " warning " in line)
    assert line.startswith(f"{COMPOSE}:4:5: error image/not-pinned image 'python:3.12-slim-bookworm' is not pinned;")
    assert "`tamesu lock`" in line
    pin(boxed)
    assert call(boxed, "lint", "--strict").code == 0


def test_what_is_missing_and_the_next_step_are_told_at_once(tmp_path: Path, call: Caller) -> None:
    begun(tmp_path, call)
    told = call(tmp_path, "new", "eval", "steps-first/boxed", "--with", "sandbox").out.splitlines()
    assert [line.removeprefix(f"wrote {EVAL}/") for line in told[:5]] == [
        "inspect/compose.yaml",
        "inspect/task.py",
        "prompts/program.md.j2",
        "recordings/answers.jsonl",
        "eval.yml",
    ]
    assert "image/not-pinned" in told[5]
    assert told[6] == "next: correct what is named above, then `tamesu activate boxed` and `tamesu run boxed`"


def test_the_image_and_the_compose_file_are_identity(boxed: Path, call: Caller) -> None:
    pin(boxed)
    (plan,) = json.loads(call(boxed, "plan", "boxed", "--json").out)
    (before,) = (run["run_id"] for run in plan["runs"])
    compose = boxed / COMPOSE
    compose.write_text(compose.read_text().replace("pids_limit: 64", "pids_limit: 65"))
    (plan,) = json.loads(call(boxed, "plan", "boxed", "--json").out)
    assert [run["run_id"] for run in plan["runs"]] != [before]


def test_the_sandbox_is_the_one_of_the_example_with_another_image(boxed: Path) -> None:
    ours, example = (
        [line for line in path.read_text().splitlines() if "image:" not in line]
        for path in (boxed / COMPOSE, c_renderer.EXAMPLE / c_renderer.COMPOSE)
    )
    assert ours == example


def test_the_task_declares_what_eval_yml_was_filled_with(boxed: Path) -> None:
    assert read_task_outline(boxed / EVAL / "inspect/task.py", "task.py") == SANDBOX_OUTLINE


def test_placeholders_are_programs_and_the_last_is_none(boxed: Path) -> None:
    header, *answers = [json.loads(line) for line in (boxed / EVAL / "recordings/answers.jsonl").open()]
    assert header["label"] == "placeholders written by tamesu new: no model was called"
    assert [(answer["item"], answer["turns"][0]["text"]) for answer in answers] == [
        ("rolls", "```python\nprint(25)\n```\n"),
        ("train", "```python\nprint(138)\n```\n"),
        ("fence", "Placeholder without an answer."),
    ]


def test_the_written_python_is_clean(boxed: Path) -> None:
    options = ("--isolated", "--line-length", "120", "--select", "E,F,I,B,C90,SIM", str(boxed / EVAL / "inspect"))
    done = subprocess.run(
        (sys.executable, "-m", "ruff", "check", *options), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_another_extra_is_refused_by_name(tmp_path: Path, call: Caller) -> None:
    before = contents(begun(tmp_path, call))
    done = call(tmp_path, "new", "eval", "steps-first/boxed", "--with", "sandbux")
    assert done.code == 2
    assert "sandbox" in done.err
    assert contents(tmp_path) == before
