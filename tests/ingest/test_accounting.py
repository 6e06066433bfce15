"""What did not finish stays in every denominator, and one record stays one record, whatever it says."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log

from tests.ingest.lab import (
    TASK,
    asked,
    failing,
    lab,
    log_path,
    result,
    run_yml,
    the_run,
    turn,
    work_off,
)
from tests.projects import ShapesProject


def table(project: ShapesProject, name: str) -> list[dict[str, str]]:
    text = (project.eval / "tables" / name).read_bytes().decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def ten(right: int, wrong: int) -> dict[str, dict[str, object]]:
    replies = [turn("C")] * right + [turn("I")] * wrong
    replies += [failing()] * (10 - len(replies))
    return {f"item-{number}": reply for number, reply in enumerate(replies)}


class TestFailuresCount:
    """C01: items that error must not raise a score."""

    def test_six_right_two_wrong_two_failing(self, tmp_path: Path) -> None:
        changes = {"defaults": {"max_attempts": 1, "tolerate_failed": 0.2}}
        project = lab(tmp_path / "lab", ten(6, 2), changes=changes)
        done = project.tamesu("run")
        assert done.code == 0, done.out + done.err
        record = run_yml(project)
        assert (record["state"], record["planned"], record["complete"], record["failed"]) == ("complete", 10, 8, 2)
        leaderboard = (project.eval / "leaderboard.md").read_text()
        (row,) = [line for line in leaderboard.splitlines() if line.startswith("| replay/echo ")]
        assert row.startswith("| replay/echo | plain | 10 | 8 | 2 | 0 | 0.600 ")
        assert "| 0.750 " in row
        assert row.index("(n=10)") < row.index("| 0.750 ") < row.index("(n=8)")
        assert "0.600" in (project.eval / "evaluation-report.md").read_text()
        assert "0.600" in done.out
        rows = table(project, "items.csv")
        assert len(rows) == 10
        assert sum(row["state"] == "failed" for row in rows) == 2

    def test_all_failing_is_no_score_and_never_complete(self, tmp_path: Path) -> None:
        changes = {"defaults": {"max_attempts": 1, "tolerate_failed": 1.0}}
        project = lab(tmp_path / "lab", ten(0, 0), changes=changes)
        done = project.tamesu("run")
        assert done.code == 1, done.out + done.err
        record = run_yml(project)
        assert (record["state"], record["complete"], record["failed"]) == ("failed", 0, 10)
        assert project.states() == {"failed": 1}
        assert "0/10 complete, 10 failed" in done.out + done.err
        assert read_eval_log(str(log_path(project)), header_only=True).status == "success"

    @pytest.mark.parametrize(("tolerated", "state"), [(0, "failed"), (0.33, "failed"), (0.34, "banked")])
    def test_a_tolerated_failure_banks_the_run(self, tmp_path: Path, tolerated: float, state: str) -> None:
        items = {"a": turn("C"), "b": turn("C"), "c": failing()}
        changes = {"defaults": {"max_attempts": 1, "tolerate_failed": tolerated}}
        project = lab(tmp_path / "lab", items, changes=changes)
        assert work_off(project).error is None
        assert project.states() == {state: 1}
        assert run_yml(project)["state"] == ("complete" if state == "banked" else "failed")
        assert work_off(project).told == ""
        assert sorted(asked(project)) == ["a", "b", "c"]

    def test_a_policy_changed_later_banks_and_unbanks_for_nothing(self, tmp_path: Path) -> None:
        items = {"a": turn("C"), "b": turn("C"), "c": failing()}
        project = lab(tmp_path / "lab", items, changes={"defaults": {"max_attempts": 1, "tolerate_failed": 0.34}})
        assert work_off(project).error is None
        project.edit_eval("tolerate_failed: 0.34", "tolerate_failed: 0")
        plan = project.plan()
        assert [run["state"] for run in plan["runs"]] == ["failed"]
        assert "tolerate_failed changed (was 0.34, now 0.0)" in plan["policy_changed"]
        assert work_off(project).told == ""
        project.edit_eval("tolerate_failed: 0\n", "tolerate_failed: 0.34\n")
        assert project.states() == {"banked": 1}
        assert sorted(asked(project)) == ["a", "b", "c"]


SAID = "one\u2028two\x85three\u2029four\x0bfive\x0csix\U0001f600"


class TestSeparators:
    """C40: a record is what stands between two LF, and nothing else ends it."""

    def test_one_record_stays_one_everywhere(self, tmp_path: Path) -> None:
        task = TASK.replace("Score(value=VALUES.get(text, text)", "Score(value=1.0")
        project = lab(
            tmp_path / "lab", {"odd": turn(SAID), "plain": turn("plain")}, task=task, inputs={"odd": SAID, "plain": "p"}
        )
        done = project.tamesu("run")
        assert done.code == 0, done.out + done.err
        run = the_run(project)
        lines = (run / "inspect" / "input.jsonl").read_bytes().split(b"\n")
        assert [json.loads(line)["id"] for line in lines[:-1]] == ["odd", "plain"]
        assert json.loads(lines[0])["input"][0]["content"] == SAID
        sample = next(s for s in read_eval_log(str(log_path(project))).samples or [] if s.id == "odd")
        assert [message.text for message in sample.messages] == [SAID, SAID]
        assert sample.output.completion == SAID
        assert result(project, "odd")["scores"]["rate"]["answer"] == SAID
        assert result(project, "odd")["scores"]["rate"]["explanation"] == f"said {SAID}"
        (call_log,) = (project.eval / "logs").glob("*.jsonl")
        events = [json.loads(line) for line in call_log.read_bytes().split(b"\n")[:-1]]
        assert [event["item"] for event in events if event["event"] == "item_finished"] == ["odd", "plain"]
        rows = table(project, "items.csv")
        assert [row["item"] for row in rows] == ["odd", "plain"]
        assert (project.eval / "tables" / "items.csv").read_bytes().count(b"\n") == 3
        assert project.states() == {"banked": 1}

    def test_a_lone_surrogate_from_a_scorer_is_replaced_and_harms_nothing_else(self, tmp_path: Path) -> None:
        task = TASK.replace('explanation=f"said {text}"', 'explanation="half \\ud83d" if text == "C" else text')
        project = lab(tmp_path / "lab", {"odd": turn("C"), "plain": turn()}, task=task)
        assert work_off(project).error is None
        assert result(project, "plain")["state"] == "complete"
        found = result(project, "odd")
        assert found["state"] == "complete"
        assert found["scores"]["rate"]["value"] == 1.0
        assert found["scores"]["rate"]["explanation"].startswith("half ")

    def test_a_lone_surrogate_in_a_dataset_is_refused_by_its_place(self, tmp_path: Path) -> None:
        project = lab(tmp_path / "lab", {"odd": turn()}, inputs={"odd": "half \ud83d"})
        done = project.tamesu("run")
        assert done.code != 0
        assert "items.jsonl:1" in done.err
        assert "Traceback" not in done.err
        assert asked(project) == []
