"""Agreement of two raters against published values."""

from __future__ import annotations

from math import isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamesu.core.agreement import FEWEST_PAIRS, agreement


def verdicts(both_yes: int, only_first: int, only_second: int, both_no: int) -> list[tuple[bool, bool]]:
    kinds = ((True, True), (True, False), (False, True), (False, False))
    numbers = (both_yes, only_first, only_second, both_no)
    return [kind for kind, number in zip(kinds, numbers, strict=True) for _ in range(number)]


def test_kappa_and_its_interval() -> None:
    """20, 5, 10, 15 of 50: agreement 0.70, by chance 0.50; the interval is that of statsmodels' cohens_kappa."""
    found = agreement(verdicts(20, 5, 10, 15))
    assert (found.n, found.agreeing, found.raw) == (50, 35, 0.7)
    assert found.kappa == pytest.approx(0.4)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == (pytest.approx(0.1510923), pytest.approx(0.6489077))


def test_much_agreement_by_chance_alone_is_no_kappa() -> None:
    """45, 15, 25, 15 of 100 has kappa 0.1304; 25, 35, 5, 35 of 100, with equal agreement, has 0.2593."""
    assert agreement(verdicts(45, 15, 25, 15)).kappa == pytest.approx(0.1304, abs=1e-4)
    assert agreement(verdicts(25, 35, 5, 35)).kappa == pytest.approx(0.2593, abs=1e-4)


def test_fewer_than_ten_pairs_have_no_kappa() -> None:
    found = agreement(verdicts(5, 1, 0, 3))
    assert (found.n, found.raw, found.kappa, found.interval) == (9, 8 / 9, None, None)
    assert found.reason == "9 of the 10 pairs that it takes"
    nothing = agreement([])
    assert (nothing.n, nothing.raw, nothing.kappa) == (0, None, None)


@pytest.mark.parametrize("numbers", [(12, 0, 0, 0), (0, 0, 0, 12)])
def test_one_category_has_no_kappa(numbers: tuple[int, int, int, int]) -> None:
    found = agreement(verdicts(*numbers))
    assert (found.raw, found.kappa, found.reason) == (1.0, None, "both gave one and the same verdict throughout")


def test_full_agreement_has_a_kappa_without_an_interval() -> None:
    found = agreement(verdicts(6, 0, 0, 6))
    assert (found.kappa, found.interval) == (1.0, None)
    assert found.reason == "no interval: its variance is 0 for these verdicts"


def test_the_order_of_raters_and_of_pairs_does_not_matter() -> None:
    one, other = agreement(verdicts(20, 5, 10, 15)), agreement(verdicts(20, 10, 5, 15)[::-1])
    assert (one.kappa, one.n) == (pytest.approx(other.kappa), other.n)
    assert one.interval is not None and other.interval is not None
    assert one.interval.low == pytest.approx(other.interval.low)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60))
def test_no_verdicts_give_a_figure_that_is_none(pairs: list[tuple[bool, bool]]) -> None:
    found = agreement(pairs)
    assert (found.kappa is None) == (len(pairs) < FEWEST_PAIRS or len({*pairs} | {(True, True)}) == 1
                                     or {*pairs} == {(False, False)})  # fmt: skip
    if found.kappa is not None:
        assert isfinite(found.kappa) and -1 <= found.kappa <= 1
    if found.interval is not None and found.kappa is not None:
        assert -1 <= found.interval.low <= found.kappa <= found.interval.high <= 1
    assert (found.reason is None) == (found.kappa is not None and found.interval is not None)
