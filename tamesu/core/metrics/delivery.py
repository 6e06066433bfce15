"""Metrics of what arrived and what it took: completion, kinds of answers, time, tokens, money."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tamesu.base.model.manifest import Policy
from tamesu.core.metrics.definition import Metric, Observe, Sample, pooled_median, pooled_quantity
from tamesu.core.metrics.scores import count_note
from tamesu.core.rows import ItemRow
from tamesu.core.stats import Observation

Test = Callable[[ItemRow], bool]


def rate_of(test: Test) -> Observe:
    """Return the observer of the share of all planned items that meet a test."""

    def observe(rows: Sequence[ItemRow], _policy: Policy, _scorer: str) -> Sample:
        values = tuple(Observation(row.item, float(test(row))) for row in rows)
        complete = sum(row.state == "complete" for row in rows)
        return Sample(values, (count_note(rows, complete, "complete"),))

    return observe


def known_for_all(number: Callable[[ItemRow], float | None], what: str) -> Observe:
    """Return the observer of a number of all items that were asked; one unknown number blocks it."""

    def observe(rows: Sequence[ItemRow], _policy: Policy, _scorer: str) -> Sample:
        asked = [row for row in rows if row.state != "owed"]
        numbers = [(row.item, number(row)) for row in asked]
        values = tuple(Observation(item, value) for item, value in numbers if value is not None)
        owed = len(rows) - len(asked)
        notes = (f"{owed} owed, not counted",) if owed else ()
        unknown = len(asked) - len(values)
        blocked = f"{what} unknown for {unknown} of {len(asked)}" if unknown else None
        return Sample(values, notes, blocked)

    return observe


def _latency(rows: Sequence[ItemRow], _policy: Policy, _scorer: str) -> Sample:
    complete = [row for row in rows if row.state == "complete"]
    values = tuple(Observation(row.item, float(row.latency_ms)) for row in complete if row.latency_ms is not None)
    return Sample(values, (f"of {len(values)} complete items with a known time",))


def _artifacts_complete(row: ItemRow) -> bool:
    return row.state == "complete" and not row.missing_artifacts


def _total_tokens(row: ItemRow) -> float | None:
    return None if row.total_tokens is None else float(row.total_tokens)


DELIVERY = (
    Metric(
        "completion_rate",
        "Share of all planned items that are complete.",
        "rate",
        rate_of(lambda row: row.state == "complete"),
    ),
    Metric(
        "artifact_complete_rate",
        "Share of all planned items that are complete with every required artifact.",
        "rate",
        rate_of(_artifacts_complete),
    ),
    Metric(
        "truncated_rate",
        "Share of all planned items whose answer was cut off at the token limit.",
        "rate",
        rate_of(lambda row: row.answer in {"truncated", "truncated_empty"}),
        better="lower",
    ),
    Metric(
        "empty_rate",
        "Share of all planned items whose answer was empty.",
        "rate",
        rate_of(lambda row: row.answer in {"empty", "absent", "truncated_empty"}),
        better="lower",
    ),
    Metric(
        "filtered_rate",
        "Share of all planned items whose answer a content filter withheld.",
        "rate",
        rate_of(lambda row: row.answer == "filtered"),
        better="lower",
    ),
    Metric(
        "median_latency_ms",
        "Median time per complete item in milliseconds.",
        "ms",
        _latency,
        better="lower",
        summarise=pooled_median,
        paired=False,
    ),
    Metric(
        "mean_total_tokens",
        "Mean number of tokens per item that was asked.",
        "tokens",
        known_for_all(_total_tokens, "tokens"),
        summarise=pooled_quantity,
        better="lower",
    ),
    Metric(
        "mean_cost_usd",
        "Mean cost in US dollars per item that was asked; not shown when any is unknown.",
        "usd",
        known_for_all(lambda row: row.cost_usd, "cost"),
        summarise=pooled_quantity,
        better="lower",
    ),
)
