"""What the terminal says of an eval: the same warnings and counts as the files, whichever command is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.calling import Caller
from tests.judged import review, reviewable
from tests.judging import recorded
from tests.projects import ShapesProject

CHANGED = "policy changed after the evidence existed (was, now): pass_at/scene_coverage changed"


def test_figures_under_another_policy_say_so_on_the_terminal(banked_shapes: ShapesProject, call: Caller) -> None:
    (before,) = json.loads(call(banked_shapes, "leaderboard", "--json").out)
    assert before["policy_changed"] is None
    banked_shapes.edit_eval("scene_coverage: {pass_at: 0.8}", "scene_coverage: {pass_at: 0.5}")
    assert CHANGED in call(banked_shapes, "leaderboard").out
    (after,) = json.loads(call(banked_shapes, "leaderboard", "--json").out)
    assert after["policy_changed"].startswith(CHANGED)
    assert CHANGED in call(banked_shapes, "run").out


def test_disagreements_are_never_called_reviews(banked_shapes: ShapesProject, call: Caller) -> None:
    outputs = len(reviewable(banked_shapes))
    assert f"\n  {outputs} reviews owed; `tamesu review status" in call(banked_shapes, "status").out
    review(banked_shapes, "ada")
    review(banked_shapes, "bob", lambda _: False)
    status, board = call(banked_shapes, "status").out, call(banked_shapes, "leaderboard").out
    assert f"\n  {outputs} disagreements to decide; `tamesu review status" in status
    assert f"No leader is named: {outputs} disagreements to decide." in board
    assert f"- {outputs} disagreements to decide: nothing that needs people's verdicts is known." in board
    assert f"0 owed (0 reviews), {outputs} disagreements" in call(banked_shapes, "review", "status").out
    assert "reviews owed" not in status + board


def test_status_says_why_a_closing_no_longer_counts(banked_shapes: ShapesProject, call: Caller) -> None:
    review(banked_shapes, "ada")
    assert call(banked_shapes, "close", "replayed").code == 0
    assert "closing" not in call(banked_shapes, "status").out
    review(banked_shapes, "ada", lambda _: False, time="2026-04-01T10:00:00.000+00:00")
    assert "\n  evidence or policy changed after this eval was closed on " in call(banked_shapes, "status").out


def test_an_eval_completed_by_hand_is_told_from_a_closed_one(banked_shapes: ShapesProject, call: Caller) -> None:
    review(banked_shapes, "ada")
    banked_shapes.edit_eval("status: active", "status: complete")
    said = "its status is complete and closing.yml records no closing; close it"
    assert said in call(banked_shapes, "status").out
    assert f"Warning: {said}" in call(banked_shapes, "leaderboard").out
    assert call(banked_shapes, "close", "replayed").code == 0
    assert said not in call(banked_shapes, "status").out


def test_judges_of_closed_evals_are_told_from_judges_that_are_missing(tmp_path: Path, call: Caller) -> None:
    project = recorded(tmp_path / "p")
    project.edit_eval("status: active", "status: complete")
    told = call(project, "judge")
    assert told.code == 2
    assert told.err.endswith("no active eval here declares a judge; activate one that was left out\n")


@pytest.mark.parametrize("left", [None, "settled"], ids=["deleted", "cut"])
def test_a_ledger_that_knows_of_less_than_runs_cost_is_told_wherever_money_is(
    left: str | None, banked_paid_shapes: ShapesProject, call: Caller
) -> None:
    ledger = banked_paid_shapes.eval / "ledger.jsonl"
    lines = ledger.read_text().splitlines(keepends=True)
    kept = [line for line in lines[:-1] if left is not None]
    ledger.write_text("".join(kept)) if kept else ledger.unlink()
    problem = "but ledger.jsonl knows of"
    assert problem in call(banked_paid_shapes, "status").out
    assert problem in call(banked_paid_shapes, "plan").out
    assert call(banked_paid_shapes, "report", "replayed").code == 0
    for view in ("evaluation-report.md", "leaderboard.md"):
        assert problem in (banked_paid_shapes.eval / view).read_text()
