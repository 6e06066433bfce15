"""Whatever a user gets wrong ends in one clear line and its exit code, and costs no evidence."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calling import Caller, evidence, one_line
from tests.projects import EVAL, EXPERIMENT, Done, ShapesProject

TASK = EXPERIMENT / "inspect/task.py"
ANSWERS = EXPERIMENT / "recordings/answers.jsonl"
NAME = "shape-drawing/prompt-wording/replayed"
AWAITING = f"{NAME}: awaiting review; 8/8 runs banked\n  22 reviews owed; `tamesu review status {NAME}` says of whom\n"
SOLVER = "solver=[generate()]"
WHOLE_TASK = """\
    return Task(
        dataset=json_dataset(dataset),
        solver=[generate()],
        scorer=[valid_program(), scene_coverage()],
    )
"""
READING = ("lint", "plan", "status")


def first_run(project: ShapesProject) -> Path:
    """Return the folder of the run sketcher-small x terse rep 1."""
    return next((project.eval / "runs").glob("sketcher-small--terse--rep1--*"))


def errors(done: Done) -> list[str]:
    """Return the lines on stderr that give a reason, after checking that nothing raw came through."""
    assert "Traceback" not in done.out + done.err
    lines = done.err.splitlines()
    assert all(line.startswith("tamesu: ") for line in lines), done.err
    return [line.removeprefix("tamesu: ") for line in lines if "what Snakemake said is in" not in line]


# --- names, options, places ------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["lint", "plan", "status", "run", "resume", "rescore", "report"])
def test_an_unknown_eval_names_the_nearest(command: str, shapes: ShapesProject, call: Caller) -> None:
    line = one_line(call(shapes, command, "replayd"), 2)
    assert line == "no eval named 'replayd'; did you mean replayed?"


def test_an_unknown_eval_unlike_any_names_those_that_exist(shapes: ShapesProject, call: Caller) -> None:
    line = one_line(call(shapes, "plan", "zzz"), 2)
    assert line == f"no eval named 'zzz'; known: replayed, {NAME}"


def test_an_ambiguous_tail_names_every_eval_it_could_be(shapes: ShapesProject, call: Caller) -> None:
    shutil.copytree(shapes.path("cases/shape-drawing"), shapes.path("cases/other"))
    line = one_line(call(shapes, "plan", "replayed"), 2)
    assert "replayed" in line
    assert "other/prompt-wording/replayed" in line
    assert NAME in line
    assert one_line(call(shapes, "plan", "nope"), 2).count(" replayed,") <= 1
    assert call(shapes, "plan", NAME).code == 0


@pytest.mark.parametrize("name", ["replayed", "prompt-wording/replayed", NAME, f"{NAME}/", f"/{NAME}"])
def test_any_unambiguous_tail_names_an_eval(name: str, shapes: ShapesProject, call: Caller) -> None:
    assert call(shapes, "lint", name).code == 0


@pytest.mark.parametrize("name", ["", "/", "//", ".", ".."])
def test_a_name_that_is_none_is_refused(name: str, shapes: ShapesProject, call: Caller) -> None:
    assert one_line(call(shapes, "plan", name), 2).startswith(f"no eval named '{name}'; known: ")


@pytest.mark.parametrize("command", ["lint", "plan", "status", "run", "resume", "rescore"])
def test_outside_a_project(command: str, tmp_path: Path, call: Caller) -> None:
    line = one_line(call(tmp_path, command), 2)
    assert line == f"{tmp_path}: no folder here or above holds cases/; change into a project, or `tamesu new case NAME`"


def test_a_subfolder_belongs_to_its_project(shapes: ShapesProject, call: Caller) -> None:
    assert call(shapes.eval, "lint") == Done(0, "1 eval(s): no errors\n", "")


@pytest.mark.parametrize("command", ["plan", "status", "run"])
def test_a_project_without_evals_says_so(command: str, tmp_path: Path, call: Caller) -> None:
    (tmp_path / "cases").mkdir()
    done = call(tmp_path, command)
    assert "Traceback" not in done.out + done.err
    assert "no eval" in done.out + done.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--frobnicate",), "No such option '--frobnicate'"),
        (("plan", "--nope"), "No such option '--nope'"),
        (("nonsense",), "No such command 'nonsense'"),
        (("report",), "Missing argument 'NAME'"),
        (("where", "moon"), "'moon' is not one of"),
        (("run", "--pay-usd", "much"), "'much' is not a valid"),
        (("plan", "replayed", "another"), "unexpected extra argument (another)"),
    ],
)
def test_misuse_ends_in_usage_and_one_reason(
    arguments: tuple[str, ...], says: str, shapes: ShapesProject, call: Caller
) -> None:
    done = call(shapes, *arguments)
    assert (done.code, done.out) == (2, "")
    reasons = [line for line in done.err.splitlines() if line.startswith("Error: ")]
    assert len(reasons) == 1
    assert says in reasons[0]


@pytest.mark.parametrize("amount", ["-1", "nan", "inf", "-inf"])
def test_a_ceiling_that_is_no_amount_is_misuse(amount: str, paid_shapes: ShapesProject, call: Caller) -> None:
    done = call(paid_shapes, "run", "--pay-usd", amount)
    assert done.code == 2
    assert "--pay-usd" in done.err or "pay_usd" in done.err
    assert "Traceback" not in done.err
    assert paid_shapes.ledger() == []


def test_a_ceiling_below_the_exposure_is_a_refusal(paid_shapes: ShapesProject, call: Caller) -> None:
    line = one_line(call(paid_shapes, "run", "--pay-usd", "0"), 2)
    assert "USD are owed, above --pay-usd 0.0000" in line
    assert paid_shapes.calls() == []
    assert paid_shapes.spent() == 0


@pytest.mark.parametrize("status", ["draft", "complete"])
@pytest.mark.parametrize("command", ["run", "resume"])
def test_only_an_active_eval_may_run(command: str, status: str, shapes: ShapesProject, call: Caller) -> None:
    shapes.edit_eval("status: active", f"status: {status}")
    line = one_line(call(shapes, command, "replayed"), 2)
    name = "shape-drawing/prompt-wording/replayed"
    hint = f"; `tamesu activate {name}` when it is ready" if status == "draft" else ""
    assert line == f"{EVAL.as_posix()}/eval.yml: status is '{status}'; only 'active' may run{hint}"
    assert shapes.calls() == []
    assert not (shapes.eval / "runs").exists()
    assert not (shapes.eval / "ledger.jsonl").exists()


@pytest.mark.parametrize("folder", ["cases", "cases/shape-drawing/experiments"])
def test_snakemake_in_a_subfolder_names_the_project(folder: str, shapes: ShapesProject) -> None:
    snakefile = shapes.root / "Snakefile"
    done = shapes.snakemake("-n", "--snakefile", str(snakefile), "--directory", str(shapes.path(folder)))
    assert "Traceback" not in done.out + done.err
    assert done.code == 1
    own = [line for line in done.err.splitlines() if line.startswith("tamesu: ")]
    assert own == [f"tamesu: {shapes.path(folder)}: is inside a project; run snakemake in {shapes.root}"]
    assert not shapes.path(folder).joinpath(".tamesu").exists()


# --- manifests and files ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (lambda p: p.edit_eval("scenes-v1", "scenes-v2"), "path/missing"),
        (lambda p: p.manifest.write_text("name: [\n"), "yaml/syntax"),
        (lambda p: p.manifest.write_text(""), "schema/type"),
        (lambda p: p.manifest.write_bytes(b"\xff\xfe\x00\x01"), "yaml/encoding"),
        (lambda p: p.path("cases/shape-drawing/case.yml").unlink(), "file/unreadable"),
    ],
    ids=["missing-file", "malformed", "empty", "binary", "no-case-file"],
)
def test_a_manifest_with_errors_blocks_every_command(
    edit: Callable[[ShapesProject], object], says: str, shapes: ShapesProject, call: Caller
) -> None:
    edit(shapes)
    for command in ("plan", "run", "resume", "rescore"):
        assert says in one_line(call(shapes, command), 1)
    told = call(shapes, "status")
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith(f"{NAME}: invalid: ")
    assert says in told.out
    assert call(shapes, "status", "--check").code == 1
    assert not (shapes.eval / "runs").exists()


def test_a_broken_eval_does_not_hide_the_others(shapes: ShapesProject, call: Caller) -> None:
    other = shapes.eval.parent / "broken"
    other.mkdir()
    (other / "eval.yml").write_text("name: broken\n")
    told = call(shapes, "status")
    assert told.code == 0
    assert f"{NAME}: ready; 0/8 runs banked" in told.out
    assert "prompt-wording/broken: invalid: " in told.out


@pytest.mark.parametrize("command", READING)
@pytest.mark.parametrize("name", ["ledger.jsonl", "runs/{run}/run.yml", "runs/{run}/attempts/01.yml"])
def test_a_folder_in_the_place_of_evidence(name: str, command: str, banked_shapes: ShapesProject, call: Caller) -> None:
    path = banked_shapes.eval / name.format(run=first_run(banked_shapes).name)
    path.unlink()
    path.mkdir()
    before = evidence(banked_shapes)
    done = call(banked_shapes, command)
    assert "Traceback" not in done.out + done.err
    if command != "lint":
        assert path.relative_to(banked_shapes.root).as_posix() in done.out + done.err
    assert evidence(banked_shapes) == before


@pytest.mark.parametrize("blocked", ["build", f"{EVAL.as_posix()}/tables"])
def test_views_that_cannot_be_written_fail_the_run(blocked: str, banked_shapes: ShapesProject) -> None:
    """A file in the place of a folder: the views are missing, so the end must not look like success."""
    shutil.rmtree(banked_shapes.path(blocked))
    banked_shapes.path(blocked).write_text("in the way\n")
    before = evidence(banked_shapes)
    done = banked_shapes.tamesu("run")
    assert done.code != 0
    assert errors(done)
    assert any(blocked in line for line in errors(done))
    assert evidence(banked_shapes) == before


def test_a_file_in_the_place_of_the_runs_is_named(shapes: ShapesProject) -> None:
    (shapes.eval / "runs").write_text("in the way\n")
    done = shapes.tamesu("run")
    assert done.code in {1, 2}
    assert any(f"{EVAL.as_posix()}/runs" in line for line in errors(done))
    assert shapes.calls() == []


def test_a_file_in_the_place_of_the_state_folder_is_named(banked_shapes: ShapesProject, call: Caller) -> None:
    shutil.rmtree(banked_shapes.root / ".tamesu")
    (banked_shapes.root / ".tamesu").write_text("in the way\n")
    before = evidence(banked_shapes)
    assert call(banked_shapes, "status").out == AWAITING
    line = one_line(call(banked_shapes, "run"), 2)
    assert f"{banked_shapes.root}/.tamesu" in line
    assert evidence(banked_shapes) == before


# --- tasks that do not work ------------------------------------------------------------------------------


def fails(project: ShapesProject, reason: str) -> Done:
    """Run; the end must be 1, with the reason in one line and the run named as not banked."""
    done = project.tamesu("run")
    assert "Traceback" not in done.out + done.err
    assert done.code == 1, done.out + done.err
    assert sum(reason in line for line in (done.out + done.err).splitlines()) >= 1, done.out + done.err
    assert "not banked: sketcher-small x terse rep 1: " in done.out
    errors(done)
    assert project.calls() == []
    return done


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        pytest.param(
            "@task\n",
            'raise RuntimeError("boom at import")\n\n\n@task\n',
            "RuntimeError: boom at import",
            marks=pytest.mark.long,
        ),
        ("import json\n", "import json\nimport not_there_at_all\n", "No module named 'not_there_at_all'"),
        pytest.param("@task\n", 'raise SystemExit("leaving")\n\n\n@task\n', "SystemExit", marks=pytest.mark.long),
        pytest.param(
            "@task\ndef draw_scene",
            "globals()\n\n\n@task\ndef draw_other",
            "task.py: holds no task 'draw_scene'; did you mean draw_other",
            marks=pytest.mark.long,
        ),
        (
            SOLVER,
            f"{SOLVER}, model='mockllm/model', config=__import__('inspect_ai').model.GenerateConfig(seed=1), "
            "epochs=3, time_limit=9, token_limit=9",
            "task.py: the task sets time_limit, token_limit, model, config, epochs, which eval.yml owns",
        ),
    ],
    ids=["import-raises", "import-missing", "import-exits", "no-function", "own-settings"],
)
def test_a_task_that_cannot_start(old: str, new: str, reason: str, one_run: ShapesProject) -> None:
    one_run.edit(TASK, old, new)
    fails(one_run, reason)


def test_task_args_that_do_not_fit(one_run: ShapesProject) -> None:
    one_run.edit_eval("  task: draw_scene\n", "  task: draw_scene\n  task_args: {nonesuch: 1}\n")
    fails(one_run, "unexpected keyword argument 'nonesuch'")


def test_a_task_without_scorers_names_what_is_missing(one_run: ShapesProject) -> None:
    one_run.edit(TASK, "        scorer=[valid_program(), scene_coverage()],\n", "")
    done = one_run.tamesu("run")
    assert done.code == 1
    errors(done)
    assert "MissingScore" in done.out + done.err
    assert "valid_program" in done.out + done.err


def test_a_solver_that_raises_is_told(one_run: ShapesProject) -> None:
    one_run.edit(TASK, SOLVER, "solver=[broken()]")
    broken = (
        "from inspect_ai.solver import solver\n\n\n@solver\ndef broken():\n"
        '    async def solve(state, generate):\n        raise ValueError("solver broke")\n\n    return solve\n\n\n'
    )
    one_run.edit(TASK, "@task\n", f"{broken}@task\n")
    done = fails(one_run, "ValueError: solver broke")
    assert "attempt 1 finished, 1/1 items" not in done.out  # nothing of it was finished


@pytest.mark.parametrize(
    ("content", "line"),
    [('{"item": "red-sun", "turns": []}\n', 1), ('{"tamesu_recording": 1, "label": "x"}\n{"item": 1}\n', 2)],
    ids=["no-header", "bad-line"],
)
def test_recordings_that_do_not_read(content: str, line: int, one_run: ShapesProject, call: Caller) -> None:
    one_run.path(ANSWERS).write_text(content)
    done = call(one_run, "run")
    assert done.code == 1
    told = errors(done)
    assert len(told) == 1
    assert f"answers.jsonl:{line}" in told[0]
    assert one_run.calls() == []
