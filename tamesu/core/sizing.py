"""Sizing: how precisely a plan can answer, and whether more items or more repetitions would serve it better."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import fsum, sqrt

from tamesu.base.model.evidence import RunRecord
from tamesu.base.model.manifest import Eval
from tamesu.base.model.plan import Slot
from tamesu.base.model.sizing import Precision, Sizing
from tamesu.core.metrics import cells_of, metric_sample, rows_of
from tamesu.core.metrics.task_names import unit_of
from tamesu.core.pace import forecasts
from tamesu.core.report.comparison import compare
from tamesu.core.rows import ItemRow
from tamesu.core.stats import Observation, half_width_of_known_spread, half_width_of_mean, wilson

_WORST_RATE = 0.5
_WORST_SPREAD = 0.5  # standard deviation of scores between 0 and 1 that are all 0 or 1, half each


@dataclass(frozen=True, slots=True)
class _Spread:
    """How the primary metric varies between items, and what that was learned from.

    `rate` is set when all values are 0 or 1; `deviation` is the standard deviation of item means, learned from
    `measured` items, 0 when it is assumed.
    """

    rate: float | None
    deviation: float
    measured: int
    basis: str


def size(evaluation: Eval, slots: Sequence[Slot], rows: Sequence[ItemRow], records: Sequence[RunRecord]) -> Sizing:
    """Return what a plan can tell; `rows` are those of runs with results, `records` all runs on disk."""
    spread = _spread(evaluation, rows)
    items = max((len(slot.spec.items) for slot in slots), default=0)
    repetitions = max((slot.spec.repetition for slot in slots), default=1)
    precision = Precision(
        metric=evaluation.policy.primary_metric,
        items=items,
        repetitions=repetitions,
        available=len(evaluation.dataset.items),
        half_width=_half_width(spread, items),
        basis="nothing measured yet, and the metric has no bounds" if spread is None else spread.basis,
    )
    signal = _signal(evaluation, rows)
    return Sizing(precision, forecasts(slots, records), tuple(_advice(precision, spread, signal, bool(records))))


def _spread(evaluation: Eval, rows: Sequence[ItemRow]) -> _Spread | None:
    policy = evaluation.policy
    measured = [row for row in rows if row.final]
    groups = [metric_sample(rows_of(measured, cell), policy, policy.primary_metric) for cell in cells_of(measured)]
    seen = [group.observations for group in groups if not group.blocked and group.observations]
    pilots = len({row.run_id for row in measured})
    return (_measured(seen, pilots) if seen else None) or _assumed(evaluation)


def _assumed(evaluation: Eval) -> _Spread | None:
    unit = unit_of(evaluation)
    if unit == "rate":
        return _Spread(_WORST_RATE, _WORST_SPREAD, 0, "worst case, no spread measured yet")
    if unit == "score":
        return _Spread(None, _WORST_SPREAD, 0, "worst case for scores between 0 and 1, no spread measured yet")
    return None


def _measured(seen: Sequence[Sequence[Observation]], pilots: int) -> _Spread | None:
    values = [observation.value for group in seen for observation in group]
    items = len({observation.item for group in seen for observation in group})
    told = f"{items} item{'s' * (items != 1)} of {pilots} pilot{'s' * (pilots != 1)}"
    if all(value in (0.0, 1.0) for value in values):
        return _Spread(fsum(values) / len(values), _WORST_SPREAD, items, f"the rate of {told}")
    variances = [variance for variance in map(_variance_of_items, seen) if variance is not None]
    if not any(variances):
        # items that score alike say nothing about those that would not
        return None
    return _Spread(None, sqrt(fsum(variances) / len(variances)), items, f"the spread between items of {told}")


def _variance_of_items(observations: Sequence[Observation]) -> float | None:
    """The variance of item means; None for fewer than two items."""
    groups: dict[str, list[float]] = {}
    for observation in observations:
        groups.setdefault(observation.item, []).append(observation.value)
    means = [fsum(group) / len(group) for group in groups.values()]
    if len(means) < 2:
        return None
    centre = fsum(means) / len(means)
    return fsum((mean - centre) ** 2 for mean in means) / (len(means) - 1)


def _half_width(spread: _Spread | None, items: int) -> float | None:
    if spread is None or items < 1:
        return None
    if spread.rate is not None:
        interval = wilson(spread.rate, items)
        return (interval.high - interval.low) / 2
    if spread.measured == 0:
        return min(half_width_of_known_spread(spread.deviation, items), _WORST_SPREAD)
    return half_width_of_mean(spread.deviation, items) if items > 1 else None


def _signal(evaluation: Eval, rows: Sequence[ItemRow]) -> str | None:
    """The first comparison that chance alone does not explain, None while there is none."""
    measured = [row for row in rows if row.final]
    clear = (
        comparison.label for comparison in compare(measured, cells_of(measured), evaluation.policy) if comparison.clear
    )
    return next(clear, None)


def _advice(precision: Precision, spread: _Spread | None, signal: str | None, has_runs: bool) -> Iterator[str]:
    """Breadth before repetitions: draws of one item say nothing about items that were never asked."""
    items, available, repetitions = precision.items, precision.available, precision.repetitions
    if items < available:
        wider = _told(_half_width(spread, available))
        stale = "; that makes the finished runs stale" if has_runs else ""
        unasked = f"{available - items} items of the dataset are not selected"
        yield f"breadth first: {unasked}, all {available} give {wider}{stale}"
        if repetitions > 1 and signal is None:
            broad = min(available, items * repetitions)
            yield (
                f"{repetitions} repetitions are planned before breadth shows signal: {broad} items once give "
                f"{_told(_half_width(spread, broad))} instead of {_told(precision.half_width)}"
            )
    elif repetitions > 1 and signal is None:
        yield (
            "every item is selected: repetitions narrow only what varies between draws of one item; "
            "more items would tell more"
        )
    elif repetitions == 1 and signal is not None:
        yield f"breadth shows signal ({signal}): repetitions would tell how much varies between draws of one item"
    elif repetitions == 1 and has_runs:
        yield "no difference is clear yet: add items before repetitions"
    if not has_runs:
        yield "no earlier run: price and time are not known until a few items have run"


def _told(half_width: float | None) -> str:
    return "an unknown interval" if half_width is None else f"±{half_width:.3f}"
