"""The form of an answer: sent where a route carries one, strictly only where providers would take it so."""

from __future__ import annotations

import pytest

from tamesu.base.model.manifest import OutputSchema
from tamesu.core.response_schema import fits_strict, with_schema

TICKET = {
    "type": "object",
    "additionalProperties": False,
    "required": ["queue"],
    "properties": {"queue": {"enum": ["billing", "technical"]}},
}
NOT_STRICT = {
    "others allowed": {**TICKET, "additionalProperties": True},
    "an optional property": {**TICKET, "required": []},
    "a further keyword": {**TICKET, "minProperties": 1},
    "inside a property": {**TICKET, "properties": {"queue": {"type": "object"}}},
    "inside a list": {"type": "array", "items": {"type": "object", "properties": {"a": {}}}},
    "inside a choice": {"anyOf": [TICKET, {"type": "string", "minLength": 1}]},
    "inside a definition": {**TICKET, "$defs": {"a": {"type": "object"}}},
}


def test_a_schema_that_names_everything_is_strict() -> None:
    assert fits_strict(TICKET)
    assert fits_strict({"type": "array", "items": TICKET})


@pytest.mark.parametrize("name", NOT_STRICT)
def test_what_providers_would_refuse_is_a_wish(name: str) -> None:
    assert not fits_strict(NOT_STRICT[name])
    sent = with_schema("openai", {}, "output", OutputSchema(None, NOT_STRICT[name]))
    assert sent["response_schema"] == {"name": "output", "json_schema": NOT_STRICT[name], "strict": False}


@pytest.mark.parametrize(
    ("provider", "carried"),
    [("anthropic", True), ("google", True), ("replay", False), ("bedrock", False), ("grok", False)],
)
def test_it_is_sent_where_the_route_carries_it(provider: str, carried: bool) -> None:
    sent = with_schema(provider, {"max_tokens": 9}, "output", OutputSchema(None, TICKET))
    assert ("response_schema" in sent, sent["max_tokens"]) == (carried, 9)


def test_what_is_stated_stands_and_may_leave_it_out() -> None:
    own = {"response_schema": {"name": "mine"}}
    assert with_schema("openai", own, "output", OutputSchema(None, TICKET)) == own
    assert with_schema("openai", {"response_schema": "provider-default"}, "output", OutputSchema(None, TICKET)) == {}
    assert with_schema("openai", {}, "output", None) == {}
