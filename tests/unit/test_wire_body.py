"""What is kept of a request, and where a reply names its model: parameters in clear, no text of anybody."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamesu.core.base_url import split_base_url
from tamesu.core.served_model import served_model
from tamesu.core.wire_body import flat, reduce_body

MARK = "zq-secret-"
TEXTS = st.text(alphabet="abcdef \n\"'\\\u2028", max_size=20).map(lambda text: MARK + text)
VALUES = st.recursive(
    st.one_of(TEXTS, st.integers(), st.floats(allow_nan=False), st.booleans(), st.none()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("pqrs"), inner, max_size=3),
    max_leaves=12,
)
NAMES = st.sampled_from(
    ["messages", "system", "input", "contents", "tools", "user", "metadata", "stop", "response_format"]
)


@given(st.dictionaries(NAMES, VALUES, max_size=6))
def test_no_text_of_a_body_is_kept(body: dict[str, Any]) -> None:
    reduced = reduce_body(json.dumps(body).encode())
    assert MARK not in json.dumps([reduced.parameters, reduced.contents])


@given(st.binary(max_size=60))
def test_what_is_no_json_object_is_a_digest_as_a_whole(content: bytes) -> None:
    reduced = reduce_body(content)
    assert all(len(value) == 64 for value in reduced.contents.values())


def test_numbers_and_words_of_the_protocol_stay_in_clear() -> None:
    body = {
        "model": "m",
        "temperature": 0.5,
        "reasoning": {"effort": "low"},
        "stop": ["x"],
        "messages": [{"role": "u"}],
    }
    reduced = reduce_body(json.dumps(body).encode())
    assert reduced.model == "m"
    assert reduced.parameters == {"temperature": 0.5, "reasoning.effort": "low", **flat("stop", ["x"])}
    assert list(reduced.contents) == ["messages"]


def test_the_digest_of_contents_does_not_depend_on_the_order_of_keys() -> None:
    one = reduce_body(b'{"messages": [{"role": "u", "content": "x"}]}').contents
    assert one == reduce_body(b'{"messages": [{"content": "x", "role": "u"}]}').contents
    assert one != reduce_body(b'{"messages": [{"content": "y", "role": "u"}]}').contents


@pytest.mark.parametrize(
    ("content", "model"),
    [
        (b'{"model": "m", "choices": []}', "m"),
        (b'{"modelVersion": "g-1"}', "g-1"),
        (b'event: message_start\ndata: {"type": "message_start", "message": {"model": "c"}}\n\n', "c"),
        (b'data: {"response": {"model": "r"}}\n\ndata: {"response": {"model": "s"}}\n\n', "r"),
        (b'data: {"choices": []}\n\ndata: [DONE]\n\n', None),
        (b'[{"modelVersion": "g-2"}]', "g-2"),
        (b"<html>", None),
        (b'{"model": 3}', None),
        (b"", None),
    ],
)
def test_the_model_that_a_reply_names(content: bytes, model: str | None) -> None:
    assert served_model(content) == model


@pytest.mark.parametrize(
    ("text", "url", "origin"),
    [
        ("https://api.example.org/v1/", "https://api.example.org/v1", "https://api.example.org"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1", "http://[::1]:8000"),
        ("https://user:p%40ss@host.example:443/v1", "https://host.example/v1", "https://host.example"),
        ("HTTP://Host.Example:80", "http://host.example", "http://host.example"),
    ],
)
def test_a_base_url_is_shown_without_user_and_default_port(text: str, url: str, origin: str) -> None:
    split = split_base_url(text)
    assert split is not None
    assert (split.url, split.origin) == (url, origin)
    assert "p@ss" not in repr(split) and "p%40ss" not in repr(split)


@pytest.mark.parametrize(
    "text", ["", "host/v1", "ftp://host/v1", "https://", "https://h/?key=x", "https://h/#x", "http://h:x"]
)
def test_what_is_no_base_url(text: str) -> None:
    assert split_base_url(text) is None
