"""Intervals against published values, and what repetitions of an item are worth."""

from __future__ import annotations

import random
from math import sqrt

import pytest

from tamesu.core.stats import Interval, Observation, estimate_mean, estimate_quantity, paired_difference, wilson


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


def test_eight_of_ten_single_items_is_the_plain_wilson_interval() -> None:
    estimate = estimate_mean(observe(*[(1.0,)] * 8, *[(0.0,)] * 2))
    assert estimate.interval is not None
    assert (round(estimate.interval.low, 4), round(estimate.interval.high, 4)) == (0.4902, 0.9433)
    assert (estimate.value, estimate.n, estimate.items) == (0.8, 10, 10)


def test_repetitions_that_agree_are_worth_one_each() -> None:
    once = estimate_mean(observe(*[(1.0,)] * 6, *[(0.0,)] * 4))
    agreeing = estimate_mean(observe(*[(1.0,) * 5] * 6, *[(0.0,) * 5] * 4))
    assert once.interval == agreeing.interval
    assert agreeing.n == 50


def test_repetitions_that_disagree_narrow_the_interval_but_not_beyond_their_number() -> None:
    agreeing = estimate_mean(observe(*[(1.0, 1.0)] * 10, *[(0.0, 0.0)] * 10))
    mixed = estimate_mean(observe(*[(1.0, 0.0)] * 20))
    assert agreeing.interval is not None and mixed.interval is not None
    assert width(mixed.interval) < width(agreeing.interval)
    assert mixed.interval == wilson(0.5, 40)


def test_all_right_counts_items_and_not_repetitions() -> None:
    assert estimate_mean(observe(*[(1.0,) * 3] * 10)).interval == wilson(1.0, 10)


def test_items_with_unequal_repetitions_pool_all_observations() -> None:
    estimate = estimate_mean(observe((1.0, 1.0, 1.0), (0.0,)))
    assert estimate.value == 0.75
    # Kish: n_eff = 4^2 / (3^2 + 1^2) when the repetitions of an item agree.
    assert estimate.interval == wilson(0.75, 1.6)


def test_means_get_a_student_interval_over_item_means() -> None:
    estimate = estimate_quantity(observe((0.1, 0.3), (0.5, 0.5), (0.9, 0.7)))
    # Item means 0.2, 0.5, 0.8: sd 0.3, SE 0.3/sqrt(3), t(2; 0.975) = 4.302653.
    assert estimate.interval is not None
    assert pytest.approx(0.5 - 4.302653 * 0.3 / sqrt(3), abs=1e-6) == estimate.interval.low
    assert pytest.approx(0.5 + 4.302653 * 0.3 / sqrt(3), abs=1e-6) == estimate.interval.high


def test_interval_of_scores_between_0_and_1_ends_there() -> None:
    estimate = estimate_mean(observe((0.1, 0.3), (0.5, 0.5), (0.9, 0.7)))
    assert estimate.interval == Interval(0.0, 1.0)


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


def test_clustered_wilson_covers_the_truth() -> None:
    generator = random.Random(20_240_711)
    covered, trials = 0, 1500
    for _ in range(trials):
        groups = []
        for _ in range(25):
            chance = generator.betavariate(1.4, 0.6)
            groups.append(tuple(float(generator.random() < chance) for _ in range(4)))
        interval = estimate_mean(observe(*groups)).interval
        assert interval is not None
        covered += interval.low <= 0.7 <= interval.high
    assert 0.92 <= covered / trials <= 0.98


def test_paired_difference_uses_the_items_both_saw() -> None:
    first = [Observation("a", 1.0), Observation("a", 0.0), Observation("b", 1.0), Observation("c", 1.0)]
    second = [Observation("d", 1.0), Observation("a", 0.5), Observation("b", 0.0)]
    difference = paired_difference(first, second)
    assert (
        difference.value,
        difference.items,
        difference.differing,
        difference.higher,
        difference.lower,
    ) == (0.5, 2, 1, 1, 0)
    # Differences 0 and 1: SE 0.5, t(1; 0.975) = 12.706205.
    assert difference.interval is not None
    assert pytest.approx(0.5 + 12.706205 * 0.5, abs=1e-5) == difference.interval.high
    assert not difference.clear


def test_paired_difference_is_clear_when_its_interval_excludes_zero() -> None:
    first = observe(*[(1.0,)] * 9, (0.0,))
    second = observe(*[(0.0,)] * 10)
    assert paired_difference(first, second).clear
    assert not paired_difference(second, second).clear


@pytest.mark.parametrize(("items", "clear"), [(5, False), (6, True)])
def test_equal_differences_are_judged_by_a_sign_test(items: int, clear: bool) -> None:
    difference = paired_difference(observe(*[(1.0,)] * items), observe(*[(0.0,)] * items))
    assert (1.0, None, clear) == (difference.value, difference.interval, difference.clear)
    assert difference.reason == "no interval: every item differs by the same amount"


def test_nothing_shared_is_said() -> None:
    difference = paired_difference([Observation("a", 1.0)], [Observation("b", 1.0)])
    assert (difference.value, difference.reason) == (None, "no item was seen by both")


def width(interval: Interval) -> float:
    return interval.high - interval.low
