"""Differences between two samples of the same items: interval, p-value, and what could not have been seen.

The unit is the item: its difference is that of its means over repetitions (Miller 2024, "Adding Error Bars to
Evals", arXiv:2411.00640, section 4). Everything is two-sided.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import comb, fsum, inf, sqrt

from tamesu.core.stats import (
    LEVEL,
    Cluster,
    Interval,
    Observation,
    clusters_of,
    normal_quantile,
    small_sample,
    student_interval,
    student_quantile,
    without_rounding,
)

POWER = 0.8
FEWEST_FOR_SIGNIFICANCE = 6  # 2 * 0.5**5 is above 5 %: five items can never show a difference
_EXACT = 16  # items that differ, up to which all their signs are gone through
_TINY = 1e-12
_COUNTED = 64  # items that differ, up to which outcomes are counted one by one


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Mean over shared items of (first - second), each an item mean over repetitions.

    `higher` and `lower` count the items on which the first is above and below. `p_value` is that of no
    difference, not adjusted for other comparisons. `detectable` is the smallest true difference that a study
    like this one would have shown in four of five cases; None where the spread is not known.
    """

    value: float | None
    items: int
    higher: int
    lower: int
    interval: Interval | None
    p_value: float | None
    detectable: float | None
    reason: str | None = None

    @property
    def differing(self) -> int:
        return self.higher + self.lower

    @property
    def reversed(self) -> PairedDifference:
        """The same as second - first."""
        interval = None if self.interval is None else Interval(-self.interval.high, -self.interval.low)
        value = None if self.value is None else -self.value
        return replace(self, value=value, higher=self.lower, lower=self.higher, interval=interval)


@dataclass(frozen=True, slots=True)
class _Pair:
    first: Cluster
    second: Cluster

    @property
    def difference(self) -> float:
        gap = self.first.mean - self.second.mean
        return 0.0 if abs(gap) < _TINY * max(1.0, abs(self.first.mean)) else gap


def paired_difference(first: Sequence[Observation], second: Sequence[Observation]) -> PairedDifference:
    """Return the mean difference first - second of scores or rates over the items that both saw.

    Values between 0 and 1 get Tango's interval with an effective size, others a Student t interval. There is
    none for fewer than two items, or when values that are not all 0 or 1 differ by the same amount everywhere.
    """
    values = {observation.value for observation in (*first, *second)}
    if not all(0 <= value <= 1 for value in values):
        return paired_amount(first, second)
    binary = values <= {0.0, 1.0}
    return _difference(first, second, _tango_of_trials if binary else _tango_of_scores)


def paired_amount(first: Sequence[Observation], second: Sequence[Observation]) -> PairedDifference:
    """Return the mean difference first - second of amounts (tokens, money) with a Student t interval."""
    return _difference(first, second, _student_of_pairs)


def _difference(
    first: Sequence[Observation],
    second: Sequence[Observation],
    interval_of: Callable[[Sequence[_Pair], float, float], Interval | None],
) -> PairedDifference:
    a, b = clusters_of(first), clusters_of(second)
    pairs = [_Pair(a[item], b[item]) for item in a if item in b]
    differences = [pair.difference for pair in pairs]
    items = len(pairs)
    higher, lower = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    if items == 0:
        return PairedDifference(None, 0, 0, 0, None, None, None, "no item was seen by both")
    value = fsum(differences) / items
    if items < 2:
        return PairedDifference(value, items, higher, lower, None, None, None, "no interval from one item")
    error = _standard_error(differences, value)
    interval = interval_of(pairs, value, error)
    return PairedDifference(
        value,
        items,
        higher,
        lower,
        interval,
        _p_value(differences, value, error),
        _detectable(error, items),
        None if interval else "no interval: every item differs by the same amount",
    )


def _standard_error(differences: Sequence[float], mean: float) -> float:
    items = len(differences)
    squares = fsum((d - mean) ** 2 for d in differences)
    return without_rounding(sqrt(squares / (items - 1) / items), mean)


def _student_of_pairs(pairs: Sequence[_Pair], mean: float, error: float) -> Interval | None:
    return student_interval(mean, error, len(pairs) - 1) if error else None


def _tango_of_scores(pairs: Sequence[_Pair], mean: float, error: float) -> Interval | None:
    if error == 0:
        return None
    return _effective_tango(pairs, mean, small_sample(error, len(pairs)), inf)


def _tango_of_trials(pairs: Sequence[_Pair], mean: float, error: float) -> Interval:
    most = fsum(min(pair.first.size, pair.second.size) for pair in pairs)
    return _effective_tango(pairs, mean, error, most)


