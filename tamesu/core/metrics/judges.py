"""Metrics of model judges, each of one judge: what passed it, and what it has judged at all."""

from __future__ import annotations

from collections.abc import Sequence

from tamesu.base.model.manifest import Policy
from tamesu.core.metrics.definition import Metric, Sample
from tamesu.core.rows import ItemRow
from tamesu.core.stats import Observation


def judgments_owed(rows: Sequence[ItemRow], judge: str | None = None) -> str | None:
    """Return `3 judgments owed` when verdicts of a judge (or any) are missing."""
    owed = sum(one.owed for row in rows for one in row.judges if judge in {None, one.judge})
    return f"{owed} judgment{'s' * (owed != 1)} owed" if owed else None


def _passed(row: ItemRow, judge: str) -> bool | None:
    verdict = row.judge(judge)
    return None if verdict is None else verdict.passed


def _pass_rate(rows: Sequence[ItemRow], _policy: Policy, judge: str) -> Sample:
    values = tuple(Observation(row.item, float(_passed(row, judge) is True)) for row in rows)
    note = f"{sum(row.has_artifact for row in rows)} of {len(rows)} with a valid artifact"
    return Sample(values, (note,), judgments_owed(rows, judge))


def _pass_rate_given_artifact(rows: Sequence[ItemRow], policy: Policy, judge: str) -> Sample:
    sample = _pass_rate([row for row in rows if row.has_artifact], policy, judge)
    note = f"{len(sample.observations)} of {len(rows)} with a valid artifact"
    return Sample(sample.observations, (note,), sample.blocked)


def _completion(rows: Sequence[ItemRow], _policy: Policy, judge: str) -> Sample:
    values = tuple(Observation(row.item, float(_passed(row, judge) is not None)) for row in rows)
    judged = sum(_passed(row, judge) is not None for row in rows)
    judgeable = sum(row.judge(judge) is not None for row in rows)
    return Sample(values, (f"{judged} of {judgeable} judgeable items judged; {len(rows)} planned",))


JUDGES = (
    Metric("judge_pass_rate", "Share of all planned items that passed the judge.", "rate", _pass_rate, "judge"),
    Metric(
        "judge_pass_rate_given_artifact",
        "Share of the items with a valid review artifact that passed the judge.",
        "rate",
        _pass_rate_given_artifact,
        "judge",
    ),
    Metric(
        "judge_completion_rate",
        "Share of all planned items with the verdicts that the judge owes.",
        "rate",
        _completion,
        "judge",
    ),
)
