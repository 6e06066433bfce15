"""What is read of replies and requests without a client: shapes, model names, base URLs, reduced bodies."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamesu.base.model.wire import UNREACHED, ModelCalls, WireReply, WireRequest
from tamesu.core.base_url import split_base_url
from tamesu.core.reply_shape import lacks_content, reply_problem
from tamesu.core.served_model import served_model
from tamesu.core.wire import is_served_as, unanswered_calls
from tamesu.core.wire_body import _WORDS, reduce_body

CHAT = "/v1/chat/completions"


@pytest.mark.parametrize(
    ("path", "content", "name"),
    [
        (CHAT, b"<html>", "NoJson"),
        (CHAT, b"[]", "NoJson"),
        (CHAT, b"", "NoJson"),
        (CHAT, b'{"error": "busy"}', "ErrorReply"),
        (CHAT, b'{"choices": []}', "NoChoice"),
        (CHAT, b'{"choices": null}', "NoChoice"),
        (CHAT, b'{"error": null, "choices": [{}]}', None),
        (CHAT, b'data: {"choices": []}\n\n', None),
        ("/v1/messages", b'{"content": []}', None),
        ("/v1/messages", b'{"type": "message"}', "NoChoice"),
        ("/v1/responses", b'{"error": null, "output": []}', None),
        ("/v1/models/m:generateContent", b'{"promptFeedback": {"blockReason": "SAFETY"}}', None),
        ("/v1/models/m:generateContent", b"{}", "NoChoice"),
        ("/v1/models", b"<html>", None),
    ],
)
def test_what_is_wrong_with_a_reply(path: str, content: bytes, name: str | None) -> None:
    found = reply_problem(path, content)
    assert (None if found is None else found.name) == name


def test_only_a_message_without_content_lacks_it() -> None:
    def chat(message: object) -> bytes:
        return json.dumps({"choices": [{"message": message}]}).encode()

    assert lacks_content(CHAT, chat({})) and lacks_content(CHAT, chat({"content": None}))
    assert not lacks_content(CHAT, chat({"content": ""}))
    assert not lacks_content(CHAT, chat({"content": None, "tool_calls": [{}]}))
    assert not lacks_content(CHAT, chat(None)) and not lacks_content(CHAT, b"[]")


@given(
    st.binary()
    | st.recursive(
        st.none() | st.text() | st.integers(),
        lambda s: (
            st.lists(s) | st.dictionaries(st.sampled_from(["choices", "message", "content", "error", "model"]), s)
        ),
    ).map(lambda v: json.dumps(v).encode())
)
def test_no_reply_makes_the_readers_fail(content: bytes) -> None:
    reply_problem(CHAT, content)
    lacks_content(CHAT, content)
    served_model(content)


@given(
    st.dictionaries(
        st.sampled_from(["messages", "stop", "user", "metadata", "top_k", "prefix"]),
        st.recursive(st.just("PRIVATE"), lambda s: st.lists(s) | st.dictionaries(st.just("k"), s)),
    )
)
def test_no_text_of_a_body_survives(body: dict[str, object]) -> None:
    reduced = reduce_body(json.dumps(body).encode())
    assert "PRIVATE" not in json.dumps([dict(reduced.parameters), dict(reduced.contents), reduced.model])
    assert not _WORDS & set(body)


def test_models_are_read_from_bodies_and_streams() -> None:
    assert served_model(b'{"model": "a"}') == "a"
    assert served_model(b'{"modelVersion": "g"}') == "g"
    assert served_model(b'event: x\ndata: {"message": {"model": "c"}}\n\n') == "c"
    assert served_model(b"<html>") is None


@pytest.mark.parametrize(
    ("asked", "served", "same"),
    [
        ("gpt-4o", "gpt-4o-2024-08-06", True),
        ("gpt-4o", "gpt-4o-mini", False),
        ("gpt-4o", "gpt-4o-mini-2024-07-18", False),
        ("mistral-large-latest", "mistral-large-2411", True),
        ("org/base", "base", True),
        ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929", True),
        ("gpt-4o-2024-08-06", "gpt-4o-2024-11-20", False),
    ],
)
def test_a_dated_snapshot_is_the_model_that_was_asked(asked: str, served: str, same: bool) -> None:
    assert is_served_as(asked, served) is same


def test_base_urls_are_split() -> None:
    found = split_base_url("https://me:p%40ss@Host.example:443/v1/")
    assert found is not None
    assert (found.url, found.origin) == ("https://host.example/v1", "https://host.example")
    assert (found.user, found.password) == ("me", "p@ss")
    assert "p@ss" not in repr(found)
    assert [split_base_url(bad) for bad in ("ftp://x", "http://", "http://x?q=1", "http://x:y")] == [None] * 4


def test_requests_that_may_be_billed_are_counted_by_item() -> None:
    def sent(number: int) -> WireRequest:
        return WireRequest(number, 1, "t", "http", CHAT, "a", number, "m", {}, {})

    def back(number: int, status: int | None, error: str | None = None) -> WireReply:
        return WireReply(number, 1, "t", status, None, 0.1, error=error)

    replies = [back(1, 200), back(2, None, "TimeoutError"), back(3, None, UNREACHED), back(4, 429)]
    found = unanswered_calls([sent(n) for n in (1, 2, 3, 4, 5)], replies, ModelCalls({"a": 1}))
    assert found == {"a": 2}
