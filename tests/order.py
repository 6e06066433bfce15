"""The order of tests over several workers: the longest ones first, so that none works alone in the end.

`--dist worksteal` gives each worker an equal share of the list, which it works off from the front; who has
nothing left takes the back half of another share. So the longest tests are dealt to the fronts of all shares.
Every test stands on its own: no order changes what one shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TypeVar

# Parts of test IDs, longest test first.
LONGEST = (
    "test_large.py::",
    "test_kills.py::",
    "test_http_kills.py::test_struck_runs",
    "test_every_route_makes_a_whole_run",
    "test_a_change_of_identity_owes_all_runs",
    "test_the_tutorial_is_exact",
)
_Test = TypeVar("_Test")


def shares(tests: int, workers: int) -> list[int]:
    """Return how many tests each worker is given at the start, in order."""
    sizes: list[int] = []
    for left in range(workers, 0, -1):
        sizes.append((tests - sum(sizes)) // left)
    return sizes


def dealt(tests: Sequence[tuple[str, _Test]], workers: int, longest: Sequence[str] = LONGEST) -> list[_Test]:
    """Return tests, given with their IDs, with the longest ones at the fronts of the workers' shares.

    The others keep their order. All tests come back, each once.
    """

    def rank(name: str) -> int:
        return next((number for number, part in enumerate(longest) if part in name), len(longest))

    first = sorted((one for one in tests if rank(one[0]) < len(longest)), key=lambda one: rank(one[0]))
    others = iter([test for name, test in tests if rank(name) == len(longest)])
    order: list[_Test] = []
    for worker, size in enumerate(shares(len(tests), workers)):
        hand = [test for place, (_, test) in enumerate(first) if _hand(place, workers) == worker]
        order += hand
        order += islice(others, max(0, size - len(hand)))
    return [*order, *others]


def _hand(place: int, workers: int) -> int:
    """Return whose test is at that place: dealt to and fro, so that the longest of all gets its second one last."""
    turn, seat = divmod(place, workers)
    return seat if turn % 2 == 0 else workers - 1 - seat
