"""Intervals of means and rates, with the repetitions of an item kept together as one cluster.

The repetitions of one item are not independent, so the unit of every standard error is the item
(Miller 2024, "Adding Error Bars to Evals", arXiv:2411.00640, section 2.2). All intervals are two-sided, 95 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum, inf, sqrt
from statistics import NormalDist
from typing import NamedTuple

from tamesu.core.tabled import POISSON_5, STUDENT_975

LEVEL = 0.95
_UPPER = (1 + LEVEL) / 2
_RARE = 4  # successes or failures


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


class Cluster(NamedTuple):
    """The repetitions of one item: their sum and their number."""

    total: float
    size: int

    @property
    def mean(self) -> float:
        return self.total / self.size


def estimate_mean(observations: Sequence[Observation]) -> Estimate:
    """Return the pooled mean of scores or rates with an interval clustered by item.

    Rates get Wilson's interval, where items were repeated with an effective size; other values between 0 and 1 the
    same with their own spread, any others a Student t interval. There is none for fewer than two items, or when
    values that are not all 0 or 1 do not vary between items.
    """
    values = {observation.value for observation in observations}
    clusters = tuple(clusters_of(observations).values())
    if len(clusters) < 2 or not all(0 <= value <= 1 for value in values):
        return estimate_quantity(observations)
    if values <= {0.0, 1.0}:
        n = len(observations)
        rate = fsum(observation.value for observation in observations) / n
        if n == len(clusters):
            return Estimate(rate, n, n, wilson(rate, n))
        size = _effective_size(rate, _clustered_error(rate, clusters), clusters)
        return Estimate(rate, n, len(clusters), repeated_rate_interval(rate, size, len(clusters)))
    estimate = estimate_quantity(observations)
    if estimate.value is None or estimate.interval is None:
        return estimate
    error = small_sample(_clustered_error(estimate.value, clusters), len(clusters))
    size = estimate.value * (1 - estimate.value) / error**2
    return replace(estimate, interval=wilson(estimate.value, size, student_quantile(len(clusters) - 1)))


def estimate_quantity(observations: Sequence[Observation]) -> Estimate:
    """Return the pooled mean of an amount (tokens, money) with a Student t interval clustered by item."""
    clusters = tuple(clusters_of(observations).values())
    n, items = len(observations), len(clusters)
    if n == 0:
        return Estimate(None, 0, 0, None, "nothing to average")
    value = fsum(observation.value for observation in observations) / n
    if items < 2:
        return Estimate(value, n, items, None, "no interval from one item")
    error = _clustered_error(value, clusters)
    if error == 0 or len({observation.value for observation in observations}) == 1:
        return Estimate(value, n, items, None, "no interval: every item has the same mean")
    return Estimate(value, n, items, student_interval(value, error, items - 1))


def wilson(rate: float, size: float, quantile: float | None = None) -> Interval:
    """Return the Wilson score interval of a rate seen in `size` (possibly effective) trials.

    Formula: Wilson 1927, JASA 22, 209-212; numbers as in Newcombe 1998, Statistics in Medicine 17, 857-872.
    `quantile` stands in for the normal one, as in Dean & Pagano 2015 (see `_effective_size`).
    """
    z = normal_quantile(_UPPER) if quantile is None else quantile
    spread = z * z / size
    centre = (rate + spread / 2) / (1 + spread)
    half = z * sqrt(rate * (1 - rate) / size + spread / (4 * size)) / (1 + spread)
    # At 0 and 1 the bound is exact; rounding must not push the rate out of its own interval.
    return Interval(min(rate, max(0.0, centre - half)), max(rate, min(1.0, centre + half)))


def repeated_rate_interval(rate: float, size: float, items: int) -> Interval:
    """Return the interval of a rate of repeated trials, worth `size` independent ones, of `items` (2 or more).

    Wilson's interval with the Student quantile for the degrees of freedom of the items, since the effective size is
    an estimate. Where at most four successes (or failures) were seen its end next to 0 (or 1) is the one of a Poisson
    count, if that is wider (Brown, Cai & DasGupta 2001, Statistical Science 16, 101-133, who do so up to three).
    """
    interval = wilson(rate, size, student_quantile(items - 1))
    low, high = _rare_bound(rate * size) / size, 1 - _rare_bound((1 - rate) * size) / size
    return Interval(min(interval.low, low), max(interval.high, high))


def _rare_bound(count: float) -> float:
    """Return the lower bound of a Poisson mean by the published one-sided 5 %; the count itself above four."""
    if not 0 < count <= _RARE:
        return count
    if count in POISSON_5:
        return POISSON_5[count]
    from scipy.special import gammaincinv

    return float(gammaincinv(count, 1 - LEVEL))


def small_sample(error: float, items: int) -> float:
    """Return a standard error widened for few items, as HC3 does for a mean.

    Each residual over (1 - 1/K), which is the factor sqrt(K / (K - 1)): MacKinnon & White 1985, J. Econometrics
    29, 305-325; Long & Ervin 2000, American Statistician 54, 217-224. Skewed scores need it.
    """
    return error * sqrt(items / (items - 1))


def half_width_of_mean(deviation: float, items: int) -> float:
    """Return half of the Student t interval of a mean over `items` (2 or more) that vary by `deviation`."""
    return student_quantile(items - 1) * deviation / sqrt(items)


def half_width_of_known_spread(deviation: float, items: int) -> float:
    """Return half of the normal interval of a mean over `items` whose spread is given, not estimated."""
    return normal_quantile(_UPPER) * deviation / sqrt(items)


def _effective_size(rate: float, error: float, clusters: Sequence[Cluster]) -> float:
    """Return how many independent trials the clustered ones are worth.

    p(1-p)/SE^2: Korn & Graubard 1998, Survey Methodology 24, 193-201; its use with Wilson's interval: Dean &
    Pagano 2015, J. Survey Statistics and Methodology 3, 484-503. The degrees of freedom of the SE are taken
    into account by the quantile. Bounded above by N (a negative intra-item correlation is noise) and below by
    N^2 / sum(m_i^2), its value when all repetitions of an item agree (Kish 1965, Survey Sampling, 5.4), which
    is K for equal m_i. With no variance at all (rate 0 or 1) nothing is known about agreement, so the lower
    bound holds.
    """
    n = sum(cluster.size for cluster in clusters)
    lowest = n * n / sum(cluster.size**2 for cluster in clusters)
    variance = rate * (1 - rate)
    if variance == 0:
        return lowest
    return min(float(n), max(lowest, inf if error == 0 else variance / error**2))


def clusters_of(observations: Sequence[Observation]) -> dict[str, Cluster]:
    """Return the observations of each item in the order of their first one."""
    values: dict[str, list[float]] = {}
    for item, value in observations:
        values.setdefault(item, []).append(value)
    return {item: Cluster(fsum(group), len(group)) for item, group in values.items()}


def _clustered_error(mean: float, clusters: Sequence[Cluster]) -> float:
    """Return the standard error of a pooled mean by linearisation.

    sqrt(K/(K-1) * sum((y_i - mean * m_i)^2)) / N for item totals y_i of m_i repetitions (Cochran 1977,
    Sampling Techniques, 6.4); with equal m_i this is the standard error of the mean of item means.
    """
    k, n = len(clusters), sum(cluster.size for cluster in clusters)
    squares = fsum((cluster.total - mean * cluster.size) ** 2 for cluster in clusters)
    return without_rounding(sqrt(k / (k - 1) * squares) / n, mean)


def without_rounding(error: float, scale: float) -> float:
    """Return 0 for a standard error that is nothing but rounding of values about as large as `scale`."""
    return 0.0 if error < 1e-12 * max(1.0, abs(scale)) else error


def student_interval(mean: float, error: float, freedom: int) -> Interval:
    """Return mean +- t * error."""
    half = student_quantile(freedom) * error
    return Interval(mean - half, mean + half)


def normal_quantile(probability: float) -> float:
    """Return the quantile of the standard normal distribution."""
    return NormalDist().inv_cdf(probability)


def student_quantile(freedom: int, probability: float = _UPPER) -> float:
    """Return the quantile of Student's distribution, by default the one of a two-sided 95 % interval."""
    if probability == _UPPER and 1 <= freedom <= len(STUDENT_975):
        return STUDENT_975[freedom - 1]
    from scipy.special import stdtrit

    return float(stdtrit(freedom, probability))
