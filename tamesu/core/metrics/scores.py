"""Metrics of the scorers' numbers."""

from __future__ import annotations

from collections.abc import Sequence

from tamesu.base.model.manifest import Policy
from tamesu.core.metrics.definition import Metric, Sample
from tamesu.core.rows import ItemRow
from tamesu.core.stats import Observation


def count_note(rows: Sequence[ItemRow], counted: int, word: str) -> str:
    """Return `8 of 10 scored, 2 failed, 1 owed`, without the states that do not occur."""
    parts = [f"{counted} of {len(rows)} {word}"]
    for state in ("failed", "owed"):
        count = sum(row.state == state for row in rows)
        parts += [f"{count} {state}"] if count else []
    return ", ".join(parts)


def _number(row: ItemRow, scorer: str) -> float | None:
    score = row.score(scorer)
    return score.value if score else None


def _scored_note(rows: Sequence[ItemRow], scorer: str) -> str:
    scored = sum(_number(row, scorer) is not None for row in rows)
    note = count_note(rows, scored, "scored")
    return note if scored == len(rows) else f"{note}; those not scored count as 0"


def _planned(rows: Sequence[ItemRow], _policy: Policy, scorer: str) -> Sample:
    values = tuple(Observation(row.item, _number(row, scorer) or 0.0) for row in rows)
    return Sample(values, (_scored_note(rows, scorer),))


def _scored(rows: Sequence[ItemRow], _policy: Policy, scorer: str) -> Sample:
    numbers = [(row.item, _number(row, scorer)) for row in rows]
    values = tuple(Observation(item, number) for item, number in numbers if number is not None)
    return Sample(values, (f"of {len(values)} scored; {len(rows)} planned",))


def _first_attempt(rows: Sequence[ItemRow], _policy: Policy, scorer: str) -> Sample:
    values = tuple(Observation(row.item, (_number(row, scorer) or 0.0) if row.attempts <= 1 else 0.0) for row in rows)
    retried = sum(row.attempts > 1 for row in rows)
    return Sample(values, (f"{retried} of {len(rows)} took more than one attempt, these count as 0",))


def _full_credit(rows: Sequence[ItemRow], _policy: Policy, scorer: str) -> Sample:
    values = tuple(Observation(row.item, float((_number(row, scorer) or 0.0) >= 1.0)) for row in rows)
    return Sample(values, (_scored_note(rows, scorer),))


SCORES = (
    Metric(
        "mean_score",
        "Mean of a scorer's numbers over all planned items; failed and owed items count as 0.",
        "score",
        _planned,
        need="scorer",
    ),
    Metric(
        "mean_score_scored",
        "Mean of a scorer's numbers over the items that it scored.",
        "score",
        _scored,
        need="scorer",
    ),
    Metric(
        "mean_score_first_attempt",
        "As mean_score, with items that took more than one attempt counted as 0.",
        "score",
        _first_attempt,
        need="scorer",
    ),
    Metric(
        "full_credit_rate",
        "Share of all planned items with a number of at least 1.0.",
        "rate",
        _full_credit,
        need="scorer",
    ),
)
