"""From real Inspect logs to item and run states: what a log may hold, and what it means."""

from __future__ import annotations

import json
import math
import os
import time
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log

from tests.ingest.lab import (
    ANSWER_COST,
    TASK,
    asked,
    attempt,
    failing,
    lab,
    log_path,
    result,
    run_yml,
    the_run,
    turn,
    work_off,
)
from tests.ingest.rewriting import renamed, rewrite_run, twice, without
from tests.projects import ShapesProject

NUMBERS = {
    "whole": 1.0,
    "fraction": 0.5,
    "yes as bool": 1.0,
    "no as bool": 0.0,
    "C": 1.0,
    "I": 0.0,
    "P": 0.5,
    "N": 0.0,
    "0.75": 0.75,
    "1e-3": 0.001,
    "-2": -2.0,
    "yes": 1.0,
    "False": 0.0,
}
NO_NUMBERS = ("nan", "infinite", "minus infinite", "list", "blurry", "", "NaN", "inf", "1.0.0", "dict")


def numbered(texts: Any) -> dict[str, str]:
    return {f"item-{number}": text for number, text in enumerate(texts)}


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> ShapesProject:
    """One run whose items score everything there is."""
    items = {name: turn(text) for name, text in numbered((*NUMBERS, *NO_NUMBERS)).items()}
    items |= {"scorer-raises": turn("raise"), "call-fails": failing("connection reset by peer")}
    items |= {
        "cut": turn("C", stop_reason="max_tokens"),
        "context-full": turn("C", stop_reason="model_length"),
        "filtered": turn("C", stop_reason="content_filter"),
        "blank": turn(" \n"),
    }
    project = lab(tmp_path_factory.mktemp("scored") / "lab", items, paid=True)
    assert work_off(project).error is None
    return project


class TestScores:
    @pytest.mark.parametrize(("number", "text"), list(enumerate(NUMBERS)))
    def test_what_inspect_converts_is_a_number(self, scored: ShapesProject, number: int, text: str) -> None:
        found = result(scored, f"item-{number}")
        assert (found["state"], found["retryable"], found["error"]) == ("complete", False, None)
        score = found["scores"]["rate"]
        assert score["value"] == NUMBERS[text]
        assert score["passed"] is (NUMBERS[text] >= 1.0)
        assert score["answer"] == text
        assert score["explanation"] == f"said {text}"

    @pytest.mark.parametrize(("number", "text"), list(enumerate(NO_NUMBERS)))
    def test_what_it_does_not_convert_is_a_missing_score(self, scored: ShapesProject, number: int, text: str) -> None:
        found = result(scored, f"item-{len(NUMBERS) + number}")
        assert (found["state"], found["retryable"]) == ("failed", False)
        assert found["error"]["type"] == "MissingScore"
        assert "rate" in found["error"]["message"]
        assert found["attempts"] == 1

    def test_raw_scores_are_kept_unchanged(self, scored: ShapesProject) -> None:
        names = {text: name for name, text in numbered((*NUMBERS, *NO_NUMBERS)).items()}

        def raw(text: str) -> Any:
            return result(scored, names[text])["scores"]["rate"]["raw"]

        assert raw("C") == "C"
        assert raw("0.75") == "0.75"
        assert raw("yes as bool") is True
        assert raw("list") == [1, 0]
        assert raw("blurry") == "blurry"
        assert math.isnan(raw("nan"))
        assert raw("infinite") == math.inf

    def test_dict_scores_are_named_by_scorer_and_key(self, scored: ShapesProject) -> None:
        name = next(name for name, text in numbered((*NUMBERS, *NO_NUMBERS)).items() if text == "dict")
        scores = result(scored, name)["scores"]
        assert {key: score["value"] for key, score in scores.items()} == {"rate.depth": 0.25, "rate.width": 1.0}

    def test_a_scorer_that_raises_is_a_retryable_error_without_scores(self, scored: ShapesProject) -> None:
        found = result(scored, "scorer-raises")
        assert (found["state"], found["retryable"], found["scores"]) == ("failed", True, {})
        assert found["error"]["type"] == "ValueError"
        assert "the scorer met an answer it cannot read" in found["error"]["message"]
        assert found["cost_usd"] == pytest.approx(ANSWER_COST)

    def test_a_call_that_fails_is_a_retryable_error_without_scores(self, scored: ShapesProject) -> None:
        found = result(scored, "call-fails")
        assert (found["state"], found["retryable"], found["scores"]) == ("failed", True, {})
        assert found["error"] == {"type": "RecordedError", "message": "connection reset by peer"}
        assert (found["answer"], found["stop_reason"], found["usage"]) == ("none", None, None)

    def test_answers_that_are_no_text_are_told_apart(self, scored: ShapesProject) -> None:
        told = {name: (result(scored, name)["answer"], result(scored, name)["stop_reason"]) for name in _NO_TEXT}
        assert told == _NO_TEXT

    def test_the_run_counts_every_item(self, scored: ShapesProject) -> None:
        record = run_yml(scored)
        complete = len(NUMBERS) + 3  # cut, context-full and filtered score C; the blank answer is no number
        assert record["state"] == "partial"
        assert (record["planned"], record["complete"]) == (len(record["items"]), complete)
        assert record["failed"] == record["planned"] - complete

    def test_the_log_says_success_all_the_same(self, scored: ShapesProject) -> None:
        assert attempt(scored)["log_status"] == "success"
        assert run_yml(scored)["execution"]["logs"][0]["status"] == "success"

    def test_money_is_what_the_tokens_cost(self, scored: ShapesProject) -> None:
        priced = len(run_yml(scored)["items"]) - 1  # the call that failed stated no tokens
        assert scored.spent() == pytest.approx(priced * ANSWER_COST)
        assert run_yml(scored)["spent_usd"] == pytest.approx(priced * ANSWER_COST)


