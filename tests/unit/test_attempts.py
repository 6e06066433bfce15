"""Attempts: the verdict on each item, what a closed attempt used up, and what its answer is called."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tamesu.base.errors import FrameworkFault
from tamesu.base.model.evidence import (
    Fault,
    SampleEvidence,
    SampleScore,
    Usage,
)
from tamesu.base.model.manifest import MechanicalCheck
from tamesu.base.model.plan import Price
from tamesu.core.attempts import attempt_state, attempts_used, close_attempt
from tamesu.core.ingest import answer_state, check_samples, item_verdict, score_records
from tests.run_factories import ITEMS, SPEC, attempt


def sample(item: str = "a", **fields: Any) -> SampleEvidence:
    made: dict[str, Any] = {
        "item": item,
        "scores": (SampleScore("works", 1.0, 1.0),),
        "error": None,
        "usage": Usage(input=1000, output=500),
        "stop_reason": "stop",
        "answered": True,
        "limit": None,
        "latency_ms": 5,
    }
    return SampleEvidence(**(made | fields))


@pytest.mark.parametrize(
    ("found", "error", "retryable"),
    [
        (sample(), None, False),
        (sample(limit="token"), None, False),
        (None, "MissingSample", True),
        (sample(error=Fault("ValueError", "x"), scores=()), "ValueError", True),
        (sample(error=Fault("CancelledError", ""), interrupted=True), "Interrupted", True),
        (sample(error=Fault("CancelledError", ""), in_flight=True), "Interrupted", True),
        (sample(scores=()), "MissingScore", False),
        (sample(scores=(SampleScore("works", "x", None),)), "MissingScore", False),
        (sample(scores=(SampleScore("other", 1.0, 1.0),)), "MissingScore", False),
        (sample(usage=None), "MissingUsage", False),
        (sample(calls_without_usage=1), "MissingUsage", False),
        (sample(usage=None, answered=False, stop_reason=None), None, False),
    ],
)
def test_the_verdict_on_an_item(found: SampleEvidence | None, error: str | None, retryable: bool) -> None:
    verdict = item_verdict(SPEC, found)
    assert (verdict.error and verdict.error.type, verdict.retryable) == (error, retryable)
    assert verdict.state == ("complete" if error is None else "failed")


def test_usage_is_owed_by_paid_models_alone() -> None:
    free = replace(SPEC, price=Price(0.0, 0.0, free=True))
    assert item_verdict(free, sample(usage=None, calls_without_usage=1)).state == "complete"


def test_foreign_and_repeated_samples_are_the_frameworks_fault() -> None:
    check_samples(ITEMS, ["a", "c"])
    with pytest.raises(FrameworkFault, match="'a' more than once"):
        check_samples(ITEMS, ["a", "b", "a"])
    with pytest.raises(FrameworkFault, match="'A' that this attempt did not ask"):
        check_samples(ITEMS, ["a", "A"])


@pytest.mark.parametrize(
    ("found", "word"),
    [
        (None, "none"),
        (sample(stop_reason=None, answered=False), "none"),
        (sample(answered=False), "empty"),
        (sample(), "text"),
        (sample(stop_reason="max_tokens"), "truncated"),
        (sample(stop_reason="max_tokens", answered=False), "truncated_empty"),
        (sample(stop_reason="model_length"), "truncated"),
        (sample(stop_reason="content_filter", answered=False), "filtered"),
        (sample(stop_reason="tool_calls"), "text"),
    ],
)
def test_kinds_of_answers(found: SampleEvidence | None, word: str) -> None:
    assert answer_state(found) == word


def test_pass_flags() -> None:
    scores = (SampleScore("works", "C", 1.0), SampleScore("extra", 0.99, 0.99), SampleScore("none", "x", None))
    made = score_records((MechanicalCheck("works", 0.5),), sample(scores=scores))
    assert {name: (one.value, one.passed, one.raw) for name, one in made.items()} == {
        "works": (1.0, True, "C"),
        "extra": (0.99, False, 0.99),
        "none": (None, False, "x"),
    }


COST = (1000 * 2.0 + 500 * 8.0) / 1e6


@pytest.mark.parametrize(
    ("state", "known", "used", "finished", "lost"),
    [
        # a finished, b in flight, c interrupted; d never began
        ("finished", True, ITEMS, ("a",), 2 * 0.1),
        ("interrupted", True, ("a",), ("a",), 2 * 0.1),
        ("died", True, ("a", "b"), ("a",), 2 * 0.1),
        ("died", False, ("a", "b"), ("a",), 2 * 0.1 + 3 * 0.35),
    ],
)
def test_closing_an_attempt(
    state: Any, known: bool, used: tuple[str, ...], finished: tuple[str, ...], lost: float
) -> None:
    samples = [
        sample("a"),
        sample("b", usage=None, in_flight=True),
        sample("c", usage=None, interrupted=True),
    ]
    closing = close_attempt(SPEC, ITEMS, samples, state, known)
    assert (closing.used, closing.finished) == (used, finished)
    assert closing.spent_usd == pytest.approx(COST)
    assert closing.lost_usd == pytest.approx(lost)


def test_a_free_attempt_loses_no_money() -> None:
    free = replace(SPEC, price=Price(0.0, 0.0, free=True))
    closing = close_attempt(free, ITEMS, [sample("a", in_flight=True)], "died", False)
    assert (closing.spent_usd, closing.lost_usd) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("status", "survived", "any_sample", "state"),
    [
        ("success", True, True, "finished"),
        ("success", False, True, "finished"),
        ("error", True, True, "finished"),
        ("error", False, True, "died"),
        ("error", True, False, "faulted"),
        ("started", True, True, "died"),
        ("started", False, False, "died"),
        ("cancelled", True, True, "interrupted"),
        ("cancelled", False, False, "interrupted"),
        (None, True, False, "faulted"),
        (None, False, False, "died"),
    ],
)
def test_how_an_attempt_ended(status: str | None, survived: bool, any_sample: bool, state: str) -> None:
    assert attempt_state(status, survived=survived, any_sample=any_sample) == state


def test_attempts_count_where_they_were_used() -> None:
    attempts = [attempt(1), attempt(2, ("b",)), attempt(3, ("b", "c"))]
    assert [attempts_used(attempts)[item] for item in ITEMS] == [1, 3, 2, 1]


def test_a_request_for_an_item_that_the_log_does_not_hold_is_charged_as_lost() -> None:
    """A sample that was in flight at a death may be missing from the log; what left for it may be billed."""
    verdict = close_attempt(SPEC, ITEMS, (), "died", True, None, {"a": 1, "b": 2})
    assert (verdict.calls_lost, verdict.lost_usd) == (3, pytest.approx(3 * (SPEC.largest_call_usd or 0.0)))
