"""Metrics of structured text: matches, invalid outputs, fields, and where enums were confused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from tamesu.base.model.evidence import ItemResult, ScoreRecord
from tamesu.base.model.manifest import OutputSchema, Policy
from tamesu.base.model.plan import RunSpec
from tamesu.core.checks.built_in import built_in_scores
from tamesu.core.checks.fields import expected_paths, schema_fields
from tamesu.core.metrics import find_metric, measure, metric_sample
from tamesu.core.metrics.structured import Confusion, confusion
from tamesu.core.report.evaluation import evaluation_markdown
from tamesu.core.rows import ItemRow, SlotEvidence, build_rows
from tamesu.core.stats import Observation
from tests.factories import POLICY, make_failure, make_result, make_slot, make_spec, make_summary

SCHEMA = OutputSchema(
    None,
    {
        "type": "object",
        "required": ["queue"],
        "properties": {"queue": {"enum": ["billing", "technical"]}, "note": {"type": "string"}},
    },
)
EXPECTED = {
    "right": {"queue": "billing", "note": "a"},
    "wrong": {"queue": "billing"},
    "prose": {"queue": "technical"},
    "unfit": {"queue": "technical"},
    "failed": {"queue": "billing"},
}
REPLIES = {
    "right": json.dumps(EXPECTED["right"]),
    "wrong": '{"queue": "technical"}',
    "prose": "It is technical.",
    "unfit": '{"queue": "sales"}',
}


def result(spec: RunSpec, item: str) -> ItemResult:
    scores = built_in_scores(spec, EXPECTED[item], REPLIES[item].encode())
    records = {one.name: ScoreRecord(one.number, one.number == 1.0, one.raw, metadata=one.metadata) for one in scores}
    return replace(make_result(spec, item), scores=records)


def slot(replies: Mapping[str, str] = REPLIES) -> SlotEvidence:
    spec = replace(make_spec(tuple(EXPECTED)), task="structured_text", output_schema=SCHEMA)
    failed = replace(make_failure(spec, "failed"), retryable=False)
    return make_slot(spec, [*(result(spec, item) for item in replies), failed])


def rows(policy: Policy = POLICY) -> tuple[ItemRow, ...]:
    return build_rows([slot()], policy)


@pytest.mark.parametrize(
    ("name", "value", "n"),
    [
        ("exact_match_rate", 1 / 5, 5),
        ("schema_valid_rate", 2 / 5, 5),
        ("invalid_output_rate", 2 / 5, 5),  # a call that failed came with no output at all
        ("queue_accuracy", 1 / 5, 5),
        ("note_accuracy", 1 / 2, 2),  # only `right` expects one, and of `failed` nobody knows
    ],
)
def test_rates_over_planned_items(name: str, value: float, n: int) -> None:
    found = measure(rows(), POLICY, name)
    assert (found.value, found.n, found.unit) == (pytest.approx(value), n, "rate")


def test_a_field_that_items_expect_nothing_of_says_how_many() -> None:
    note = measure(rows(), POLICY, "note_accuracy").note
    assert "1 of 2 judged, 1 failed" in note
    assert "3 items expect nothing there, not counted" in note


PLANNED = expected_paths(schema_fields(SCHEMA), EXPECTED)


def test_failed_and_owed_items_that_expect_nothing_in_a_field_are_not_counted_there() -> None:
    known = build_rows([replace(slot(), expects=PLANNED)], POLICY)
    assert metric_sample(known, POLICY, "note_accuracy").observations == (Observation("right", 1.0),)
    found = measure(known, POLICY, "note_accuracy")
    assert (found.value, found.n) == (1.0, 1)
    assert "1 of 1 judged; 4 items expect nothing there, not counted" in found.note
    unanswered = build_rows([make_slot(slot().spec, [])], POLICY)
    owed = [replace(row, expects=PLANNED[row.item]) for row in unanswered]
    assert metric_sample(owed, POLICY, "note_accuracy").observations == (Observation("right", 0.0),)


def test_failed_items_that_expect_something_in_a_field_are_wrong_there() -> None:
    expects = expected_paths(schema_fields(SCHEMA), {**EXPECTED, "failed": {"queue": "billing", "note": None}})
    found = measure(build_rows([replace(slot(), expects=expects)], POLICY), POLICY, "note_accuracy")
    assert (found.value, found.n) == (0.5, 2)
    assert "1 of 2 judged, 1 failed" in found.note


def test_a_field_that_no_planned_item_expects_has_no_value() -> None:
    only_failed = make_slot(slot().spec, [make_failure(slot().spec, "failed")])
    known = build_rows([replace(only_failed, expects=dict.fromkeys(EXPECTED, frozenset({"queue"})))], POLICY)
    found = measure(known, POLICY, "note_accuracy")
    assert (found.value, found.n) == (None, 0)
    assert "5 items expect nothing there, not counted; nothing to average" in found.note


def test_items_that_expect_the_same_fields_share_one_set_of_them() -> None:
    assert PLANNED["right"] == {"queue", "note"}
    assert PLANNED["wrong"] == {"queue"}
    assert PLANNED["wrong"] is PLANNED["prose"]


def test_fewer_invalid_outputs_are_better() -> None:
    assert find_metric("invalid_output_rate", POLICY).metric.better == "lower"


def test_enums_are_confused_where_the_table_says() -> None:
    assert confusion(rows(), "queue", ("billing", "technical")) == Confusion(
        path="queue",
        expected=("billing", "technical"),
        actual=("billing", "technical", "(no such field)", "sales"),
        counts=((1, 1, 0, 0), (0, 0, 1, 1)),
    )


def test_the_report_shows_where_enums_were_confused() -> None:
    text = evaluation_markdown(replace(make_summary([slot()]), enums=schema_fields(SCHEMA)[:1]))
    section = text.partition("## Fields")[2].partition("\n## ")[0]
    assert section.splitlines()[4:] == [
        "### queue: openai/model-a · plain",
        "",
        "| expected | billing | technical | (no such field) | sales |",
        "| --- | ---: | ---: | ---: | ---: |",
        "| billing | 1 | 1 | 0 | 0 |",
        "| technical | 0 | 0 | 1 | 1 |",
    ]
    assert "## Fields" not in evaluation_markdown(make_summary([slot()]))