_NO_TEXT = {
    "cut": ("truncated", "max_tokens"),
    "context-full": ("truncated", "model_length"),
    "filtered": ("filtered", "content_filter"),
    "blank": ("empty", "stop"),
    "item-0": ("text", "stop"),
}


class TestRequiredScorers:
    def test_dict_scores_satisfy_requirements_by_their_full_name(self, tmp_path: Path) -> None:
        checks = [{"rate.depth": {"pass_at": 0.25}}, "rate.width"]
        project = lab(
            tmp_path / "lab",
            {"both": turn("dict"), "text": turn("dict with a text")},
            changes={
                "evaluation": {"mechanical": checks},
                "metrics": {"primary": "mean_score:rate.depth"},
            },
        )
        assert work_off(project).error is None
        both, text = result(project, "both"), result(project, "text")
        assert both["state"] == "complete"
        assert [both["scores"][name]["passed"] for name in ("rate.depth", "rate.width")] == [True, True]
        assert (text["state"], text["retryable"]) == ("failed", False)
        assert text["error"] == {"type": "MissingScore", "message": "no numeric score from rate.width"}

    def test_a_listed_scorer_that_the_task_lacks_fails_every_item_for_good(self, tmp_path: Path) -> None:
        changes = {"evaluation": {"mechanical": ["rate", "beauty"]}}
        project = lab(tmp_path / "lab", {"a": turn(), "b": turn()}, changes=changes)
        assert work_off(project).error is None
        for item in ("a", "b"):
            found = result(project, item)
            assert (found["state"], found["retryable"]) == ("failed", False)
            assert found["error"] == {"type": "MissingScore", "message": "no numeric score from beauty"}
            assert found["scores"]["rate"]["value"] == 1.0
        assert run_yml(project)["state"] == "failed"
        work_off(project)
        assert sorted(asked(project)) == ["a", "b"]

    def test_a_scorer_that_returns_nothing_is_a_missing_score(self, tmp_path: Path) -> None:
        task = TASK.replace(
            "        return Score(value",
            '        if text == "none":\n            return None\n        return Score(value',
        )
        project = lab(tmp_path / "lab", {"a": turn("none"), "b": turn()}, task=task)
        assert work_off(project).error is None
        assert result(project, "a")["error"]["type"] == "MissingScore"
        assert result(project, "b")["state"] == "complete"


