"""Metrics of an evaluation with a review role: renders, verdicts, acceptance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tamesu.base.model.manifest import Policy
from tamesu.core.metrics.definition import Metric, Need, Observe, Sample, total_per_divisor
from tamesu.core.metrics.delivery import known_for_all, rate_of
from tamesu.core.metrics.judges import judgments_owed
from tamesu.core.rows import ItemRow, owed_reviews
from tamesu.core.stats import Observation

Verdict = Callable[[ItemRow], bool | None]


def _artifact_note(rows: Sequence[ItemRow]) -> str:
    return f"{sum(row.has_artifact for row in rows)} of {len(rows)} with a valid artifact"


def reviews_owed(rows: Sequence[ItemRow], verdict: Verdict) -> str | None:
    """Return `3 reviews owed` when reviews or decisions that can still change a verdict are missing."""
    open_ones = [row.review for row in rows if verdict(row) is None]
    return owed_reviews(open_ones.count("owed"), open_ones.count("disagreement"))


def evidence_owed(rows: Sequence[ItemRow], verdict: Verdict, with_gates: bool) -> str | None:
    """Return what is missing for a verdict: reviews, and judgments of gates where they decide as well."""
    undecided = [
        replace(row, judges=tuple(one for one in row.judges if one.gate)) for row in rows if verdict(row) is None
    ]
    judgments = judgments_owed(undecided) if with_gates else None
    return "; ".join(part for part in (reviews_owed(rows, verdict), judgments) if part) or None


def verdict_rate(verdict: Verdict, given_artifact: bool, with_gates: bool = False) -> Observe:
    """Return the observer of the share of items with a positive verdict; evidence that is owed blocks it."""

    def observe(rows: Sequence[ItemRow], _policy: Policy, _scorer: str) -> Sample:
        counted = [row for row in rows if row.has_artifact or not given_artifact]
        values = tuple(Observation(row.item, float(verdict(row) is True)) for row in counted)
        return Sample(values, (_artifact_note(rows),), evidence_owed(counted, verdict, with_gates))

    return observe


def _mechanical(row: ItemRow) -> bool | None:
    return row.mechanical_pass


def _human(row: ItemRow) -> bool | None:
    return row.human_pass


def _accepted(row: ItemRow) -> bool | None:
    return row.accepted


def _completion(rows: Sequence[ItemRow], _policy: Policy, _scorer: str) -> Sample:
    values = tuple(Observation(row.item, float(row.human_pass is not None)) for row in rows)
    reviewed = sum(row.human_pass is not None for row in rows)
    reviewable = sum(row.reviewable for row in rows)
    note = f"{reviewed} of {reviewable} reviewable items reviewed; {len(rows)} planned"
    return Sample(values, (note,))


def _cost_per_accepted(rows: Sequence[ItemRow], policy: Policy, scorer: str) -> Sample:
    cost = known_for_all(lambda row: row.cost_usd, "cost")(rows, policy, scorer)
    count = sum(row.accepted is True for row in rows)
    blocked = evidence_owed(rows, _accepted, with_gates=True) or cost.blocked or (None if count else "nothing accepted")
    notes = (*cost.notes, f"cost of all items over {count} accepted")
    return Sample(cost.observations, notes, blocked, divisor=count)


def _pair(name: str, what: str, verdict: Verdict, need: Need, with_gates: bool = False) -> tuple[Metric, Metric]:
    return (
        Metric(name, f"Share of all planned items {what}.", "rate", verdict_rate(verdict, False, with_gates), need),
        Metric(
            f"{name}_given_artifact",
            f"Share of the items with a valid review artifact {what}.",
            "rate",
            verdict_rate(verdict, True, with_gates),
            need,
        ),
    )


REVIEW = (
    Metric(
        "render_rate",
        "Share of all planned items with a valid review artifact.",
        "rate",
        rate_of(lambda row: row.has_artifact),
        need="review role",
    ),
    *_pair("mechanical_pass_rate", "that passed every listed scorer", _mechanical, "review role"),
    *_pair("accepted_rate", "that met everything acceptance requires", _accepted, "review role", with_gates=True),
    *_pair("human_pass_rate", "that passed human review", _human, "human review"),
    Metric(
        "review_completion_rate",
        "Share of all planned items with the reviews they need.",
        "rate",
        _completion,
        need="human review",
    ),
    Metric(
        "cost_per_accepted_usd",
        "Cost in US dollars of all items per accepted item.",
        "usd",
        _cost_per_accepted,
        need="review role",
        better="lower",
        summarise=total_per_divisor,
        paired=False,
    ),
)
