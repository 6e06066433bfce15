"""Intervals and paired differences, with the repetitions of an item kept together as one cluster.

The repetitions of one item are not independent, so the unit of every standard error is the item
(Miller 2024, "Adding Error Bars to Evals", arXiv:2411.00640, section 2.2). All intervals are two-sided, 95 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum, inf, sqrt
from statistics import NormalDist
from typing import NamedTuple

LEVEL = 0.95
_UPPER = (1 + LEVEL) / 2


class Observation(NamedTuple):
    """One value of one item; repetitions of the item share its ID."""

    item: str
    value: float


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A pooled mean; `n` counts observations, `items` clusters. `reason` says why there is no interval."""

    value: float | None
    n: int
    items: int
    interval: Interval | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Mean over shared items of (first - second), each an item mean over repetitions.

    `higher` and `lower` count the items on which the first is above and below. `clear` says that chance
    alone does not explain the sign at the 5 % level.
    """

    value: float | None
    items: int
    higher: int
    lower: int
    interval: Interval | None
    clear: bool
    reason: str | None = None

    @property
    def differing(self) -> int:
        return self.higher + self.lower


@dataclass(frozen=True, slots=True)
class _Cluster:
    total: float
    size: int


def estimate_mean(observations: Sequence[Observation]) -> Estimate:
    """Return the pooled mean of scores or rates with an interval clustered by item.

    Values that are all 0 or 1 get a Wilson interval, others a Student t interval, which ends at 0 and 1 when
    all values lie between them. There is none for fewer than two items, or when values that are not binary
    do not vary between items.
    """
    if len({observation.item for observation in observations}) >= 2 and all(
        observation.value in (0.0, 1.0) for observation in observations
    ):
        clusters = tuple(_clusters(observations).values())
        rate = fsum(observation.value for observation in observations) / len(observations)
        size = _effective_size(rate, _clustered_error(rate, clusters), clusters)
        return Estimate(rate, len(observations), len(clusters), wilson(rate, size))
    estimate = estimate_quantity(observations)
    if estimate.interval is None or not all(0 <= observation.value <= 1 for observation in observations):
        return estimate
    low, high = max(0.0, estimate.interval.low), min(1.0, estimate.interval.high)
    return replace(estimate, interval=Interval(low, high))


def estimate_quantity(observations: Sequence[Observation]) -> Estimate:
    """Return the pooled mean of an amount (tokens, money) with a Student t interval clustered by item."""
    clusters = tuple(_clusters(observations).values())
    n, items = len(observations), len(clusters)
    if n == 0:
        return Estimate(None, 0, 0, None, "nothing to average")
    value = fsum(observation.value for observation in observations) / n
    if items < 2:
        return Estimate(value, n, items, None, "no interval from one item")
    error = _clustered_error(value, clusters)
    if error == 0 or len({observation.value for observation in observations}) == 1:
        return Estimate(value, n, items, None, "no interval: every item has the same mean")
    return Estimate(value, n, items, _student(value, error, items - 1))


def wilson(rate: float, size: float) -> Interval:
    """Return the Wilson score interval of a rate seen in `size` (possibly effective) trials.

    Formula: Wilson 1927, JASA 22, 209-212; numbers as in Newcombe 1998, Statistics in Medicine 17, 857-872.
    """
    z = _normal_quantile(_UPPER)
    spread = z * z / size
    centre = (rate + spread / 2) / (1 + spread)
    half = z * sqrt(rate * (1 - rate) / size + spread / (4 * size)) / (1 + spread)
    # At 0 and 1 the bound is exact; rounding must not push the rate out of its own interval.
    return Interval(min(rate, max(0.0, centre - half)), max(rate, min(1.0, centre + half)))


def half_width_of_mean(deviation: float, items: int) -> float:
    """Return half of the Student t interval of a mean over `items` (2 or more) that vary by `deviation`."""
    return _student_quantile(items - 1, _UPPER) * deviation / sqrt(items)


def half_width_of_known_spread(deviation: float, items: int) -> float:
    """Return half of the normal interval of a mean over `items` whose spread is given, not estimated."""
    return _normal_quantile(_UPPER) * deviation / sqrt(items)


def _effective_size(rate: float, error: float, clusters: Sequence[_Cluster]) -> float:
    """Return how many independent trials the clustered ones are worth.

    p(1-p)/SE^2 with the adjustment for the degrees of freedom of the SE, (t[N-1] / t[K-1])^2, for N
    observations of K items: Korn & Graubard 1998, Survey Methodology 24, 193-201; its use with Wilson's
    interval: Dean & Pagano 2015, J. Survey Statistics and Methodology 3, 484-503. Bounded above by N
    (a negative intra-item correlation is noise) and below by N^2 / sum(m_i^2), its value when all
    repetitions of an item agree (Kish 1965, Survey Sampling, 5.4), which is K for equal m_i. With no
    variance at all (rate 0 or 1) nothing is known about agreement, so the lower bound holds.
    """
    n = sum(cluster.size for cluster in clusters)
    lowest = n * n / sum(cluster.size**2 for cluster in clusters)
    variance = rate * (1 - rate)
    if variance == 0:
        return lowest
    raw = inf if error == 0 else variance / error**2
    freedom = _student_quantile(n - 1, _UPPER) / _student_quantile(len(clusters) - 1, _UPPER)
    return min(float(n), max(lowest, raw * freedom**2))


def paired_difference(first: Sequence[Observation], second: Sequence[Observation]) -> PairedDifference:
    """Return the mean difference first - second over the items that both saw.

    Student t interval over the differences of item means (Miller 2024, section 4). When every item
    differs by the same amount that interval does not exist and an exact sign test decides `clear`.
    """
    a, b = _clusters(first), _clusters(second)
    shared = [item for item in a if item in b]
    differences = [a[item].total / a[item].size - b[item].total / b[item].size for item in shared]
    items = len(differences)
    higher, lower = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    if items == 0:
        return PairedDifference(None, 0, 0, 0, None, False, "no item was seen by both")
    value = fsum(differences) / items
    if items < 2:
        return PairedDifference(value, items, higher, lower, None, False, "no interval from one item")
    squares = fsum((d - value) ** 2 for d in differences)
    error = _without_rounding(sqrt(squares / (items - 1) / items), value)
    if error == 0:
        clear = value != 0 and 2 * 0.5**items <= 1 - LEVEL
        reason = "no interval: every item differs by the same amount"
        return PairedDifference(value, items, higher, lower, None, clear, reason)
    interval = _student(value, error, items - 1)
    clear = interval.low > 0 or interval.high < 0
    return PairedDifference(value, items, higher, lower, interval, clear)


def _clusters(observations: Sequence[Observation]) -> dict[str, _Cluster]:
    values: dict[str, list[float]] = {}
    for observation in observations:
        values.setdefault(observation.item, []).append(observation.value)
    return {item: _Cluster(fsum(group), len(group)) for item, group in values.items()}


def _clustered_error(mean: float, clusters: Sequence[_Cluster]) -> float:
    """Return the standard error of a pooled mean by linearisation.

    sqrt(K/(K-1) * sum((y_i - mean * m_i)^2)) / N for item totals y_i of m_i repetitions (Cochran 1977,
    Sampling Techniques, 6.4); with equal m_i this is the standard error of the mean of item means.
    """
    k, n = len(clusters), sum(cluster.size for cluster in clusters)
    squares = fsum((cluster.total - mean * cluster.size) ** 2 for cluster in clusters)
    return _without_rounding(sqrt(k / (k - 1) * squares) / n, mean)


def _without_rounding(error: float, scale: float) -> float:
    return 0.0 if error < 1e-12 * max(1.0, abs(scale)) else error


def _student(mean: float, error: float, freedom: int) -> Interval:
    half = _student_quantile(freedom, _UPPER) * error
    return Interval(mean - half, mean + half)


def _normal_quantile(probability: float) -> float:
    return NormalDist().inv_cdf(probability)


def _student_quantile(freedom: int, probability: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, probability))
