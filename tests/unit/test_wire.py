"""The wire check: a request that carries less, more or other than the plan says is drift."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tamesu.base.model.plan import RunSpec
from tamesu.base.model.wire import ModelCalls, WireReply, WireRequest
from tamesu.core.wire import check_wire, is_served_as, unverified
from tests.factories import make_spec

PARAMETERS = {"max_tokens": 100, "temperature": 0.3}
SPEC = replace(make_spec(("a", "b")), provider="openai", model="gpt-4o", parameters=PARAMETERS)


def sent(number: int = 1, spec: RunSpec = SPEC, path: str = "/v1/chat/completions", **parameters: Any) -> WireRequest:
    return WireRequest(number, 1, "", "http", path, "a", number, spec.model, parameters, {"messages": "0" * 64})


def answered(number: int = 1, served: str | None = "gpt-4o", **fields: Any) -> WireReply:
    return WireReply(
        **{"id": number, "attempt": 1, "time": "", "status": 200, "served": served, "seconds": 0.1, **fields}
    )


def kinds(*requests: WireRequest, spec: RunSpec = SPEC, served: str | None = "gpt-4o") -> list[tuple[str, str]]:
    replies = [answered(request.id, served) for request in requests]
    return [(one.kind, one.name) for one in check_wire(spec, requests, replies, None).differences]


def test_what_was_declared_and_sent_is_no_difference() -> None:
    request = sent(max_tokens=100, temperature=0.3, stream=True, **{"stream_options.include_usage": True})
    checked = check_wire(SPEC, [request], [answered()], ModelCalls({"a": 1}))
    assert (checked.differences, checked.requests, checked.answered, checked.served) == ((), 1, 1, {"gpt-4o": 1})


@pytest.mark.parametrize(
    ("parameters", "found"),
    [
        ({"max_tokens": 100}, [("not sent", "temperature")]),
        ({"max_tokens": 100, "temperature": 0.9}, [("sent otherwise", "temperature")]),
        ({"max_tokens": 100, "temperature": None}, [("sent otherwise", "temperature")]),
        ({"max_tokens": True, "temperature": 0.3}, [("sent otherwise", "max_tokens")]),
        ({"max_tokens": 100, "temperature": 0.3, "top_p": 1.0}, [("not declared", "top_p")]),
        ({"max_completion_tokens": 100, "temperature": 0.3}, []),
        ({"max_tokens": 100, "temperature": 0.3, "extra.deep.field": 1}, [("not declared", "extra.deep.field")]),
    ],
)
def test_less_other_and_more_are_told_apart(parameters: dict[str, Any], found: list[tuple[str, str]]) -> None:
    assert kinds(sent(**parameters)) == found


def test_equal_differences_of_many_requests_are_one_with_their_number() -> None:
    requests = [sent(number, max_tokens=100, temperature=0.9) for number in (1, 2, 3)]
    (difference,) = check_wire(SPEC, requests, [], None).differences
    assert str(difference) == (
        "temperature was sent as temperature 0.9, planned was temperature 0.3 (3 requests, first for item a)"
    )


def test_another_model_another_path_and_an_undeclared_text() -> None:
    assert kinds(replace(sent(max_tokens=100, temperature=0.3), model="gpt-5"), served="gpt-5") == [
        ("sent otherwise", "model")
    ]
    assert kinds(sent(path="/v1/embeddings", max_tokens=100, temperature=0.3)) == [("not declared", "/v1/embeddings")]
    extra = replace(sent(max_tokens=100, temperature=0.3), contents={"messages": "0" * 64, "prompt": "1" * 64})
    assert kinds(extra) == [("not declared", "prompt")]


@pytest.mark.parametrize(
    ("asked", "served", "same"),
    [
        ("gpt-4o", "gpt-4o", True),
        ("gpt-4o", "gpt-4o-2024-08-06", True),
        ("gpt-4o", "gpt-4o-mini", False),
        ("gpt-4o", "gpt-4o-mini-2024-07-18", False),
        ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929", True),
        ("claude-3-5-haiku-latest", "claude-3-5-haiku-20241022", True),
        ("gemini-2.5-flash", "models/gemini-2.5-flash", True),
        ("gemini-2.5-flash", "gemini-2.5-flash-lite", False),
        ("org/base", "org/base-ft2", False),
        ("base", "Base", True),
    ],
)
def test_a_dated_snapshot_is_the_model_that_was_asked_and_a_sibling_is_not(asked: str, served: str, same: bool) -> None:
    assert is_served_as(asked, served) is same


def test_two_snapshots_in_one_attempt_are_two_models() -> None:
    requests = [sent(number, max_tokens=100, temperature=0.3) for number in (1, 2)]
    replies = [answered(1, "gpt-4o-2024-08-06"), answered(2, "gpt-4o-2024-11-20")]
    (difference,) = check_wire(SPEC, requests, replies, None).differences
    assert (difference.kind, difference.detail) == (
        "served by another model",
        "changed while the attempt ran: gpt-4o-2024-08-06 and gpt-4o-2024-11-20",
    )


def test_c07_an_answer_without_a_request_and_a_model_beside_the_plan_are_seen() -> None:
    """The number of answers in the log is compared with the requests that were seen, item by item."""
    request = sent(max_tokens=100, temperature=0.3)
    checked = check_wire(SPEC, [request], [answered()], ModelCalls({"a": 1, "b": 2}, {"openai/gpt-5": 1}))
    assert [(one.kind, one.name, one.requests) for one in checked.differences] == [
        ("unseen", "answers", 2),
        ("not declared", "model", 1),
    ]


def test_the_queue_ratio_is_wall_time_over_the_servers_own() -> None:
    requests = [sent(number, max_tokens=100, temperature=0.3) for number in (1, 2, 3)]
    replies = [answered(1, seconds=121.0, server_ms=88.3), answered(2, seconds=2.0, server_ms=1000.0), answered(3)]
    checked = check_wire(SPEC, requests, replies, None)
    assert checked.queue_ratio == pytest.approx((121_000 / 88.3 + 2) / 2, abs=0.01)


def test_what_travels_in_no_body_is_named_as_unverified() -> None:
    spec = replace(SPEC, parameters={**PARAMETERS, "extra_headers": {"a": "b"}, "cache_prompt": True})
    assert unverified(spec) == ("cache_prompt", "extra_headers")
    assert check_wire(spec, [sent(max_tokens=100, temperature=0.3)], [answered()], None).differences == ()
