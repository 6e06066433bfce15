"""Values that are kept rather than asked of scipy are the ones that scipy gives."""

from __future__ import annotations

import subprocess
import sys

import pytest
from scipy.special import bdtr, gammaincinv, stdtrit

from tamesu.core.pairs import paired_difference
from tamesu.core.stats import Observation, student_quantile
from tamesu.core.tabled import POISSON_5, STUDENT_975


def test_students_quantiles_are_scipys_inside_and_outside_of_the_table() -> None:
    assert len(STUDENT_975) == 100
    for freedom in range(1, 201):
        assert student_quantile(freedom) == pytest.approx(float(stdtrit(freedom, 0.975)), rel=1e-14), freedom
        assert student_quantile(freedom, 0.9) == pytest.approx(float(stdtrit(freedom, 0.9)), rel=1e-14), freedom


def test_published_quantiles_stand_in_the_table() -> None:
    """Any book of statistics has them to three places."""
    published = {1: 12.706, 2: 4.303, 5: 2.571, 10: 2.228, 30: 2.042, 60: 2.000, 100: 1.984}
    assert {freedom: round(STUDENT_975[freedom - 1], 3) for freedom in published} == published


def test_bounds_of_poisson_counts_are_scipys() -> None:
    assert set(POISSON_5) == {1.0, 2.0, 3.0, 4.0}
    for count, bound in POISSON_5.items():
        assert bound == pytest.approx(float(gammaincinv(count, 0.05)), rel=1e-14), count


@pytest.mark.parametrize("differing", [2, 3, 7, 20, 63, 64, 65, 90])
def test_sign_tests_are_scipys_below_and_above_what_is_counted(differing: int) -> None:
    for higher in range(differing + 1):
        first = [Observation(f"i{item}", float(item < higher)) for item in range(differing)]
        second = [Observation(f"i{item}", float(item >= higher)) for item in range(differing)]
        expected = min(1.0, 2 * float(bdtr(min(higher, differing - higher), differing, 0.5)))
        assert paired_difference(first, second).p_value == pytest.approx(expected, rel=1e-12), higher


def test_small_evals_are_compared_without_scipy() -> None:
    code = (
        "import sys\nfrom tamesu.core.pairs import paired_difference\n"
        "from tamesu.core.stats import Observation, estimate_mean\n"
        "seen = [Observation(f'i{item}', float(value)) for item, value in enumerate((0, 0.5, 1))]\n"
        "other = [Observation(one.item, 1 - one.value) for one in seen]\n"
        "print(estimate_mean(seen).interval is not None, paired_difference(seen, other).p_value is not None)\n"
        "print('scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == "False"
    assert done.stdout.splitlines()[0] == "True True"
