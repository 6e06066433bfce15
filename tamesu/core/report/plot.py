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

SHAPES = 4
TOP, BOTTOM = 10, 46
_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class Frame:
    """The measures of a plot in pixels: its width, the ends of the axis, the height of a row, characters of a label.

    `over` says that label and value stand over the bar, not beside it, so that a narrow screen can show them.
    """

    width: int
    left: int
    right: int
    row: int
    longest_label: int
    over: bool
    name: str


WIDE = Frame(980, 350, 800, 30, 44, False, "wide")
NARROW = Frame(340, 12, 328, 52, 46, True, "narrow")


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

    def x(self, value: float, frame: Frame = WIDE) -> float:
        return frame.left + (frame.right - frame.left) * (value - self.low) / (self.high - self.low)


def interval_plot(rows: Sequence[PlotRow], title: str, label: str, unit: Unit, reference: bool = False) -> Markup:
    """Return the SVGs of intervals in a unit, one for wide screens and one for narrow ones.

    `reference` draws the line of no difference at 0.
    """
    axis = make_axis(rows, unit, reference)
    return Markup("\n").join(_plot(axis, frame, rows, title, label, unit, reference) for frame in (WIDE, NARROW))


def _plot(
    axis: Axis, frame: Frame, rows: Sequence[PlotRow], title: str, label: str, unit: Unit, reference: bool
) -> Markup:
    bottom = TOP + frame.row * len(rows)
    height = bottom + BOTTOM
    head = Markup('<svg class="plot {}" viewBox="0 0 {} {}" role="img" aria-label="{}">')
    parts = [
        head.format(frame.name, frame.width, height, clean(title)),
        *(_tick(axis, frame, tick, bottom, unit) for tick in _ticks(axis, frame)),
    ]
    if reference:
        zero = axis.x(0, frame)
        parts.append(_line("zero", zero, TOP, zero, bottom))
    parts += [_row(axis, frame, row, TOP + frame.row * index) for index, row in enumerate(rows)]
    parts.append(_text("axis", (frame.left + frame.right) / 2, height - 6, "middle", label if frame is WIDE else ""))
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


def _ticks(axis: Axis, frame: Frame) -> tuple[float, ...]:
    """Return the ticks that have room: every second one where a screen is narrow, 0 among them if it is one."""
    if not frame.over or len(axis.ticks) < 5:
        return axis.ticks
    zero = next((at for at, tick in enumerate(axis.ticks) if abs(tick) < _TINY), 0)
    return axis.ticks[zero % 2 :: 2]


def _tick(axis: Axis, frame: Frame, tick: float, bottom: float, unit: Unit) -> Markup:
    x = axis.x(tick, frame)
    shown = f"{round(tick, 9):g}" if unit != "usd" else figure(tick, unit)
    return _line("grid", x, TOP, x, bottom) + _text("tick", x, bottom + 17, "middle", shown)


def _row(axis: Axis, frame: Frame, row: PlotRow, top: float) -> Markup:
    series = f"series{row.series % SHAPES}"
    y = top + (frame.row - 12 if frame.over else frame.row / 2)
    parts = [*_words(frame, row, top, y)]
    if row.interval:
        low, high = axis.x(row.interval.low, frame), axis.x(row.interval.high, frame)
        parts.append(_line(f"bar {series}", low, y, high, y))
        parts += [_line(f"cap {series}", x, y - 5, x, y + 5) for x in (low, high)]
    if row.value is not None:
        parts.append(_mark(series, row.series % SHAPES, axis.x(row.value, frame), y))
    return Markup("").join(parts)


def _words(frame: Frame, row: PlotRow, top: float, y: float) -> tuple[Markup, Markup]:
    if frame.over:
        return (
            _text("label", frame.left, top + 12, "start", row.label, frame.longest_label),
            _text("value", frame.left, top + 26, "start", row.text),
        )
    return (
        _text("label", frame.left - 16, y + 4.5, "end", row.label, frame.longest_label),
        _text("value", frame.right + 16, y + 4.5, "start", row.text),
    )


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
