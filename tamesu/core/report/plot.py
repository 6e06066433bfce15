"""Interval plots as inline SVG: one row per entry, a mark for the value, a bar for its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from markupsafe import Markup, escape

from tamesu.core.metrics.definition import Unit
from tamesu.core.report.figures import figure
from tamesu.core.report.text import clean
from tamesu.core.stats import Interval

WIDTH, ROW, TOP, BOTTOM = 980, 30, 10, 46
LEFT, RIGHT = 350, 800
SHAPES = 4
LONGEST_LABEL = 44
_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class PlotRow:
    """One line of a plot; `series` picks colour and shape, `text` stands at the right."""

    label: str
    value: float | None
    interval: Interval | None
    text: str
    series: int = 0


@dataclass(frozen=True, slots=True)
class Axis:
    """Where a plot begins and ends in its unit, and its ticks."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def x(self, value: float) -> float:
        return LEFT + (RIGHT - LEFT) * (value - self.low) / (self.high - self.low)


def interval_plot(rows: Sequence[PlotRow], title: str, label: str, unit: Unit, reference: bool = False) -> Markup:
    """Return the SVG of intervals in a unit; `reference` draws the line of no difference at 0."""
    axis = make_axis(rows, unit, reference)
    bottom = TOP + ROW * len(rows)
    height = bottom + BOTTOM
    parts = [
        Markup('<svg class="plot" viewBox="0 0 {} {}" role="img" aria-label="{}">').format(WIDTH, height, clean(title)),
        *(_tick(axis, tick, bottom, unit) for tick in axis.ticks),
    ]
    if reference:
        parts.append(_line("zero", axis.x(0), TOP, axis.x(0), bottom))
    parts += [_row(axis, row, TOP + ROW * index + ROW / 2) for index, row in enumerate(rows)]
    parts.append(_text("axis", (LEFT + RIGHT) / 2, height - 6, "middle", label))
    return Markup("\n").join((*parts, Markup("</svg>")))


def make_axis(rows: Sequence[PlotRow], unit: Unit, reference: bool = False) -> Axis:
    """Return an axis that holds every value and interval: 0 to 1 for scores and rates inside that."""
    ends = [row.value for row in rows if row.value is not None]
    ends += [end for row in rows if row.interval for end in (row.interval.low, row.interval.high)]
    ends += [0.0] if reference or not ends else []
    low, high = min(ends), max(ends)
    if unit in {"score", "rate"} and not reference and low >= 0 and high <= 1:
        return Axis(0.0, 1.0, (0.0, 0.2, 0.4, 0.6, 0.8, 1.0))
    if high - low < _TINY:
        low, high = low - 0.5, high + 0.5
    step = _step(high - low)
    first, last = floor(low / step + _TINY), ceil(high / step - _TINY)
    return Axis(first * step, last * step, tuple(number * step for number in range(first, last + 1)))


def _step(width: float) -> float:
    """Return the round step (1, 2 or 5 times a power of ten) that gives about five ticks."""
    power = float(10 ** floor(log10(width / 5)))
    return next(power * factor for factor in (1, 2, 5, 10) if width / (power * factor) <= 6)


def _tick(axis: Axis, tick: float, bottom: float, unit: Unit) -> Markup:
    x = axis.x(tick)
    shown = f"{round(tick, 9):g}" if unit != "usd" else figure(tick, unit)
    return _line("grid", x, TOP, x, bottom) + _text("tick", x, bottom + 17, "middle", shown)


def _row(axis: Axis, row: PlotRow, y: float) -> Markup:
    series = f"series{row.series % SHAPES}"
    parts = [
        _text("label", LEFT - 16, y + 4.5, "end", row.label, LONGEST_LABEL),
        _text("value", RIGHT + 16, y + 4.5, "start", row.text),
    ]
    if row.interval:
        low, high = axis.x(row.interval.low), axis.x(row.interval.high)
        parts.append(_line(f"bar {series}", low, y, high, y))
        parts += [_line(f"cap {series}", x, y - 5, x, y + 5) for x in (low, high)]
    if row.value is not None:
        parts.append(_mark(series, row.series % SHAPES, axis.x(row.value), y))
    return Markup("").join(parts)


def _mark(series: str, shape: int, x: float, y: float) -> Markup:
    """Return a circle, square, diamond or triangle, so that colour is never the only difference."""
    outlines = ("", "-5,-5 5,-5 5,5 -5,5", "0,-7 7,0 0,7 -7,0", "0,-6.5 6.5,5 -6.5,5")
    if shape == 0:
        return Markup('<circle class="mark {}" cx="{}" cy="{}" r="5.5"/>').format(series, _at(x), _at(y))
    return Markup('<polygon class="mark {}" points="{}" transform="translate({} {})"/>').format(
        series, outlines[shape], _at(x), _at(y)
    )


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> Markup:
    return Markup('<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(kind, _at(x1), _at(y1), _at(x2), _at(y2))


def _text(kind: str, x: float, y: float, anchor: str, text: str, longest: int = 100) -> Markup:
    whole = clean(text)
    half = longest // 2
    shown = whole if len(whole) <= longest else f"{whole[: half - 1]}…{whole[-half:]}"
    title = Markup("<title>{}</title>").format(whole) if shown != whole else Markup("")
    return Markup('<text class="{}" x="{}" y="{}" text-anchor="{}">{}{}</text>').format(
        kind, _at(x), _at(y), anchor, title, escape(shown)
    )


def _at(position: float) -> str:
    return f"{position:.1f}".removesuffix(".0")
