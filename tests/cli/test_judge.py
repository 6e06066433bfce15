"""`tamesu judge` over recorded verdicts: what is owed is asked once, within its own budget, and nothing is lost."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.calling import Caller, evidence, one_line
from tests.judging import (
    CALL_USD,
    ITEMS,
    OUTPUTS,
    USAGE,
    JudgedProject,
    priced,
    recorded,
    recorded_judge,
    verdict,
    with_judges,
)
from tests.projects import EXPERIMENT
from tests.shared import banked


def standing(project: JudgedProject, call: Caller) -> dict[str, Any]:
    """Return what `plan --json` says of the only judge."""
    (judge,) = json.loads(call(project, "plan", "--json").out)[0]["judging"]["judges"]
    return judge


def counts(project: JudgedProject, call: Caller) -> tuple[int, int, int, int]:
    """Return how many verdicts count, are owed, would be asked for and are stale."""
    found = standing(project, call)
    return found["counted"], found["owed"], found["askable"], found["stale"]


class TestAsking:
    def test_what_is_owed_is_asked_once(self, tmp_path: Path, call: Caller) -> None:
        project = recorded(tmp_path / "p")
        before = evidence(project)
        assert counts(project, call) == (0, OUTPUTS, OUTPUTS, 0)
        done = call(project, "judge")
        assert (done.code, done.err) == (0, "")
        assert f"critic: {OUTPUTS} verdicts, {OUTPUTS} pass" in done.out
        assert counts(project, call) == (OUTPUTS, 0, 0, 0)
        records = project.records()
        assert len(records) == OUTPUTS and project.failures() == []
        again = call(project, "judge")
        assert again.code == 0 and "nothing owed" in again.out
        assert project.records() == records
        assert len([one for one in project.calls() if one.get("judge") == "critic"]) == OUTPUTS
        assert {name: sha for name, sha in evidence(project).items() if "/judgments/" not in name} == before

    def test_a_record_says_what_was_seen_and_that_it_was_replayed(self, tmp_path: Path, call: Caller) -> None:
        project = recorded(tmp_path / "p")
        call(project, "judge", "--limit", "1")
        (found,) = project.records()
        call_record = found["call"]
        assert (call_record["recorded"], call_record["provider"], call_record["cost_usd"]) == (True, "replay", 0.0)
        assert (found["number"], found["raw"]) == (1, verdict())
        run = project.eval / "runs" / found["run_id"]
        result = yaml.safe_load((run / "items" / found["item"] / "result.yml").read_text())
        assert found["seen"] == {"render": result["output"]["sha256"]}
        # the picture as it is shown is another file: without metadata, bounded in size
        assert call_record["shown"].keys() == {"render"}
        (path,) = (project.eval / "runs").glob("*/items/*/judgments/*.yml")
        assert path.name == f"critic--{found['rubric'][:8]}--0001.yml"

    def test_repetitions_are_verdicts_of_their_own(self, tmp_path: Path, call: Caller) -> None:
        turns = [{"text": verdict(passed), "usage": USAGE} for passed in (True, False, False)]
        lines = [{"item": item, "turns": turns} for item in ITEMS]
        project = recorded(tmp_path / "p", lines, repetitions=3)
        done = call(project, "judge")
        assert done.code == 0 and f"{3 * OUTPUTS} verdicts, {OUTPUTS} pass" in done.out
        numbers = Counter(one["number"] for one in project.records())
        assert numbers == {1: OUTPUTS, 2: OUTPUTS, 3: OUTPUTS}
        # the majority decides
        assert "| critic | screen | replay/critic-1 (recorded) | 22 | 22 | 0 | 0 |" in report(project, call)

    def test_recorded_verdicts_are_told_apart_by_what_is_judged(self, tmp_path: Path, call: Caller) -> None:
        large = {"judged": "sketcher-large"}
        lines: list[dict[str, Any]] = [{"item": item, "turns": [{"text": verdict(False)}]} for item in ITEMS]
        lines += [{"item": item, **large, "turns": [{"text": verdict()}]} for item in ITEMS]
        lines += [{"item": ITEMS[0], "judge": "critic", **large, "arm": "terse", "turns": [{"text": "?"}]}]
        project = recorded(tmp_path / "p", lines)
        assert call(project, "judge").code == 1
        by_model = Counter(
            (one["run_id"].split("--")[0], one["answers"]["objects"]["passed"]) for one in project.records()
        )
        assert by_model == {("sketcher-large", True): 10, ("sketcher-small", False): 10}
        assert {one["run_id"].split("--")[1] for one in project.failures()} == {"terse"}


def report(project: JudgedProject, call: Caller) -> str:
    assert call(project, "report", "replayed").code == 0
    return (project.eval / "evaluation-report.md").read_text()


FAULTY: Mapping[str, Mapping[str, Any]] = {
    "red-sun": {"text": verdict(), "stop_reason": "max_tokens"},
    "three-stripes": {"text": "It looks fine to me.", "usage": USAGE},
    "crossed-lines": {"error": "503 overloaded"},
}
FAULTS = {"red-sun": "Truncated", "three-stripes": "NotOneObject", "crossed-lines": "ProviderUnavailable"}


class TestFailures:
    def test_a_reply_that_is_no_verdict_is_kept_apart_and_never_counted(self, tmp_path: Path, call: Caller) -> None:
        project = recorded(tmp_path / "p", [{"item": item, "turns": [turn]} for item, turn in FAULTY.items()])
        assert call(project, "judge").code == 1
        assert project.records() == []
        assert {(one["item"], one["fault"]["type"]) for one in project.failures()} == set(FAULTS.items())
        raw = {one["item"]: one["raw"] for one in project.failures()}
        assert raw == {"red-sun": verdict(), "three-stripes": "It looks fine to me.", "crossed-lines": None}
        table = report(project, call)
        assert "Truncated" in table and "NotOneObject" in table and "ProviderUnavailable" in table

    @pytest.mark.parametrize(
        ("turn", "fault"),
        [
            ({"text": "", "stop_reason": "stop"}, "Empty"),
            ({"text": verdict(), "stop_reason": "content_filter"}, "Filtered"),
            ({"text": verdict(), "stop_reason": "model_length"}, "Truncated"),
        ],
        ids=["empty", "filtered", "too long"],
    )
    def test_each_way_of_saying_nothing_has_its_name(
        self, tmp_path: Path, call: Caller, turn: dict[str, Any], fault: str
    ) -> None:
        project = recorded(tmp_path / "p", [{"item": item, "turns": [turn]} for item in ITEMS])
        assert call(project, "judge", "--limit", "1").code == 1
        assert [one["fault"]["type"] for one in project.failures()] == [fault]

    def test_only_what_may_pass_is_asked_again_up_to_a_bound(self, tmp_path: Path, call: Caller) -> None:
        project = recorded(tmp_path / "p", [{"item": item, "turns": [turn] * 5} for item, turn in FAULTY.items()])
        passing = sum(one["item"] == "crossed-lines" for one in asked(project, call))
        made = [len(asked(project, call)) for _ in range(3)]
        assert made == [passing, passing, 0], "max_attempts is 3"
        done = call(project, "judge")
        assert done.code == 1 and f"{OUTPUTS} of them final by failure (`--again` asks once more)" in done.out
        assert len(asked(project, call, "--again")) == OUTPUTS

    def test_asked_again_it_may_be_a_verdict(self, tmp_path: Path, call: Caller) -> None:
        turns = [{"text": "?"}, {"text": verdict()}]
        project = recorded(tmp_path / "p", [{"item": item, "turns": turns} for item in ITEMS])
        assert call(project, "judge").code == 1
        assert call(project, "judge", "--again").code == 0
        assert {one["number"] for one in project.failures()} == {1}
        assert {one["number"] for one in project.records()} == {2}, "numbers are never used twice"
        assert counts(project, call) == (OUTPUTS, 0, 0, 0)

    def test_what_is_not_recorded_is_told(self, tmp_path: Path, call: Caller) -> None:
        project = recorded(tmp_path / "p", [])
        assert call(project, "judge", "--limit", "2").code == 1
        assert {one["fault"]["type"] for one in project.failures()} == {"NotRecorded"}


def asked(project: JudgedProject, call: Caller, *arguments: str) -> list[dict[str, Any]]:
    """Return the failures that one more `tamesu judge` recorded."""
    before = project.failures()
    call(project, "judge", *arguments)
    return [one for one in project.failures() if one not in before]


class TestStaleness:
    def judged(self, target: Path, call: Caller) -> JudgedProject:
        project = recorded(target)
        assert call(project, "judge").code == 0
        return project

    def test_another_rubric_owes_new_verdicts_and_keeps_the_old(self, tmp_path: Path, call: Caller) -> None:
        project = self.judged(tmp_path / "p", call)
        project.edit(EXPERIMENT / "rubrics/drawing.yml", "Is every object", "Is really every object")
        assert counts(project, call) == (0, OUTPUTS, OUTPUTS, OUTPUTS)
        assert call(project, "judge").code == 0
        assert len(project.records()) == 2 * OUTPUTS
        assert counts(project, call) == (OUTPUTS, 0, 0, OUTPUTS)
        # the numbers of another rubric are a series of their own
        assert {one["number"] for one in project.records()} == {1}
        project.edit(EXPERIMENT / "rubrics/drawing.yml", "Is really every object", "Is every object")
        assert counts(project, call) == (OUTPUTS, 0, 0, OUTPUTS), "putting the old content back banks the old verdicts"

    def test_another_prompt_or_parameter_owes_new_verdicts(self, tmp_path: Path, call: Caller) -> None:
        project = self.judged(tmp_path / "p", call)
        project.path(EXPERIMENT / "prompts/judge.md").write_text("Judge {{ item.input.scene }} by {{ rubric.name }}.\n")
        with_judges(project, [recorded_judge(prompts={"user": "../../prompts/judge.md"})])
        assert counts(project, call) == (0, OUTPUTS, OUTPUTS, OUTPUTS)
        assert call(project, "judge").code == 0
        assert {one["number"] for one in project.records()} == {1, 2}
        with_judges(project, [recorded_judge(repetitions=2, prompts={"user": "../../prompts/judge.md"})])
        assert counts(project, call) == (OUTPUTS, OUTPUTS, OUTPUTS, OUTPUTS), "one more each, nothing twice"

    def test_an_output_that_is_not_what_its_result_says_is_not_judged(self, tmp_path: Path, call: Caller) -> None:
        project = recorded(tmp_path / "p")
        image = next((project.eval / "runs").glob("*/items/red-sun/artifacts/**/*.png"))
        image.write_bytes(image.read_bytes() + b"x")
        assert call(project, "judge").code == 0
        run = image.relative_to(project.eval / "runs").parts[0]
        assert run not in {one["run_id"] for one in project.records()}


class TestMoney:
    def paid(self, target: Path, **settings: float) -> JudgedProject:
        project = recorded(target)
        priced(project, **settings)
        return project

    def test_each_call_is_reserved_and_settled_in_a_ledger_of_its_own(self, tmp_path: Path, call: Caller) -> None:
        project = self.paid(tmp_path / "p")
        runs = (project.eval / "ledger.jsonl").read_bytes()
        assert call(project, "judge").code == 0
        assert project.judge_money() == (pytest.approx(OUTPUTS * CALL_USD), 0.0, 0)
        assert (project.eval / "ledger.jsonl").read_bytes() == runs
        events = Counter(one["event"] for one in project.judge_ledger())
        assert events == {"reserved": OUTPUTS, "settled": OUTPUTS}
        assert call(project, "judge").code == 0
        assert len(project.judge_ledger()) == 2 * OUTPUTS, "nothing is paid twice"
        assert f"{OUTPUTS * CALL_USD:.4f}" in report(project, call)

    def test_above_the_budget_nothing_starts(self, tmp_path: Path, call: Caller) -> None:
        project = self.paid(tmp_path / "p", budget=0.02)
        line = one_line(call(project, "judge"), 2)
        assert "of judge_budget_usd 0.0200, which is apart from budget_usd, 0.0200 USD are left" in line
        assert line.endswith("raise defaults.judge_budget_usd or ask fewer (--judge, --limit)")
        assert (project.records(), project.judge_ledger()) == ([], [])
        plan = json.loads(call(project, "plan", "--json").out)[0]["judging"]
        assert [blocker["kind"] for blocker in plan["blockers"]] == ["budget"]
        assert plan["judges"][0]["exposure_usd"] > 0.02
        # one call fits
        assert call(project, "judge", "--limit", "1").code == 1
        assert project.judge_money() == (pytest.approx(CALL_USD), 0.0, 0)

    def test_above_the_ceiling_nothing_starts(self, tmp_path: Path, call: Caller) -> None:
        project = self.paid(tmp_path / "p")
        assert "above pay_usd 0.0010" in one_line(call(project, "judge", "--pay-usd", "0.001"), 2)
        assert project.judge_ledger() == []
        assert "is no amount" in one_line(call(project, "judge", "--pay-usd", "nan"), 2)

    def test_a_reply_that_states_no_usage_is_charged_at_the_bound_and_told(self, tmp_path: Path, call: Caller) -> None:
        project = recorded(tmp_path / "p", [{"item": item, "turns": [{"text": verdict()}]} for item in ITEMS])
        priced(project)
        done = call(project, "judge", "--limit", "1")
        assert "are charged for what stated no usage" in done.out
        (found,) = project.records()
        bound = project.judge_ledger()[0]["usd"]
        assert (found["call"]["cost_usd"], found["call"]["lost_usd"]) == (None, pytest.approx(bound))
        assert project.judge_money() == (0.0, pytest.approx(bound), 0)

    def test_nothing_is_asked_at_an_unknown_price_or_without_a_bound(self, tmp_path: Path, call: Caller) -> None:
        project = self.paid(tmp_path / "p")
        project.edit_eval("max_tokens: 400", "temperature: 0.5")
        assert "nothing bounds what judge 'critic' (replay/critic-1) may cost" in one_line(call(project, "judge"), 2)
        assert standing(project, call)["exposure_usd"] is None

    def test_a_lost_ledger_is_not_spent_a_second_time(self, tmp_path: Path, call: Caller) -> None:
        project = self.paid(tmp_path / "p")
        assert call(project, "judge", "--limit", "3").code == 1
        (project.eval / "judge-ledger.jsonl").unlink()
        assert "judge-ledger.jsonl knows of 0.0000" in one_line(call(project, "judge"), 2)

    def test_what_a_death_left_reserved_is_settled_as_recorded_or_as_lost(self, tmp_path: Path, call: Caller) -> None:
        project = self.paid(tmp_path / "p")
        assert call(project, "judge", "--limit", "2").code == 1
        ledger = project.eval / "judge-ledger.jsonl"
        entries = project.judge_ledger()
        settled = [one for one in entries if one["event"] == "settled"]
        # as if killed after the record was written and before it was settled, with another call in flight
        flying = {**entries[0], "run_id": entries[0]["run_id"].replace("critic--", "other--"), "attempt": 7}
        kept = [one for one in entries if one != settled[0]] + [flying]
        ledger.write_text("".join(json.dumps(one) + "\n" for one in kept))
        assert call(project, "judge").code == 0
        assert project.judge_money() == (pytest.approx(OUTPUTS * CALL_USD), pytest.approx(flying["usd"]), 0)
        assert len(project.records()) == OUTPUTS


class TestRefusals:
    @pytest.mark.parametrize("status", ["draft", "complete"])
    def test_only_an_active_eval_judges(self, tmp_path: Path, call: Caller, status: str) -> None:
        project = recorded(tmp_path / "p")
        project.edit_eval("status: active", f"status: {status}")
        line = one_line(call(project, "judge", "replayed"), 2)
        assert f"status is '{status}'; only 'active' may judge" in line
        assert project.records() == []

    def test_a_judge_that_is_not_declared_is_named_with_those_that_are(self, tmp_path: Path, call: Caller) -> None:
        project = recorded(tmp_path / "p")
        assert one_line(call(project, "judge", "--judge", "critc"), 2).startswith(
            "no judge named 'critc'; did you mean"
        )

    def test_without_judges_there_is_nothing_to_ask(self, tmp_path: Path, call: Caller) -> None:
        project = JudgedProject(banked(tmp_path / "p").root)
        assert "declares no judge" in one_line(call(project, "judge", "replayed"), 2)
        assert "no active eval here declares a judge" in one_line(call(project, "judge"), 2)

    def test_a_dry_run_asks_nothing(self, tmp_path: Path, call: Caller) -> None:
        project = recorded(tmp_path / "p")
        done = call(project, "judge", "--dry-run")
        assert done.code == 0 and f"0/{OUTPUTS} verdicts, {OUTPUTS} owed; free" in done.out
        priced(project, budget=0.001)
        refused = call(project, "judge", "--dry-run", "--json")
        assert refused.code == 2
        assert json.loads(refused.out)[0]["refusal"].endswith("ask fewer (--judge, --limit)")
        assert project.records() == []

    def test_one_of_two_judges_may_be_asked_alone(self, tmp_path: Path, call: Caller) -> None:
        project = recorded(tmp_path / "p")
        with_judges(project, [recorded_judge(), recorded_judge(id="second")])
        assert call(project, "judge", "--judge", "second", "--json").code == 0
        assert {one["call"]["judge"] for one in project.records()} == {"second"}


def test_judging_runs_no_code_so_a_case_from_elsewhere_may_be_judged(tmp_path: Path, call: Caller) -> None:
    project = recorded(tmp_path / "p")
    project.path("cases/shape-drawing/.untrusted-origin").write_text(
        "content_digest: " + "a" * 64 + "\nsource: elsewhere\nunpacked_at: '2026-01-01T00:00:00Z'\n"
    )
    assert call(project, "judge").code == 0
