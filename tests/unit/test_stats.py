"""Intervals against published values, and what repetitions of an item are worth."""

from __future__ import annotations

from math import sqrt

import pytest

from tamesu.core.stats import Interval, Observation, estimate_mean, estimate_quantity, repeated_rate_interval, wilson


def observe(*groups: tuple[float, ...]) -> list[Observation]:
    """One group of repetitions per item."""
    return [Observation(f"i{number}", value) for number, group in enumerate(groups) for value in group]


# Newcombe 1998, Statistics in Medicine 17, 857-872, table I, method 3 (score, no continuity correction).
@pytest.mark.parametrize(
    ("hits", "size", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_equals_newcombes_table(hits: int, size: int, low: float, high: float) -> None:
    interval = wilson(hits / size, size)
    assert (low, high) == (round(interval.low, 4), round(interval.high, 4))


def test_eight_of_ten_single_items() -> None:
    """The plain interval of the textbook, as statsmodels and R give it."""
    estimate = estimate_mean(observe(*[(1.0,)] * 8, *[(0.0,)] * 2))
    assert estimate.interval is not None
    assert (round(estimate.interval.low, 4), round(estimate.interval.high, 4)) == (0.4902, 0.9433)
    assert (estimate.value, estimate.n, estimate.items) == (0.8, 10, 10)


def test_repetitions_of_many_items_come_to_the_plain_interval() -> None:
    plain, own = wilson(0.3, 100_000), repeated_rate_interval(0.3, 100_000, 100_000)
    assert (own.low, own.high) == (pytest.approx(plain.low, abs=1e-7), pytest.approx(plain.high, abs=1e-7))


@pytest.mark.parametrize(("failures", "bound"), [(1, 0.051293), (2, 0.355362), (3, 0.817691), (4, 1.366318)])
def test_few_failures_end_at_the_bound_of_a_poisson_count(failures: int, bound: float) -> None:
    """Half of the 5 % point of chi squared with 2 x failures degrees of freedom."""
    assert repeated_rate_interval(1 - failures / 24, 24, 24).high == pytest.approx(1 - bound / 24, abs=1e-6)


def test_repetitions_that_agree_are_worth_one_each() -> None:
    agreeing = estimate_mean(observe(*[(1.0,) * 5] * 6, *[(0.0,) * 5] * 4))
    assert agreeing.interval == repeated_rate_interval(0.6, 10, 10)
    assert agreeing.n == 50
    once = estimate_mean(observe(*[(1.0,)] * 6, *[(0.0,)] * 4))
    assert once.interval is not None and agreeing.interval is not None
    assert width(once.interval) < width(agreeing.interval)  # what the repetitions agree on is itself an estimate


def test_repetitions_that_disagree_narrow_the_interval_but_not_beyond_their_number() -> None:
    agreeing = estimate_mean(observe(*[(1.0, 1.0)] * 10, *[(0.0, 0.0)] * 10))
    mixed = estimate_mean(observe(*[(1.0, 0.0)] * 20))
    assert agreeing.interval is not None and mixed.interval is not None
    assert width(mixed.interval) < width(agreeing.interval)
    assert mixed.interval == repeated_rate_interval(0.5, 40, 20)


def test_all_right_counts_items_and_not_repetitions() -> None:
    assert estimate_mean(observe(*[(1.0,) * 3] * 10)).interval == repeated_rate_interval(1.0, 10, 10)


def test_items_with_unequal_repetitions_pool_all_observations() -> None:
    estimate = estimate_mean(observe((1.0, 1.0, 1.0), (0.0,)))
    assert estimate.value == 0.75
    # Kish: n_eff = 4^2 / (3^2 + 1^2) when the repetitions of an item agree.
    assert estimate.interval == repeated_rate_interval(0.75, 1.6, 2)


def test_means_get_a_student_interval_over_item_means() -> None:
    estimate = estimate_quantity(observe((0.1, 0.3), (0.5, 0.5), (0.9, 0.7)))
    # Item means 0.2, 0.5, 0.8: sd 0.3, SE 0.3/sqrt(3), t(2; 0.975) = 4.302653.
    assert estimate.interval is not None
    assert pytest.approx(0.5 - 4.302653 * 0.3 / sqrt(3), abs=1e-6) == estimate.interval.low
    assert pytest.approx(0.5 + 4.302653 * 0.3 / sqrt(3), abs=1e-6) == estimate.interval.high


def test_scores_between_0_and_1_get_wilsons_interval_with_their_own_spread() -> None:
    """Item means 0.2, 0.5, 0.8: SE 0.3 / sqrt(3), widened by sqrt(3 / 2) for three items; 0.25 / SE^2 trials."""
    estimate = estimate_mean(observe((0.1, 0.3), (0.5, 0.5), (0.9, 0.7)))
    error = 0.3 / sqrt(3) * sqrt(3 / 2)
    expected = wilson(0.5, 0.25 / error**2, 4.302653)
    assert estimate.interval is not None
    assert (estimate.interval.low, estimate.interval.high) == (
        pytest.approx(expected.low, abs=1e-6),
        pytest.approx(expected.high, abs=1e-6),
    )
    assert 0 < estimate.interval.low < estimate.interval.high < 1


def test_scores_beyond_0_and_1_keep_the_student_interval() -> None:
    groups = observe((1.0,), (5.0,), (9.0,))
    assert estimate_mean(groups) == estimate_quantity(groups)


def test_amounts_are_never_taken_for_rates() -> None:
    assert estimate_quantity(observe((0.0,), (0.0,), (0.0,))).interval is None


@pytest.mark.parametrize(
    ("groups", "reason"),
    [
        ([], "nothing to average"),
        ([(1.0, 0.0, 1.0)], "no interval from one item"),
        ([(0.5,), (0.5,), (0.5,)], "no interval: every item has the same mean"),
        ([(0.2, 0.8), (0.8, 0.2)], "no interval: every item has the same mean"),
    ],
)
def test_no_interval_where_none_can_be_had(groups: list[tuple[float, ...]], reason: str) -> None:
    estimate = estimate_mean(observe(*groups))
    assert (None, reason) == (estimate.interval, estimate.reason)


def width(interval: Interval) -> float:
    return interval.high - interval.low
