"""Quantiles of Student's t distribution against a library of numerics and published tables."""

from __future__ import annotations

from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit

from tamesu.core.student import student_quantile


# Fisher & Yates 1963, table III, two-sided 5 % and 1 %.
@pytest.mark.parametrize(
    ("freedom", "five", "one"),
    [(1, 12.706, 63.657), (2, 4.303, 9.925), (5, 2.571, 4.032), (10, 2.228, 3.169), (30, 2.042, 2.750)],
)
def test_they_equal_the_printed_table(freedom: int, five: float, one: float) -> None:
    assert (round(student_quantile(freedom, 0.975), 3), round(student_quantile(freedom, 0.995), 3)) == (five, one)


def test_every_freedom_to_three_thousand_equals_the_librarys_of_numerics() -> None:
    freedoms = range(1, 3001)
    ours = [student_quantile(freedom, 0.975) for freedom in freedoms]
    assert ours == pytest.approx([float(stdtrit(freedom, 0.975)) for freedom in freedoms], rel=1e-13, abs=0)


@given(st.integers(1, 10**9), st.floats(0.51, 0.999))
def test_any_freedom_and_level_equals_the_librarys_of_numerics(freedom: int, probability: float) -> None:
    expected = float(stdtrit(freedom, probability))
    assert student_quantile(freedom, probability) == pytest.approx(expected, rel=1e-11, abs=0)


@given(st.integers(1, 10**6))
def test_more_freedom_is_narrower_and_never_below_the_normal(freedom: int) -> None:
    assert NormalDist().inv_cdf(0.975) <= student_quantile(freedom + 1, 0.975) <= student_quantile(freedom, 0.975)
