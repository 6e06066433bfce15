"""The extent of a plan: how many runs it asks for."""

from __future__ import annotations

from collections.abc import Iterator

from tamesu.base.model.manifest import Eval
from tamesu.core.lint.remark import Remark

MOST_RUNS = 10_000  # each is a folder, a row of the plan and a job


def extent_remarks(evaluation: Eval) -> Iterator[Remark]:
    """Yield where a plan asks for more runs than can be handled; it is counted without being made."""
    counts = [
        (evaluation.defaults.repetitions if entry.repetitions is None else entry.repetitions)
        * sum(entry.arms is None or arm.id in entry.arms for arm in evaluation.arms)
        for entry in evaluation.models
    ]
    if sum(counts) > MOST_RUNS:
        own = evaluation.models[counts.index(max(counts))].repetitions is not None
        at = ("runs", counts.index(max(counts)), "repetitions") if own else ("defaults", "repetitions")
        message = f"{sum(counts)} runs are planned, at most {MOST_RUNS} are allowed"
        yield Remark(at, "run/too-many", message, "lower the repetitions, or split the eval")
