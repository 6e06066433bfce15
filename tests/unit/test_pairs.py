"""Paired differences against published values and against other implementations of the same tests."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from tamesu.core.family import holm
from tamesu.core.pairs import PairedDifference, paired_amount, paired_difference, tango
from tamesu.core.stats import Interval, Observation


def observe(*groups: tuple[float, ...]) -> list[Observation]:
    """One group of repetitions per item."""
    return [Observation(f"i{number}", value) for number, group in enumerate(groups) for value in group]


def pairs_of(only_first: int, only_second: int, neither: int) -> PairedDifference:
    first = [(1.0,)] * only_first + [(0.0,)] * (only_second + neither)
    second = [(0.0,)] * only_first + [(1.0,)] * only_second + [(0.0,)] * neither
    return paired_difference(observe(*first), observe(*second))


def rounded(interval: Interval | None) -> tuple[float, float] | None:
    return None if interval is None else (round(interval.low, 4), round(interval.high, 4))


@pytest.mark.parametrize(("first", "second", "size"), [(12, 2, 50), (0, 0, 10), (4, 0, 10), (1, 9, 24)])
def test_tangos_ends_are_where_the_score_is_the_normal_quantile(first: int, second: int, size: int) -> None:
    interval = tango(first, second, size)
    assert interval.low < (first - second) / size < interval.high or first == second
    for end in (interval.low, interval.high):
        assert abs(score(first, second, size, end)) == pytest.approx(1.959964, abs=1e-5)


def test_without_a_discordant_pair_tango_has_a_closed_form() -> None:
    """z^2 / (n + z^2) for n = 10."""
    assert rounded(tango(0, 0, 10)) == (-0.2775, 0.2775)


def score(first: int, second: int, size: int, assumed: float) -> float:
    """The score statistic with the constrained estimate found by maximising the likelihood numerically."""
    from scipy.optimize import minimize_scalar

    def loss(only_second: float) -> float:
        chances = np.array([only_second + assumed, only_second, 1 - 2 * only_second - assumed])
        counts = np.array([first, second, size - first - second])
        return -float(np.sum(counts * np.log(np.maximum(chances, 1e-300))))

    bounds = (max(0.0, -assumed), (1 - assumed) / 2)
    at = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-12}).x
    return float((first - second - size * assumed) / np.sqrt(size * (2 * at + assumed - assumed**2)))


def test_single_trials_get_tangos_interval() -> None:
    assert pairs_of(12, 2, 36).interval == tango(12, 2, 50)
    assert pairs_of(0, 0, 10).interval == tango(0, 0, 10)


def test_only_items_that_both_saw_are_compared() -> None:
    first = [Observation("a", 1.0), Observation("a", 0.0), Observation("b", 1.0), Observation("c", 1.0)]
    second = [Observation("d", 1.0), Observation("a", 0.5), Observation("b", 0.0)]
    found = paired_difference(first, second)
    assert (found.value, found.items, found.differing, found.higher, found.lower) == (0.5, 2, 1, 1, 0)


def test_repetitions_that_agree_are_worth_one_each() -> None:
    once = pairs_of(6, 2, 12)
    first = [(1.0,) * 3] * 6 + [(0.0,) * 3] * 14
    second = [(0.0,) * 3] * 6 + [(1.0,) * 3] * 2 + [(0.0,) * 3] * 12
    thrice = paired_difference(observe(*first), observe(*second))
    assert (once.interval, once.p_value) == (thrice.interval, thrice.p_value)


def test_repetitions_that_vary_by_chance_narrow_the_interval() -> None:
    generator = np.random.default_rng(7)
    groups = [[tuple(map(float, generator.random(9) < chance)) for _ in range(30)] for chance in (0.5, 0.3)]
    all_nine = paired_difference(*(observe(*some) for some in groups))
    one = paired_difference(*(observe(*(group[:1] for group in some)) for some in groups))
    assert all_nine.interval is not None and one.interval is not None
    assert all_nine.interval.high - all_nine.interval.low < 0.5 * (one.interval.high - one.interval.low)


def test_amounts_get_a_student_interval_whatever_their_size() -> None:
    """Differences 0.1, 0.2, 0.3: SE 0.1 / sqrt(3), t(2; 0.975) = 4.302653."""
    found = paired_amount(observe((0.2,), (0.4,), (0.6,)), observe((0.1,), (0.2,), (0.3,)))
    half = 4.302653 * 0.1 / np.sqrt(3)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == (pytest.approx(0.2 - half), pytest.approx(0.2 + half))


@pytest.mark.parametrize(("first", "second"), [(5, 0), (6, 0), (9, 2), (40, 22)])
def test_single_trials_are_judged_by_mcnemars_exact_test(first: int, second: int) -> None:
    expected = scipy_stats.binomtest(first, first + second).pvalue
    assert pairs_of(first, second, 7).p_value == pytest.approx(expected)


def test_few_differences_are_judged_by_all_their_signs() -> None:
    """The same as scipy's exact permutation test, items without a difference left out or not."""
    differences = np.random.default_rng(3).normal(0.5, 1, 12)
    zero = observe(*[(0.0,)] * 15)
    found = paired_difference(observe(*[(float(d),) for d in (*differences, 0.0, 0.0, 0.0)]), zero)
    exact = scipy_stats.permutation_test((differences,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert found.p_value == pytest.approx(exact.pvalue)


def test_many_differences_are_judged_by_the_paired_t_test() -> None:
    first, second = np.random.default_rng(4).random((2, 40))
    found = paired_difference(observe(*zip(first.tolist())), observe(*zip(second.tolist())))
    assert found.p_value == pytest.approx(scipy_stats.ttest_rel(first, second).pvalue)


@pytest.mark.parametrize(("items", "p"), [(5, 0.0625), (6, 0.03125)])
def test_equal_differences_of_scores_have_a_sign_test_and_no_interval(items: int, p: float) -> None:
    found = paired_difference(observe(*[(0.75,)] * items), observe(*[(0.25,)] * items))
    assert (found.value, found.interval, found.p_value, found.detectable) == (0.5, None, p, None)
    assert found.reason == "no interval: every item differs by the same amount"


def test_what_never_differs_is_no_difference() -> None:
    found = pairs_of(0, 0, 20)
    assert (found.value, found.p_value, found.detectable) == (0.0, 1.0, None)
    assert rounded(found.interval) == (-0.1611, 0.1611)


def test_nothing_is_claimed_of_one_item_or_none() -> None:
    nothing = paired_difference([Observation("a", 1.0)], [Observation("b", 1.0)])
    assert (nothing.value, nothing.reason) == (None, "no item was seen by both")
    one = paired_difference([Observation("a", 1.0)], [Observation("a", 0.0)])
    assert (one.value, one.interval, one.p_value, one.detectable) == (1.0, None, None, None)
    assert one.reason == "no interval from one item"


def test_the_detectable_difference_is_seen_in_four_of_five_studies() -> None:
    """Power of the paired t test by scipy's noncentral t distribution at the difference named."""
    generator = np.random.default_rng(5)
    first, second = generator.random((2, 24))
    found = paired_difference(observe(*zip(first.tolist())), observe(*zip(second.tolist())))
    error = scipy_stats.sem(first - second)
    critical = scipy_stats.t.ppf(0.975, 23)
    assert found.detectable is not None
    assert scipy_stats.nct.sf(critical, 23, found.detectable / error) == pytest.approx(0.8, abs=1e-6)


def test_too_few_items_have_no_detectable_difference() -> None:
    assert paired_difference(observe(*[(n / 9,) for n in range(5)]), observe(*[(0.0,)] * 5)).detectable is None


def test_the_other_way_round_is_the_negative() -> None:
    found = pairs_of(9, 2, 20)
    other = found.reversed
    assert other.interval is not None and found.interval is not None
    assert (other.value, other.higher, other.lower) == (-(found.value or 0), 2, 9)
    assert (other.interval.low, other.interval.high) == (-found.interval.high, -found.interval.low)


def test_holm_equals_its_published_steps() -> None:
    """Smallest x 4, next x 3, next x 2, largest x 1, never below the one before."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == (
        pytest.approx(0.03),
        pytest.approx(0.06),
        pytest.approx(0.06),
        pytest.approx(0.02),
    )
    assert holm([]) == ()
    assert holm([0.7, 0.9]) == (1.0, 1.0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_adjusted_p_values_keep_their_order_and_lie_between_plain_and_bonferroni(plain: list[float]) -> None:
    adjusted = holm(plain)
    for p, q in zip(plain, adjusted, strict=True):
        assert p <= q <= min(1.0, p * len(plain)) or q == pytest.approx(min(1.0, p * len(plain)))
    order = sorted(range(len(plain)), key=lambda index: plain[index])
    assert all(adjusted[a] <= adjusted[b] for a, b in pairwise(order))


SCORE = st.sampled_from([0.0, 1.0, 0.25, 0.5, 0.1, 1 / 3, 2.0, -1.0])


@given(st.lists(st.tuples(SCORE, SCORE), min_size=2, max_size=25))
def test_every_difference_lies_in_its_interval_and_every_p_is_a_chance(values: list[tuple[float, float]]) -> None:
    found = paired_difference(observe(*((a,) for a, _ in values)), observe(*((b,) for _, b in values)))
    assert found.value is not None and found.p_value is not None
    assert 0 <= found.p_value <= 1
    if found.interval is not None:
        assert found.interval.low <= found.value + 1e-9 and found.value - 1e-9 <= found.interval.high
