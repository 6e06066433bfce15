"""Metrics of structured text: what is an output at all, what matches, field by field; and where enums were confused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tamesu.base.canonical import Json
from tamesu.base.model.manifest import Policy
from tamesu.core.checks.names import FIELD
from tamesu.core.metrics.definition import Metric, Observe, Sample
from tamesu.core.metrics.delivery import rate_of
from tamesu.core.metrics.scores import count_note
from tamesu.core.rows import ItemRow
from tamesu.core.stats import Observation

ACCURACY = "_accuracy"
NO_FIELD = "(no such field)"


def _check(name: str) -> Observe:
    return rate_of(lambda row: (found := row.measure(name)) is not None and found.value >= 1.0)


def _invalid(row: ItemRow) -> bool:
    fits = row.measure("schema_valid")
    return row.state == "complete" and fits is not None and fits.value < 1.0


def _field(rows: Sequence[ItemRow], _policy: Policy, path: str) -> Sample:
    """Items of which nothing is expected at the path are not counted; failed and owed ones are, as wrong."""
    silent = {row.item for row in rows if _expects_nothing(row, path)}
    counted = [row for row in rows if row.item not in silent]
    values = tuple(Observation(row.item, _value(row, path)) for row in counted)
    judged = sum(row.measure(f"{FIELD}{path}") is not None for row in counted)
    notes = (count_note(counted, judged, "judged"),)
    return Sample(values, (*notes, f"{len(silent)} items expect nothing there, not counted") if silent else notes)


def _expects_nothing(row: ItemRow, path: str) -> bool:
    """Where the dataset is not known, an answer that was not compared there is all that says so."""
    if row.expects is not None:
        return path not in row.expects
    return row.state == "complete" and row.measure(f"{FIELD}{path}") is None


def _value(row: ItemRow, path: str) -> float:
    found = row.measure(f"{FIELD}{path}")
    return 0.0 if found is None else found.value


STRUCTURED = (
    Metric(
        "exact_match_rate",
        "Share of all planned items whose output equals what is expected, compared as JSON.",
        "rate",
        _check("exact_match"),
        need="structured text",
    ),
    Metric(
        "schema_valid_rate",
        "Share of all planned items whose output fits the schema.",
        "rate",
        _check("schema_valid"),
        need="structured text",
    ),
    Metric(
        "invalid_output_rate",
        "Share of all planned items that were answered with what is no JSON or does not fit the schema.",
        "rate",
        rate_of(_invalid),
        need="structured text",
        better="lower",
    ),
)
FIELD_ACCURACY = Metric(
    "field_accuracy",
    "Share of the planned items that expect a value in this field whose output has it.",
    "rate",
    _field,
    need="structured text",
)


def field_of(name: str) -> str | None:
    """Return the field that `<field>_accuracy` is about, None for another name."""
    path = name.removesuffix(ACCURACY)
    return path if path and path != name else None


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often each expected value of a field was answered with which; `counts` are rows by expected, then actual."""

    path: str
    expected: tuple[str, ...]
    actual: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


def confusion(rows: Sequence[ItemRow], path: str, values: Sequence[Json]) -> Confusion:
    """Return the confusion table of an enum over the items that were answered.

    Values stand in the order of the schema; what is none of them follows, the most frequent first.
    """
    found = [measure for row in rows if (measure := row.measure(f"{FIELD}{path}")) is not None]
    pairs = Counter((shown(one.expected), NO_FIELD if one.missing else shown(one.actual)) for one in found)
    known = [shown(value) for value in values]
    expected = _ordered(Counter(wanted for wanted, _ in pairs.elements()), known)
    actual = _ordered(Counter(came for _, came in pairs.elements()), known)
    counts = tuple(tuple(pairs[wanted, came] for came in actual) for wanted in expected)
    return Confusion(path, expected, actual, counts)


def shown(value: Json) -> str:
    """Return a value as tables name it; texts as they are."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _ordered(seen: Counter[str], known: Sequence[str]) -> tuple[str, ...]:
    others = sorted((name for name in seen if name not in known), key=lambda name: (-seen[name], name))
    return (*known, *others)