class TestForeignSamples:
    """A log that does not fit what was asked is the framework's fault, and nothing of it counts."""

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (renamed("b", "stranger"), "item 'stranger' that this attempt did not ask"),
            (twice("b", 2), "item 'b' more than once"),
        ],
        ids=["unexpected", "second-epoch"],
    )
    def test_the_run_fails_until_it_is_asked_again(self, tmp_path: Path, change: Any, said: str) -> None:
        project = lab(tmp_path / "lab", {"a": turn(), "b": turn()})
        assert work_off(project, "freeze", "execute").error is None
        rewrite_run(project, change)
        log = log_path(project).read_bytes()
        assert work_off(project, "ingest").error is None
        record = run_yml(project)
        assert record["state"] == "failed"
        assert record["error"]["type"] == "FrameworkFault"
        assert said in record["error"]["message"]
        assert record["items"] == {}
        assert not list((the_run(project) / "items").glob("*/result.yml"))
        assert project.states() == {"failed": 1}

        assert work_off(project).error is None
        assert len(asked(project)) == 2
        assert work_off(project, again=True).error is None
        assert sorted(asked(project)) == ["a", "a", "b", "b"]
        assert run_yml(project)["state"] == "complete"
        assert run_yml(project)["error"] is None
        assert project.states() == {"banked": 1}
        assert log_path(project).read_bytes() == log

    def test_ingesting_again_keeps_the_fault(self, tmp_path: Path) -> None:
        project = lab(tmp_path / "lab", {"a": turn(), "b": turn()})
        assert work_off(project, "freeze", "execute").error is None
        rewrite_run(project, renamed("b", "stranger"))
        assert work_off(project).error is None  # execute ingests what is closed, and ingest comes after it
        assert run_yml(project)["state"] == "failed"
        assert run_yml(project)["error"]["type"] == "FrameworkFault"
        assert len(asked(project)) == 2

    def test_the_fault_is_in_the_call_log(self, tmp_path: Path) -> None:
        project = lab(tmp_path / "lab", {"a": turn()})
        assert work_off(project, "freeze", "execute").error is None
        rewrite_run(project, renamed("a", "stranger"))
        assert work_off(project, "ingest").error is None
        (call_log,) = (project.eval / "logs").glob("*.jsonl")
        events = [json.loads(line) for line in call_log.read_bytes().split(b"\n") if line]
        assert [event["event"] for event in events] == ["run_started", "inspect_log", "framework_error", "run_finished"]
        assert "stranger" in events[2]["message"]
        assert events[3]["state"] == "failed"


class TestLimits:
    @pytest.mark.parametrize(
        ("limits", "kind"),
        [
            ({"token_limit": 100}, "token"),
            ({"cost_limit": ANSWER_COST / 2}, "cost"),
        ],
    )
    def test_a_limit_that_was_hit_is_recorded_and_the_item_complete(
        self, tmp_path: Path, limits: dict[str, float], kind: str
    ) -> None:
        project = lab(
            tmp_path / "lab", {"a": turn(), "b": turn()}, paid=True, changes={"execution": {"limits": limits}}
        )
        assert work_off(project).error is None
        for item in ("a", "b"):
            found = result(project, item)
            assert (found["state"], found["limit"], found["error"]) == ("complete", kind, None)
            assert found["scores"]["rate"]["value"] == 0.0  # the call that trips a limit leaves no output
            assert found["cost_usd"] == pytest.approx(ANSWER_COST)
        assert run_yml(project)["state"] == "complete"

    def test_no_choice_at_all_is_guarded(self, tmp_path: Path) -> None:
        """The message limit is reached before the model is called, so the output holds no choice."""
        limits = {"message_limit": 1}
        project = lab(tmp_path / "lab", {"a": turn()}, changes={"execution": {"limits": limits}})
        assert work_off(project).error is None
        found = result(project, "a")
        assert (found["state"], found["limit"], found["error"]) == ("complete", "message", None)
        assert (found["answer"], found["stop_reason"], found["usage"]) == ("none", None, None)
        assert found["scores"]["rate"]["value"] == 0.0
        assert asked(project) == []

    @pytest.mark.parametrize(("ours", "theirs", "smaller"), [(5, 7, 5), (9, 7, 7), (None, 7, 7), (5, None, 5)])
    def test_the_smaller_message_limit_wins(
        self, tmp_path: Path, ours: int | None, theirs: int | None, smaller: int
    ) -> None:
        execution: dict[str, Any] = {"limits": {"message_limit": ours} if ours else {}}
        if theirs:
            execution["task_args"] = {"message_limit": theirs}
        project = lab(tmp_path / "lab", {"a": turn()}, changes={"execution": execution})
        assert work_off(project).error is None
        assert run_yml(project)["state"] == "complete"
        assert read_eval_log(str(log_path(project)), header_only=True).eval.config.message_limit == smaller


