"""A field that only failed items expect: wrong in the figures, and on the page as in the report."""

from __future__ import annotations

import json
from dataclasses import replace

from tamesu.base.model.evidence import ScoreRecord
from tamesu.base.model.plan import SlotState
from tamesu.core.checks.built_in import built_in_scores
from tamesu.core.checks.fields import expected_paths, schema_fields
from tamesu.core.metrics import measure
from tamesu.core.report.figures import metric_text
from tamesu.core.report.study.fields import make_fields
from tamesu.core.rows import SlotEvidence, build_rows
from tests.factories import POLICY, make_failure, make_result, make_slot, make_spec, make_summary
from tests.unit.test_structured_metrics import SCHEMA

EXPECTED = {"answered": {"queue": "billing"}, "failed": {"note": "a"}}
FIELDS = schema_fields(SCHEMA)


def slot(*states: str) -> SlotEvidence:
    """Return a run of which so many of both items are here; what is not is owed."""
    spec = replace(make_spec(tuple(EXPECTED)), task="structured_text", output_schema=SCHEMA)
    scores = built_in_scores(spec, EXPECTED["answered"], json.dumps(EXPECTED["answered"]).encode())
    records = {one.name: ScoreRecord(one.number, one.number == 1.0, one.raw, metadata=one.metadata) for one in scores}
    made = {
        "answered": replace(make_result(spec, "answered"), scores=records),
        "failed": replace(make_failure(spec, "failed"), retryable=False),
    }
    found = make_slot(spec, [made[item] for item in states], SlotState.PARTIAL)
    return replace(found, expects=expected_paths(FIELDS, EXPECTED))


def test_the_page_has_it_with_the_figure_of_the_report() -> None:
    found = slot("answered", "failed")
    part = make_fields(make_summary([found]), FIELDS)
    assert part is not None
    figure = measure(build_rows([found], POLICY), POLICY, "note_accuracy")
    assert (figure.value, figure.n) == (0.0, 1)
    assert {row.path: row.values for row in part.rows} == {
        "queue": (metric_text(measure(build_rows([found], POLICY), POLICY, "queue_accuracy")),),
        "note": (metric_text(figure),),
    }


def test_where_every_item_failed_the_page_still_has_its_fields() -> None:
    part = make_fields(make_summary([slot("failed")]), FIELDS)
    assert part is not None
    assert [row.path for row in part.rows] == ["note"]


def test_before_anything_was_asked_there_is_no_part() -> None:
    assert make_fields(make_summary([slot()]), FIELDS) is None
