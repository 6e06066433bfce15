"""From where to where the rows of a table go, said where there are too many to take in at a glance."""

from __future__ import annotations

from collections.abc import Sequence

from tamesu.core.metrics import CellMetrics
from tamesu.core.report.figures import figure

_FEWEST = 3


def range_sentence(cells: Sequence[CellMetrics], metric: str) -> str | None:
    """Return the lowest and highest value of a metric over three or more rows.

    None while one of them is not known or provisional: the range could still move.
    """
    values = [(cell, cell.value(metric)) for cell in cells]
    known = [(value.value, cell, value.unit) for cell, value in values if value.value is not None]
    if len(cells) < _FEWEST or len(known) < len(cells) or any(value.provisional for _, value in values):
        return None
    low, lowest, unit = min(known, key=lambda one: one[0])
    high, highest, _ = max(known, key=lambda one: one[0])
    if figure(low, unit) == figure(high, unit):
        return f"All {len(cells)} rows have the same {metric}, {figure(low, unit)}."
    return (
        f"Over {len(cells)} rows {metric} goes from {figure(low, unit)} ({lowest.cell}) to {figure(high, unit)} "
        f"({highest.cell})."
    )
