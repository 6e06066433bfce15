"""Checks of structured text: what is JSON, what fits, what matches, field by field."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamesu.base.model.manifest import OutputSchema
from tamesu.core.checks.fields import at_path, same, schema_fields
from tamesu.core.checks.reply import parse_reply
from tamesu.core.checks.text import TextTask, text_scores

TICKET = OutputSchema(
    None,
    {
        "type": "object",
        "required": ["queue", "customer"],
        "additionalProperties": False,
        "properties": {
            "queue": {"enum": ["billing", "technical"]},
            "customer": {"$ref": "#/$defs/customer"},
        },
        "$defs": {
            "customer": {"type": "object", "properties": {"tier": {"type": "string"}, "id": {"type": "integer"}}}
        },
    },
)
EXPECTED = {"queue": "billing", "customer": {"tier": "gold", "id": 7}}
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def scores(reply: str, expected: object = EXPECTED, schema: OutputSchema | None = TICKET) -> dict[str, float | None]:
    return {score.name: score.number for score in text_scores(TextTask(schema), expected, reply)}  # type: ignore[arg-type]


@given(values, st.sampled_from(["{}", "  {}\n", "```json\n{}\n```", "```\n{}\n```", "\ufeff{}"]))
def test_a_reply_that_is_one_json_value_reads_as_that_value(value: object, frame: str) -> None:
    found = parse_reply(frame.replace("{}", json.dumps(value)))
    assert found.problem is None
    assert same(found.value, value)  # type: ignore[arg-type]


@given(st.text(max_size=200))
def test_whatever_a_reply_holds_it_is_read_or_named(text: str) -> None:
    found = parse_reply(text)
    assert found.problem is None or "\n" not in found.problem


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the reply is empty"),
        ("```json\n\n```", "the reply is empty"),
        ('Here it is: {"a": 1}', "line 1, column 1: Expecting value"),
        ('{"a": 1} {"a": 2}', "line 1, column 10: Extra data"),
        ('{"a": 1, "a": 2}', "the key 'a' appears twice"),
        ('{"a": NaN}', "NaN is no JSON"),
        ('{"a": -Infinity}', "-Infinity is no JSON"),
        ("[" * 201 + "]" * 201, "the reply is nested beyond 200 levels"),
        ("[" * 100_000, "the reply is nested beyond 200 levels"),
        ('{"a": 1', "line 1, column 8: Expecting ',' delimiter"),
    ],
)
def test_what_is_no_single_value_says_why(text: str, problem: str) -> None:
    assert parse_reply(text).problem == problem


def test_brackets_in_texts_do_not_nest() -> None:
    assert parse_reply(json.dumps("[{" * 500 + '\\"')).problem is None


def test_a_right_reply_passes_every_check() -> None:
    assert scores(json.dumps(EXPECTED)) == {
        "valid_json": 1.0,
        "schema_valid": 1.0,
        "exact_match": 1.0,
        "field:queue": 1.0,
        "field:customer": 1.0,
        "field:customer.tier": 1.0,
        "field:customer.id": 1.0,
    }


def test_a_wrong_field_is_told_apart_from_its_neighbours() -> None:
    reply = json.dumps({"queue": "billing", "customer": {"tier": "silver", "id": 7.0}})
    assert scores(reply) == {
        "valid_json": 1.0,
        "schema_valid": 1.0,
        "exact_match": 0.0,
        "field:queue": 1.0,
        "field:customer": 0.0,
        "field:customer.tier": 0.0,
        "field:customer.id": 1.0,
    }


def test_a_reply_that_does_not_fit_the_schema_says_where() -> None:
    found = text_scores(TextTask(TICKET), EXPECTED, '{"queue": "sales", "customer": {}}')
    (fits,) = (score for score in found if score.name == "schema_valid")
    assert (fits.number, fits.explanation) == (0.0, "queue: 'sales' is not one of ['billing', 'technical']")


def test_prose_is_no_output_and_every_field_of_it_is_wrong() -> None:
    found = scores("I think it is billing.")
    assert set(found.values()) == {0.0}
    assert len(found) == 7


def test_only_fields_that_an_item_expects_are_judged() -> None:
    assert [name for name in scores("{}", {"queue": "billing"}) if name.startswith("field:")] == ["field:queue"]
    assert [name for name in scores("{}", None) if name.startswith("field:")] == []


@pytest.mark.parametrize(
    ("expected", "reply", "match"), [("Paris", " Paris\n", 1.0), ("Paris", "paris", 0.0), ("7", "7", 1.0)]
)
def test_words_are_compared_as_they_are(expected: str, reply: str, match: float) -> None:
    assert scores(reply, expected, None)["exact_match"] == match


def test_an_item_that_expects_nothing_matches_nothing() -> None:
    assert scores("null", None, None)["exact_match"] == 0.0


def test_a_missing_field_is_no_null() -> None:
    reply = '{"queue": null, "customer": {"tier": null}}'
    found = {
        score.name: score.metadata
        for score in text_scores(TextTask(TICKET), {"customer": {"tier": None, "id": None}}, reply)
    }
    assert found["field:customer.tier"] == {"expected": None, "actual": None, "missing": False}
    assert found["field:customer.id"] == {"expected": None, "actual": None, "missing": True}
    assert scores(reply, {"customer": {"tier": None, "id": None}})["field:customer.id"] == 0.0


def test_fields_of_a_schema_with_their_enums() -> None:
    assert [(field.path, field.values) for field in schema_fields(TICKET)] == [
        ("queue", ("billing", "technical")),
        ("customer", ()),
        ("customer.tier", ()),
        ("customer.id", ()),
    ]


def test_a_schema_that_points_at_itself_ends() -> None:
    loop = {"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"properties": {"b": {"$ref": "#/$defs/a"}}}}}
    assert len(schema_fields(OutputSchema(None, loop))) == 8


@given(values, values)
def test_equality_is_an_equivalence_of_json(one: object, other: object) -> None:
    assert same(one, one)  # type: ignore[arg-type]
    assert same(one, other) == same(other, one)  # type: ignore[arg-type]


def test_numbers_are_equal_by_value_and_truth_is_no_number() -> None:
    assert same({"a": [1]}, {"a": [1.0]})
    assert not same(True, 1)
    assert not same([1, 2], [2, 1])
    assert at_path({"a": {"b": 1}}, "a.c").there is False
