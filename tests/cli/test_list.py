"""`tamesu list`: what a project holds, as its manifests say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.calling import Caller, one_line
from tests.cli.scaffolded import CASE, EVAL, EXPERIMENT, NAME, begun
from tests.projects import ShapesProject

QUESTION = "Which of direct and steps scores higher on right_number?"


def test_the_tree_shows_status_task_size_and_question(tmp_path: Path, call: Caller) -> None:
    begun(tmp_path, call)
    done = call(tmp_path, "list", columns=80)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "word-problems",
        "Can a model solve short word problems that have one right number?",
        "└── steps-first",
        "    └── replayed: draft, artifact_bundle, 2 runs x 3 items",
        f"        {QUESTION}",
    ]


@pytest.mark.parametrize("columns", [40, 80])
def test_narrow_terminals_lose_no_word(columns: int, shapes: ShapesProject, call: Caller) -> None:
    done = call(shapes, "list", columns=columns)
    assert max(map(len, done.out.splitlines())) <= columns
    assert "…" not in done.out
    told = " ".join(done.out.split())
    assert "replayed: active, artifact_bundle, 8 runs x 3 items" in told
    assert "drawing programs valid more often than a terse instruction?" in told


def test_one_run_of_one_item_is_singular(one_run: ShapesProject, call: Caller) -> None:
    assert "replayed: active, artifact_bundle, 1 run x 1 item\n" in call(one_run, "list").out


def test_json_carries_the_same(tmp_path: Path, call: Caller) -> None:
    begun(tmp_path, call)
    eval_ = {
        "eval": NAME,
        "status": "draft",
        "task": "artifact_bundle",
        "question": QUESTION,
        "runs": 2,
        "items": 3,
        "problem": None,
    }
    assert json.loads(call(tmp_path, "list", "--json").out) == [
        {
            "name": "word-problems",
            "question": "Can a model solve short word problems that have one right number?",
            "experiments": [{"name": "steps-first", "evals": [eval_]}],
            "problem": None,
            "reports_alone": False,
        }
    ]


def test_an_eval_that_does_not_read_is_invalid_with_its_first_finding(tmp_path: Path, call: Caller) -> None:
    begun(tmp_path, call)
    call(tmp_path, "new", "eval", "steps-first/sound")
    manifest = tmp_path / EVAL / "eval.yml"
    manifest.write_text(manifest.read_text().replace("status: draft", "status: drft").replace("arms:\n", "arns:\n", 1))
    done = call(tmp_path, "list", columns=400)
    assert (done.code, done.err) == (0, "")
    assert "└── sound: draft, " in done.out
    problem = json.loads(call(tmp_path, "list", "--json").out)[0]["experiments"][0]["evals"][0]["problem"]
    first = call(tmp_path, "lint").out.splitlines()[0]
    assert problem.startswith(first)
    lines = done.out.splitlines()
    assert lines[lines.index("    ├── replayed: invalid") + 1].endswith(problem)


def test_cases_and_experiments_without_content_say_what_to_do(tmp_path: Path, call: Caller) -> None:
    begun(tmp_path, call)
    call(tmp_path, "new", "experiment", "word-problems/empty")
    call(tmp_path, "new", "case", "bare")
    told = call(tmp_path, "list").out
    assert "no eval yet; `tamesu new eval word-problems/empty/NAME`" in told
    assert "no experiment yet; `tamesu new experiment bare/NAME`" in told
    (tmp_path / CASE / "case.yml").write_text("nmae: x\n")
    assert f"{CASE}/case.yml:1:1: error " in call(tmp_path, "list", columns=400).out


def test_a_project_without_cases_names_the_first_step(tmp_path: Path, call: Caller) -> None:
    (tmp_path / "cases").mkdir()
    done = call(tmp_path, "list")
    assert (done.code, done.out) == (0, f"{tmp_path}: holds no case yet; begin with `tamesu new case NAME`\n")
    assert json.loads(call(tmp_path, "list", "--json").out) == []


def test_one_case_can_be_asked_for_and_an_unknown_one_names_the_nearest(tmp_path: Path, call: Caller) -> None:
    begun(tmp_path, call)
    call(tmp_path, "new", "case", "other")
    assert "word-problems" not in call(tmp_path, "list", "other").out
    assert one_line(call(tmp_path, "list", "othr"), 2) == "no case named 'othr'; did you mean other?"


def test_it_reads_manifests_alone_and_writes_nothing(tmp_path: Path, call: Caller) -> None:
    begun(tmp_path, call)
    (tmp_path / EXPERIMENT / "inspect/task.py").write_text("raise SystemExit('executed')\n")
    assert call(tmp_path, "list").code == 0
    assert not (tmp_path / ".tamesu").exists()


@pytest.mark.parametrize(
    "arguments",
    [("list",), ("lint",), ("plan",), ("status",), ("models",), ("new", "case", "other"), ("activate", "replayed")],
)
def test_no_heavy_library_is_imported(arguments: tuple[str, ...], tmp_path: Path, call: Caller) -> None:
    begun(tmp_path, call)
    code = (
        "import sys\nfrom tamesu.cli.main import cli\n"
        f"cli({list(arguments)!r}, standalone_mode=False)\n"
        "print(sorted({'inspect_ai', 'snakemake', 'pandas', 'scipy', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
