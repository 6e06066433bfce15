"""What the commands print and leave behind when all goes well."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from tamesu.cli.main import cli
from tests.cli.calling import Caller
from tests.projects import EVAL, ShapesProject

NAME = "shape-drawing/prompt-wording/replayed"
CONTEXT = click.Context(cli)
COMMANDS = {name: cli.get_command(CONTEXT, name) for name in cli.list_commands(CONTEXT)}
PLUMBING = {"freeze", "execute", "ingest", "metrics", "complete"}
MAIN_PATH = {"run", "resume", "rescore", "status", "plan", "lint", "report", "where"}
VIEWS = ("evaluation-report.md", "leaderboard.md", "tables/items.csv")
PAGE = "build/shape-drawing/prompt-wording/replayed.html"
REVIEW = "  human_review:\n    rubric: ../../rubrics/drawing.yml\n"
PLAN_KEYS = {
    "eval",
    "exposure_usd",
    "spent_usd",
    "reserved_usd",
    "budget_usd",
    "blockers",
    "policy_changed",
    "runs",
    "found",
}
RUN_KEYS = {
    "run_id",
    "provider",
    "model",
    "arm",
    "repetition",
    "state",
    "planned",
    "complete",
    "failed",
    "pending",
    "exposure_usd",
    "problem",
    "holder",
}


def snakemake_logs(project: ShapesProject) -> set[Path]:
    return set((project.root / ".snakemake" / "log").glob("*"))


def listed(help_text: str) -> dict[str, str]:
    """Return the commands of the main help, with what each is said to do."""
    lines = help_text.partition("Commands:\n")[2].splitlines()
    return {line.split()[0]: " ".join(line.split()[1:]) for line in lines if re.match(r"  \S", line)}


@pytest.mark.parametrize("columns", [80, 160])
def test_help_lists_the_public_commands_only(columns: int, tmp_path: Path, call: Caller) -> None:
    done = call(tmp_path, "--help", columns=columns)
    assert (done.code, done.err) == (0, "")
    commands = listed(done.out)
    assert set(commands) == {name for name, command in COMMANDS.items() if command is not None and not command.hidden}
    assert set(commands) >= MAIN_PATH
    assert not set(commands) & PLUMBING
    assert all(commands.values())


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_explains_itself(name: str, tmp_path: Path, call: Caller) -> None:
    done = call(tmp_path, name, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: tamesu {name} ")
    assert len(done.out.splitlines()[2].strip()) > 20


def test_plumbing_is_there_for_the_rules() -> None:
    assert {name for name, command in COMMANDS.items() if command is not None and command.hidden} >= PLUMBING


def test_the_module_is_the_command(shapes: ShapesProject) -> None:
    module = shapes.tamesu("--version")
    assert re.fullmatch(r"tamesu, version \d+\.\d+\.\d+\S*\n", module.out)
    assert (module.code, module.err) == (0, "")
    assert shapes.tamesu("lint").out == "1 eval(s): no errors\n"


@pytest.mark.parametrize(("what", "holds"), [("snakefile", ""), ("profile", "config.yaml")])
def test_where_prints_what_exists(what: str, holds: str, tmp_path: Path, call: Caller) -> None:
    done = call(tmp_path, "where", what)
    path = Path(done.out.rstrip("\n"))
    assert (done.code, done.out.count("\n")) == (0, 1)
    assert path.is_absolute()
    assert (path / holds).is_file()


# --- standing --------------------------------------------------------------------------------------------


def no_review(project: ShapesProject) -> None:
    project.edit_eval(REVIEW, "")
    project.edit_eval("requires: [mechanical, human]", "requires: [mechanical]")
    project.edit_eval("    human: {required_reviews_per_item: 1, on_disagreement: adjudicate}\n", "")


def closed(project: ShapesProject) -> None:
    no_review(project)
    project.edit_eval("status: active", "status: complete")


def one_run_less(project: ShapesProject) -> None:
    shutil.rmtree(next((project.eval / "runs").glob("*--rep1--*")))


BANKED = [
    ("partial", "7/8", one_run_less),
    ("awaiting review", "8/8", lambda project: None),
    ("evidence complete", "8/8", no_review),
    ("closed", "8/8", closed),
    ("invalid", "", lambda project: project.edit_eval("name: replayed", "name: other")),
]


@pytest.mark.parametrize("columns", [80, 160])
@pytest.mark.parametrize(("word", "banked", "edit"), BANKED, ids=[word for word, _, _ in BANKED])
def test_where_an_eval_with_evidence_stands(
    word: str,
    banked: str,
    edit: Callable[[ShapesProject], object],
    columns: int,
    banked_shapes: ShapesProject,
    call: Caller,
) -> None:
    edit(banked_shapes)
    done = call(banked_shapes, "status", columns=columns)
    assert (done.code, done.err) == (0, "")
    first = f"{NAME}: {word}; {banked} runs banked" if banked else f"{NAME}: {word}: "
    assert done.out.startswith(first)
    view = json.loads(call(banked_shapes, "status", "--json").out)[0]
    assert view["standing"] == word
    assert call(banked_shapes, "status", "--check").code == (0 if banked == "8/8" else 1)


@pytest.mark.parametrize(("status", "word"), [("draft", "draft"), ("active", "ready")])
def test_where_an_eval_without_evidence_stands(status: str, word: str, shapes: ShapesProject, call: Caller) -> None:
    shapes.edit_eval("status: active", f"status: {status}")
    done = call(shapes, "status", columns=80)
    assert done.code == 0
    assert done.out.startswith(f"{NAME}: {word}; 0/8 runs banked\n")
    assert done.out.count(": owed, 0/3 complete, 0 failed") == 8
    assert ("blocked: " in done.out) == (status == "draft")


def test_a_changed_policy_is_shown_with_what_it_was(banked_shapes: ShapesProject, call: Caller) -> None:
    banked_shapes.edit_eval("scene_coverage: {pass_at: 0.8}", "scene_coverage: {pass_at: 0.9}")
    told = call(banked_shapes, "status").out
    assert "8/8 runs banked" in told
    changed = next(
        line for line in told.splitlines() if line.startswith("policy changed after the evidence existed (was, now): ")
    )
    assert "0.8" in changed
    assert "0.9" in changed


# --- plan ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [80, 160])
def test_a_plan_cuts_no_word(columns: int, paid_shapes: ShapesProject, call: Caller) -> None:
    done = call(paid_shapes, "plan", columns=columns)
    assert (done.code, done.err) == (0, "")
    assert "…" not in done.out.partition("first item of")[0]
    for word in ("model", "arm", "rep", "state", "items", "pending", "up to USD"):
        assert word in done.out
    assert done.out.count(" owed ") == 8
    assert done.out.count(" worked-example ") == 4
    assert done.out.count(" sketcher-small ") == 4
    table = done.out.partition("exposure up to")[0].splitlines()[3:]
    assert max(map(len, table)) <= columns
    assert re.search(
        r"^exposure up to \d+\.\d{4} USD, spent 0\.0000, reserved 0\.0000, budget 20\.0000$", done.out, re.M
    )


@pytest.mark.parametrize("command", ["plan", "status"])
def test_json_carries_the_plan(command: str, paid_shapes: ShapesProject, call: Caller) -> None:
    done = call(paid_shapes, command, "--json")
    assert (done.code, done.err) == (0, "")
    (view,) = json.loads(done.out)
    assert set(view) >= PLAN_KEYS
    assert view["eval"] == NAME
    assert (view["spent_usd"], view["reserved_usd"], view["budget_usd"]) == (0, 0, 20)
    assert view["blockers"] == []
    assert len(view["runs"]) == 8
    for run in view["runs"]:
        assert set(run) >= RUN_KEYS
        assert (run["state"], run["planned"], run["complete"], run["pending"]) == ("owed", 3, 0, 3)
    assert view["exposure_usd"] == pytest.approx(sum(run["exposure_usd"] for run in view["runs"]))
    assert view["exposure_usd"] > 0


def test_json_names_what_is_invalid(shapes: ShapesProject, call: Caller) -> None:
    shapes.edit_eval("name: replayed", "name: other")
    done = call(shapes, "status", "--json")
    (view,) = json.loads(done.out)
    assert (view["eval"], view["standing"]) == (NAME, "invalid")
    assert "name/folder" in view["problem"]


def test_a_plan_names_runs_that_went_stale(banked_shapes: ShapesProject, call: Caller) -> None:
    banked_shapes.edit_eval("temperature: 0.7", "temperature: 0.8")
    planned = call(banked_shapes, "plan", columns=80).out
    assert planned.count(" owed ") == 8
    stale = [line for line in planned.splitlines() if line.startswith("stale: ")]
    assert len(stale) == 1
    assert "8 run(s)" in stale[0]
    assert "temperature" in stale[0]
    (view,) = json.loads(call(banked_shapes, "plan", "--json").out)
    assert {found["kind"] for found in view["found"]} == {"stale"}


# --- run -------------------------------------------------------------------------------------------------


def test_a_first_run_tells_each_run_then_the_table_then_the_files(one_run: ShapesProject) -> None:
    one_run.edit_eval("repetitions: 1", "repetitions: 2")
    done = one_run.tamesu("run")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[:4] == [
        "sketcher-small x terse rep 1: attempt 1 asks 1 item",
        "sketcher-small x terse rep 1: attempt 1 finished, 1/1 items good (recorded)",
        "sketcher-small x terse rep 2: attempt 1 asks 1 item",
        "sketcher-small x terse rep 2: attempt 1 finished, 1/1 items good (recorded)",
    ]
    assert lines[4].rstrip() == f"{NAME}: awaiting review"
    assert re.search(r"^\W*sketcher-small\W+terse\W+2/2\W", done.out, re.MULTILINE)
    recorded = next(number for number, line in enumerate(lines) if line.startswith("Recorded answers: "))
    assert lines[recorded + 1] == f"2 reviews owed; `tamesu review status {NAME}` says of whom"
    paths = [line.strip() for line in lines[recorded + 2 : -1]]
    assert lines[-1] == "next: `tamesu show shape-drawing`"
    assert paths == [f"{EVAL.as_posix()}/{view}" for view in VIEWS] + [PAGE]
    assert all(one_run.path(path).is_file() for path in paths)
    assert len(one_run.calls()) == 2


@pytest.mark.parametrize("columns", [80, 160])
def test_a_second_run_starts_nothing(columns: int, banked_shapes: ShapesProject, call: Caller) -> None:
    calls, logs, runs = len(banked_shapes.calls()), snakemake_logs(banked_shapes), banked_shapes.run_ids()
    ledger = (banked_shapes.eval / "ledger.jsonl").read_bytes()
    done = call(banked_shapes, "run", columns=columns)
    assert (done.code, done.err) == (0, "")
    assert "attempt" not in done.out
    assert len(banked_shapes.calls()) == calls
    assert banked_shapes.run_ids() == runs
    assert snakemake_logs(banked_shapes) == logs
    assert (banked_shapes.eval / "ledger.jsonl").read_bytes() == ledger


@pytest.mark.parametrize("columns", [80, 160])
def test_the_table_of_a_run_cuts_nothing_off(columns: int, banked_shapes: ShapesProject, call: Caller) -> None:
    done = call(banked_shapes, "run", columns=columns)
    table, _, _ = done.out.partition("No leader is named")
    assert table.startswith(f"{NAME}: awaiting review")
    assert "…" not in done.out.partition("first item of")[0]
    assert max(map(len, table.splitlines())) <= columns
    words = re.split(r"[\s│┃]+", table)
    assert (words.count("6/6"), words.count("owed")) == (4, 4)
    assert {"sketcher-small", "sketcher-large", "terse", "worked-example", "complete", "render_rate"} <= set(words)
    for head, tail in (("mechanical_pass_", "rate"), ("accepted_", "rate")):  # a long name breaks at its own joints
        assert head + tail in words or {head, tail} <= set(words)


def test_recorded_answers_are_labelled_everywhere(banked_shapes: ShapesProject, call: Caller) -> None:
    told = call(banked_shapes, "run").out
    label = "Recorded answers: these figures describe replayed recordings, not live models"
    assert label in told.splitlines()
    for view in (
        banked_shapes.eval / "leaderboard.md",
        banked_shapes.eval / "evaluation-report.md",
        banked_shapes.path(PAGE),
    ):
        assert label in view.read_text(), view.name
    assert all(banked_shapes.record(name)["execution"]["recorded"] is True for name in banked_shapes.run_ids())


def test_a_report_is_made_again_on_request(banked_shapes: ShapesProject, call: Caller) -> None:
    report = banked_shapes.eval / "evaluation-report.md"
    before = report.read_bytes()
    report.unlink()
    done = call(banked_shapes, "report", "replayed")
    assert (done.code, done.err) == (0, "")
    assert done.out == f"report: {EVAL.as_posix()}/evaluation-report.md\n"
    assert report.read_bytes() == before
