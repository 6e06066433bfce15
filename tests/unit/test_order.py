"""The longest tests begin first, on workers of their own, and no test is lost on the way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.order import dealt, shares


def named(names: str) -> list[tuple[str, str]]:
    return [(name, name) for name in names]


def test_the_longest_stand_at_the_fronts_of_the_shares() -> None:
    assert dealt(named("abcdefXgYh"), 2, ["X", "Y"]) == list("XabcdYefgh")


def test_nobody_gets_a_second_one_behind_the_longest_of_all() -> None:
    assert dealt(named("abcXYZ"), 2, ["Z", "Y", "X"]) == list("ZabYXc")


@pytest.mark.parametrize(("tests", "workers", "sizes"), [(10, 4, [2, 2, 3, 3]), (3, 4, [0, 1, 1, 1]), (0, 2, [0, 0])])
def test_shares_are_those_of_worksteal(tests: int, workers: int, sizes: list[int]) -> None:
    assert shares(tests, workers) == sizes


@given(st.lists(st.sampled_from("abcdef")), st.integers(1, 6), st.sets(st.sampled_from("abcdef")))
def test_every_test_comes_back_once(names: list[str], workers: int, longest: set[str]) -> None:
    order = dealt([(name, number) for number, name in enumerate(names)], workers, sorted(longest))
    assert sorted(order) == list(range(len(names)))
