"""Many comparisons at once: p-values that hold for the whole family."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return the adjusted p-values in the order given: each is compared with the level of the whole family.

    The k-th smallest of m is multiplied by m - k + 1 and is at least as large as the one before: Holm 1979,
    Scandinavian Journal of Statistics 6, 65-70. The chance of one false claim among all stays below the
    level, however the comparisons depend on each other.
    """
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return tuple(adjusted)