class TestMoneyWithoutUsage:
    def test_a_priced_reply_without_usage_fails_and_is_charged_at_its_upper_bound(self, tmp_path: Path) -> None:
        project = lab(tmp_path / "lab", {"known": turn(), "unknown": turn(usage=None)}, paid=True)
        assert work_off(project).error is None
        found = result(project, "unknown")
        assert (found["state"], found["retryable"]) == ("failed", False)
        assert found["error"]["type"] == "MissingUsage"
        assert (found["usage"], found["cost_usd"]) == (None, None)
        assert result(project, "known")["state"] == "complete"
        bound = (len("ask unknown") * 2.0 + 800 * 8.0) / 1_000_000  # every prompt byte a token, and max_tokens
        (settled,) = [entry for entry in project.ledger() if entry["event"] == "settled"]
        assert settled["spent_usd"] == pytest.approx(ANSWER_COST)
        assert settled["lost_usd"] == pytest.approx(bound)
        assert attempt(project)["calls_lost"] == 1
        assert run_yml(project)["spent_usd"] == pytest.approx(ANSWER_COST + bound)

    def test_a_free_reply_without_usage_is_complete(self, tmp_path: Path) -> None:
        project = lab(tmp_path / "lab", {"a": turn(usage=None)})
        assert work_off(project).error is None
        assert (result(project, "a")["state"], result(project, "a")["usage"]) == ("complete", None)
        assert project.spent() == 0.0


class TestPrices:
    def test_the_snapshot_used_stands_in_attempt_and_run(self, tmp_path: Path) -> None:
        project = lab(tmp_path / "lab", {"a": turn()}, paid=True)
        assert work_off(project).error is None
        stated = {"input": 2.0, "output": 8.0, "cache_read": 2.0, "cache_write": 2.0, "source": "config/models.yml"}
        for record in (attempt(project)["price"], run_yml(project)["execution"]["price"]):
            assert record == {**stated, "free": False, "tiers": [], "usd_per_hour": None}

    def test_recorded_answers_say_why_they_are_free(self, tmp_path: Path) -> None:
        project = lab(tmp_path / "lab", {"a": turn()})
        assert work_off(project).error is None
        price = run_yml(project)["execution"]["price"]
        assert (price["source"], price["free"]) == ("replay", True)

    def test_c27_impossible_usage_leaves_the_cost_unknown(self, tmp_path: Path) -> None:
        """C27: a count below nothing is no credit."""
        usage = {"input": -6000, "output": 500, "cache_read": 8000}
        project = lab(tmp_path / "lab", {"known": turn(), "broken": turn(usage=usage)}, paid=True)
        assert work_off(project).error is None
        found = result(project, "broken")
        assert (found["state"], found["retryable"], found["error"]["type"]) == ("failed", False, "ImpossibleUsage")
        assert "input -6000" in found["error"]["message"]
        assert (found["usage"], found["cost_usd"]) == (None, None)
        (settled,) = [entry for entry in project.ledger() if entry["event"] == "settled"]
        assert settled["spent_usd"] == pytest.approx(ANSWER_COST)
        assert settled["lost_usd"] >= 0.05  # the cost limit, which could not act

    def test_a_rented_endpoint_is_paid_by_time(self, tmp_path: Path) -> None:
        project = lab(tmp_path / "lab", {"a": turn(), "b": turn(usage=None)})
        rented = "models:\n  - {provider: replay, model: echo, usd_per_hour: 1800, replicas: 2}\n"
        project.path("config/models.yml").write_text(rented)
        assert project.plan()["exposure_usd"] == 90.0  # one round of two samples: 1 USD a second x 90 s
        assert work_off(project).error is None
        costs = [result(project, item)["cost_usd"] for item in ("a", "b")]
        samples = read_eval_log(str(log_path(project))).samples or []
        begun = [datetime.fromisoformat(str(sample.started_at)) for sample in samples]
        ended = [datetime.fromisoformat(str(sample.completed_at)) for sample in samples]
        gap = max(0.0, (max(begun) - min(ended)).total_seconds())  # when nobody used the endpoint
        assert sum(costs) == pytest.approx((max(ended) - min(begun)).total_seconds() - gap, abs=0.002)
        assert min(costs) > 0
        (settled,) = [entry for entry in project.ledger() if entry["event"] == "settled"]
        assert settled["spent_usd"] == pytest.approx(sum(costs))
        assert settled["lost_usd"] == 0.0
        assert run_yml(project)["execution"]["price"]["usd_per_hour"] == 3600.0


