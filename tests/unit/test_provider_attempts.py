"""Calls of the native backend as the call log tells them: once each, from journals of now and of before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tamesu.base.canonical import Json, digest
from tamesu.base.model.evidence import Fault, SampleEvidence, Usage
from tamesu.base.model.plan import Price
from tamesu.base.model.provider_attempt import ProviderAttempt
from tamesu.core.provider_attempts import call_fields, told_calls
from tamesu.edge.backends.native.reading import read_log
from tests.factories import make_spec

SPEC = replace(
    make_spec(("a", "b")),
    parameters={"max_tokens": 50, "response_schema": {"name": "output"}},
    price=Price(1.0, 4.0, source="test"),
)
SAMPLE = SampleEvidence("a", (), None, Usage(input=1000, output=500, total=1500), "stop", True, None, 250)
CALL = ProviderAttempt("a", "answered", "5" * 64, "6" * 64, 1.0, 1.25, "req-1", "model-a-2026")


def fields(call: ProviderAttempt = CALL, sample: SampleEvidence = SAMPLE) -> Mapping[str, Json]:
    (one,) = call_fields(SPEC, 2, [call], {"a": sample}, None)
    return one


def test_an_answered_call_has_digests_tokens_money_and_time() -> None:
    assert fields() == {
        "attempt": 2,
        "model": "openai/model-a",
        "recorded": False,
        "parameters": digest(dict(SPEC.parameters)),
        "schema": digest({"name": "output"}),
        "item": "a",
        "state": "answered",
        "sample": "5" * 64,
        "prompt": "6" * 64,
        "started": "1970-01-01T00:00:01.000+00:00",
        "ended": "1970-01-01T00:00:01.250+00:00",
        "latency_ms": 250,
        "request_id": "req-1",
        "served": "model-a-2026",
        "stop_reason": "stop",
        "usage": {"input": 1000, "output": 500, "cache_read": 0, "cache_write": 0, "reasoning": 0, "total": 1500},
        "cost_usd": 0.003,
        "error": None,
    }


def test_a_call_that_failed_has_its_error_and_no_cost() -> None:
    fault = Fault("ProviderUnavailable", "no line")
    failed = fields(replace(CALL, state="failed"), replace(SAMPLE, error=fault, usage=None))
    assert (failed["error"], failed["cost_usd"]) == ({"type": "ProviderUnavailable", "message": "no line"}, None)


def test_token_counts_that_cannot_be_are_an_error() -> None:
    told = fields(sample=replace(SAMPLE, usage=None, usage_problem="-5 tokens"))
    assert (told["error"], told["cost_usd"]) == ({"type": "ImpossibleUsage", "message": "-5 tokens"}, None)


@given(st.lists(st.dictionaries(st.sampled_from(["event", "attempt", "item"]), st.none() | st.integers(1, 2))))
def test_foreign_events_tell_no_call(events: list[dict[str, Json]]) -> None:
    assert told_calls(events, 1) == frozenset()
    assert told_calls([*events, {"event": "provider_attempt", "attempt": 1, "item": "a"}], 1) == {"a"}


def test_a_journal_of_before_is_read_and_lacks_only_the_digest_of_messages(tmp_path: Path) -> None:
    journal = tmp_path / "calls-01.jsonl"
    journal.write_text(
        '{"event":"opened","run_id":"r","attempt":1,"identity_version":1,"generation":{},"recorded":false}\n'
        f'{{"event":"begun","item":"a","prompt":"{"5" * 64}","time":1.0}}\n'
        f'{{"event":"begun","item":"b","prompt":"{"7" * 64}","time":1.5}}\n'
        '{"event":"ended","item":"a","time":2.0,"started":1.0,"answered":true,"no_content":false,"stop_reason":"stop",'
        '"usage":null,"usage_problem":null,"error":null,"limit":null}\n'
    )
    answered, lost = read_log(journal).provider_attempts
    assert answered == ProviderAttempt("a", "answered", "5" * 64, None, 1.0, 2.0)
    assert lost == ProviderAttempt("b", "lost", "7" * 64, None, 1.5, None)
    journal.write_text(journal.read_text() + '{"event":"closed","status":"cancelled"}\n')
    assert [call.state for call in read_log(journal).provider_attempts] == ["answered", "interrupted"]