def _effective_tango(pairs: Sequence[_Pair], mean: float, error: float, most: float) -> Interval:
    """Return Tango's interval with as many pairs of single trials as the clustered ones are worth.

    Item means a and b stand for shares of trials, so the chances of the two discordant outcomes are the means
    of a(1-b) and (1-a)b. One pair of trials has the variance p10 + p01 - (p10 - p01)^2; over the squared
    standard error of the item differences, with the normal quantile over Student's for its degrees of
    freedom, that is the effective number of pairs, at least the number of items and at most `most`. A variance
    by clusters within this interval: Yang, Sun & Hardin 2012, Pharmaceutical Statistics 11, 386-393. With one
    trial per item it is Tango's own interval.
    """
    items = len(pairs)
    only_first = fsum(pair.first.mean * (1 - pair.second.mean) for pair in pairs) / items
    only_second = fsum((1 - pair.first.mean) * pair.second.mean for pair in pairs) / items
    variance = only_first + only_second - mean * mean
    freedom = normal_quantile((1 + LEVEL) / 2) / student_quantile(items - 1)
    size = float(items)
    if variance > _TINY:
        size = min(most, max(size, variance / error**2 * freedom**2 if error else inf))
    return tango(only_first * size, only_second * size, size)


def tango(only_first: float, only_second: float, size: float) -> Interval:
    """Return the score interval of a difference of paired rates (first - second).

    `only_first` and `only_second` are the numbers of pairs in which only that one succeeded, of `size` pairs; all may
    be effective numbers. Tango 1998, Statistics in Medicine 17, 891-908, solved by bisection.
    """
    z = normal_quantile((1 + LEVEL) / 2)
    difference = (only_first - only_second) / size

    def score(assumed: float) -> float:
        linear = (2 * size - only_first + only_second) * assumed - only_first - only_second
        constant = -only_second * assumed * (1 - assumed)
        root = sqrt(max(0.0, linear * linear - 8 * size * constant))
        variance = size * (2 * (root - linear) / (4 * size) + assumed * (1 - assumed))
        distance = only_first - only_second - size * assumed
        return inf if variance <= 0 else abs(distance) / sqrt(variance)

    return Interval(_last_within(score, z, difference, -1.0), _last_within(score, z, difference, 1.0))


def _last_within(score: Callable[[float], float], limit: float, inside: float, end: float) -> float:
    """Return the value farthest from `inside` towards `end` whose score stays within the limit."""
    outside = end
    for _ in range(60):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if score(middle) <= limit else (inside, middle)
    return end if abs(inside - end) < _TINY else inside


def _p_value(differences: Sequence[float], mean: float, error: float) -> float:
    """Return the two-sided p-value of no difference.

    Exact by the signs of the differences where they are few or of one size (Fisher 1935, The Design of
    Experiments, chapter 3; with one trial per item it is McNemar's exact test), else Student's paired t test.
    Items without a difference say nothing about its sign.
    """
    sizes = [abs(d) for d in differences if d]
    if not sizes:
        return 1.0
    if max(sizes) - min(sizes) < _TINY * max(1.0, max(sizes)):
        return _sign_test(sum(d > 0 for d in differences), len(sizes))
    if len(sizes) <= _EXACT:
        return _all_signs(sizes, abs(mean) * len(differences))
    from scipy.special import stdtr

    return float(2 * stdtr(len(differences) - 1, -abs(mean) / error))


def _sign_test(higher: int, differing: int) -> float:
    fewer = min(higher, differing - higher)
    if differing <= _COUNTED:
        return min(1.0, 2 * sum(comb(differing, hits) for hits in range(fewer + 1)) / (1 << differing))
    from scipy.special import bdtr

    return min(1.0, float(2 * bdtr(fewer, differing, 0.5)))


def _all_signs(sizes: Sequence[float], seen: float) -> float:
    """Return the share of all ways to give the differences signs that make their sum as large as the one seen."""
    import numpy as np

    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate((sums + size, sums - size))
    return float(np.mean(np.abs(sums) >= seen - 1e-9 * max(1.0, seen)))


def _detectable(error: float, items: int) -> float | None:
    """Return the true difference that a paired t test at 5 % shows with 80 % power, at the spread seen.

    The noncentrality at which 20 % of noncentral t lie below the critical value, times the standard error:
    Cohen 1988, Statistical Power Analysis, chapter 2; for evals Miller 2024, section 5.
    """
    if error == 0 or items < FEWEST_FOR_SIGNIFICANCE:
        return None
    from scipy.special import nctdtrinc

    return float(nctdtrinc(items - 1, 1 - POWER, student_quantile(items - 1))) * error
