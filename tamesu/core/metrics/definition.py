"""What a metric is: per-item values, how they are summed up, and what it needs to exist."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import fsum
from statistics import median
from typing import Literal

from tamesu.base.model.manifest import Policy
from tamesu.core.rows import ItemRow
from tamesu.core.stats import Estimate, Interval, Observation, estimate_mean, estimate_quantity

Unit = Literal["score", "rate", "ms", "tokens", "usd"]
Need = Literal["nothing", "scorer", "review role", "human review", "judge", "structured text", "pictures"]
Better = Literal["higher", "lower"]


@dataclass(frozen=True, slots=True)
class MetricValue:
    """One figure; `n` is its denominator.

    `value` None means not known (yet), and then `note` begins with the reason. `lacking` says why there is
    no value or no interval; it is part of `note`, which also holds counts. `provisional` marks a figure over
    items some of which are still owed: it has no interval.
    """

    name: str
    value: float | None
    n: int
    interval: Interval | None
    note: str
    unit: Unit = "score"
    lacking: str = ""
    provisional: bool = False


@dataclass(frozen=True, slots=True)
class Sample:
    """The values a metric is made of, one per counted row.

    `notes` go beside the figure. `blocked` says why no figure may be shown. `divisor` replaces the number
    of observations below a sum.
    """

    observations: tuple[Observation, ...]
    notes: tuple[str, ...] = ()
    blocked: str | None = None
    divisor: int | None = None


Observe = Callable[[Sequence[ItemRow], Policy, str], Sample]
Summarise = Callable[[Sample], Estimate]


def pooled_mean(sample: Sample) -> Estimate:
    """Return the mean over all observations (micro average), repetitions clustered by item."""
    return estimate_mean(sample.observations)


def pooled_quantity(sample: Sample) -> Estimate:
    """Return the mean amount over all observations, repetitions clustered by item."""
    return estimate_quantity(sample.observations)


def pooled_median(sample: Sample) -> Estimate:
    """Return the median over all observations, without an interval."""
    values = [observation.value for observation in sample.observations]
    items = len({observation.item for observation in sample.observations})
    if not values:
        return Estimate(None, 0, 0, None, "nothing to average")
    return Estimate(median(values), len(values), items, None, "no interval for a median")


def total_per_divisor(sample: Sample) -> Estimate:
    """Return the sum of the observations over the sample's divisor, without an interval."""
    divisor = sample.divisor or 0
    if divisor == 0:
        return Estimate(None, 0, 0, None, "nothing to divide by")
    total = fsum(observation.value for observation in sample.observations)
    return Estimate(total / divisor, divisor, divisor, None, "no interval for a ratio of totals")


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric by name; with need `scorer` it is written `<name>:<scorer>`, with need `judge` `<name>:<judge>`.

    `paired` says that its per-item values can be compared between cells.
    """

    name: str
    summary: str
    unit: Unit
    observe: Observe
    need: Need = "nothing"
    better: Better = "higher"
    summarise: Summarise = pooled_mean
    paired: bool = True

    def names(self, policy: Policy) -> tuple[str, ...]:
        """Return the names under which a policy can ask for it."""
        if self.need == "judge":
            return tuple(f"{self.name}:{judge.id}" for judge in policy.judges)
        if self.need != "scorer":
            return (self.name,)
        return tuple(f"{self.name}:{check.scorer}" for check in policy.mechanical)


def finish(name: str, metric: Metric, sample: Sample) -> MetricValue:
    """Return the figure of a sample; a blocked sample has none, only its reason."""
    if sample.blocked is not None:
        note = "; ".join((sample.blocked, *sample.notes))
        return MetricValue(name, None, len(sample.observations), None, note, metric.unit, sample.blocked)
    estimate = metric.summarise(sample)
    lacking = estimate.reason or ""
    note = "; ".join(part for part in (*sample.notes, lacking) if part)
    return MetricValue(name, estimate.value, estimate.n, estimate.interval, note, metric.unit, lacking)