class TestAttempts:
    def test_all_samples_failing_is_partial_then_failed_and_never_complete(self, tmp_path: Path) -> None:
        project = lab(tmp_path / "lab", {"a": failing(), "b": failing()})
        states = []
        for number in (1, 2, 3):
            assert work_off(project).error is None
            states.append(run_yml(project)["state"])
            assert attempt(project, number)["log_status"] == "success"
            assert result(project, "a")["attempts"] == number
        assert states == ["partial", "partial", "failed"]
        assert run_yml(project)["complete"] == 0
        assert result(project, "a")["state"] == "failed"

    def test_an_item_is_asked_max_attempts_times_and_once_more_on_request(self, tmp_path: Path) -> None:
        project = lab(tmp_path / "lab", {"good": turn(), "bad": failing()}, changes={"defaults": _attempts(2)})
        for _ in range(3):
            assert work_off(project).error is None
        assert sorted(asked(project)) == ["bad", "bad", "good"]
        assert run_yml(project)["state"] == "failed"
        assert project.states() == {"failed": 1}
        assert work_off(project, again=True).error is None
        assert sorted(asked(project)) == ["bad", "bad", "bad", "good"]
        assert attempt(project, 3)["asked"] == ["bad"]
        assert result(project, "bad")["attempts"] == 3
        assert work_off(project).error is None
        assert len(asked(project)) == 4

    def test_a_raised_bound_reopens_what_was_final(self, tmp_path: Path) -> None:
        project = lab(tmp_path / "lab", {"bad": failing()}, changes={"defaults": _attempts(1)})
        assert work_off(project).error is None
        assert project.states() == {"failed": 1}
        project.edit_eval("max_attempts: 1", "max_attempts: 2")
        assert project.states() == {"partial": 1}
        assert work_off(project).error is None
        assert asked(project) == ["bad", "bad"]
        assert project.states() == {"failed": 1}


def _attempts(bound: int) -> dict[str, Any]:
    return {"max_attempts": bound}


class TestResume:
    def test_only_what_is_not_final_is_asked_in_a_new_attempt(self, tmp_path: Path) -> None:
        project = lab(tmp_path / "lab", {"a": turn(), "b": turn(), "c": turn()})
        assert work_off(project, "freeze", "execute").error is None
        rewrite_run(project, without("b"))
        first = log_path(project).read_bytes()
        assert work_off(project, "ingest").error is None
        found = result(project, "b")
        assert (found["state"], found["retryable"]) == ("failed", True)
        assert found["error"]["type"] == "MissingSample"
        assert run_yml(project)["state"] == "partial"
        record = (the_run(project) / "attempts" / "01.yml").read_bytes()
        results = {item: (the_run(project) / "items" / item / "result.yml").read_bytes() for item in ("a", "c")}

        assert work_off(project).error is None
        assert asked(project)[3:] == ["b"]
        assert attempt(project, 2)["asked"] == ["b"]
        assert run_yml(project)["state"] == "complete"
        assert (result(project, "b")["attempt"], result(project, "b")["attempts"]) == (2, 2)
        assert [str(s.id) for s in read_eval_log(str(log_path(project, 2))).samples or []] == ["b"]
        assert log_path(project, 1).read_bytes() == first
        assert (the_run(project) / "attempts" / "01.yml").read_bytes() == record
        for item, content in results.items():
            assert (the_run(project) / "items" / item / "result.yml").read_bytes() == content

    def test_a_clock_that_stands_still_makes_no_name_collide(self, tmp_path: Path) -> None:
        project = lab(tmp_path / "lab", {"good": turn(), "bad": failing()})
        assert work_off(project, before=stop_the_clock).error is None
        first = log_path(project).read_bytes()
        for _ in range(2):
            assert work_off(project, before=stop_the_clock).error is None
        logs = sorted(path.name for path in (the_run(project) / "inspect").glob("*.eval"))
        assert logs == ["attempt-01.eval", "attempt-02.eval", "attempt-03.eval"]
        assert log_path(project).read_bytes() == first
        assert sorted(asked(project)) == ["bad", "bad", "bad", "good"]
        assert len({attempt(project, number)["sha256"] for number in (1, 2, 3)}) == 3
        assert {attempt(project, number)["started"] for number in (1, 2, 3)} == {
            STOPPED.isoformat(timespec="milliseconds")
        }


STOPPED = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)  # 02:30 in Berlin, for the first of two times


class _Stopped(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:
        return STOPPED.astimezone(tz)


def stop_the_clock() -> None:
    """Let every clock that names and records are made from say the same second, in a zone of summer time."""
    import inspect_ai._eval.task.log

    import tamesu.stages.clock

    os.environ["TZ"] = "Europe/Berlin"
    time.tzset()
    tamesu.stages.clock.datetime = _Stopped  # type: ignore[misc]
    inspect_ai._eval.task.log.iso_now = lambda *_arguments: STOPPED.isoformat(timespec="seconds")
