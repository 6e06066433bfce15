"""Figures and comparisons as `--json` prints them: numbers unrounded, null for what is not known."""

from __future__ import annotations

from dataclasses import dataclass

from tamesu.core.metrics import Cell, MetricValue
from tamesu.core.report.comparison import Comparison
from tamesu.core.stats import Interval


@dataclass(frozen=True, slots=True)
class CellJson:
    provider: str
    model: str
    arm: str


@dataclass(frozen=True, slots=True)
class FigureJson:
    """A metric of one row; `lacking` says why a value or an interval is null."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    unit: str
    provisional: bool
    lacking: str


@dataclass(frozen=True, slots=True)
class ComparisonJson:
    """first - second; `p_adjusted` holds for all `family` comparisons together, `clear` is decided by it."""

    factor: str
    first: CellJson
    second: CellJson
    unit: str
    difference: float | None
    low: float | None
    high: float | None
    items: int
    first_higher: int
    second_higher: int
    p: float | None
    p_adjusted: float | None
    family: int
    clear: bool
    detectable: float | None
    remark: str


def cell_json(cell: Cell) -> CellJson:
    """Return the three names of a cell."""
    return CellJson(cell.provider, cell.model, cell.arm)


def figure_json(value: MetricValue) -> FigureJson:
    """Return a metric with its interval."""
    low, high = _ends(value.interval)
    return FigureJson(value.value, low, high, value.n, value.unit, value.provisional, value.lacking)


def comparison_json(entry: Comparison) -> ComparisonJson:
    """Return a comparison with all that was tested."""
    paired = entry.difference
    low, high = _ends(paired.interval if paired else None)
    return ComparisonJson(
        factor=entry.factor,
        first=cell_json(entry.first),
        second=cell_json(entry.second),
        unit=entry.unit,
        difference=paired.value if paired else None,
        low=low,
        high=high,
        items=paired.items if paired else 0,
        first_higher=paired.higher if paired else 0,
        second_higher=paired.lower if paired else 0,
        p=paired.p_value if paired else None,
        p_adjusted=entry.adjusted_p,
        family=entry.family,
        clear=entry.clear,
        detectable=paired.detectable if paired else None,
        remark=entry.remark,
    )


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.low, interval.high)
