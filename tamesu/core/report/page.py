"""The page of an evaluation: one HTML file that loads nothing and runs no script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from tamesu.core.closing import waiver_line
from tamesu.core.metrics import Cell, find_metric
from tamesu.core.metrics.cells import cell_of
from tamesu.core.metrics.definition import MetricValue
from tamesu.core.report.checks import ALL_OF_THEM, settings_text
from tamesu.core.report.comparison import Comparison
from tamesu.core.report.evaluation import MOST_FAILURES, NOT_GOOD
from tamesu.core.report.evidence import META_NAME
from tamesu.core.report.exhibits import Exhibit
from tamesu.core.report.figures import NOT_KNOWN, difference_text, figure, p_text, spread, usd
from tamesu.core.report.judges import JUDGE_COLUMNS, judge_row
from tamesu.core.report.plot import PlotRow, interval_plot
from tamesu.core.report.summary import EvalSummary, failure_reason, money_line
from tamesu.core.report.text import clean
from tamesu.core.rows import ItemRow

MOST_TILES = 240
Exhibits = Mapping[tuple[str, str], tuple[Exhibit, ...]]


@dataclass(frozen=True, slots=True)
class Tile:
    """One output in the gallery: what is shown of it, or why nothing is."""

    row: ItemRow
    exhibits: tuple[Exhibit, ...]
    remark: str


@dataclass(frozen=True, slots=True)
class Gallery:
    """The tiles by item, and how many planned outputs are left out; `wide` says that there is more than pictures."""

    items: Mapping[str, tuple[Tile, ...]]
    wide: bool
    shown: int
    left_out: int


@dataclass(frozen=True, slots=True)
class FailureLine:
    item: str
    run_id: str
    state: str
    reason: str


def evaluation_page(summary: EvalSummary, exhibits: Exhibits) -> str:
    """Return the page as HTML; `exhibits` holds what is shown of outputs, by run ID and item ID."""
    return (
        environment()
        .get_template("evaluation.html.j2")
        .render(
            summary=summary,
            meta=META_NAME,
            money=money_line(summary.balance),
            plot=primary_plot(summary),
            difference_plot=difference_plot(summary.comparisons),
            gallery=make_gallery(summary.rows, exhibits),
            failures=failure_lines(summary),
            most_failures=MOST_FAILURES,
        )
    )


def failure_lines(summary: EvalSummary) -> list[FailureLine]:
    """Return up to 200 items that failed or came with no valid output, in plan order."""
    shown = summary.failures[:MOST_FAILURES]
    return [FailureLine(row.item, row.run_id, row.state, failure_reason(row) or "") for row in shown]


def primary_plot(summary: EvalSummary) -> Markup:
    """Return the plot of the primary metric, one line per model x arm."""
    arms = list(dict.fromkeys(row.arm for row in summary.rows))
    metric = find_metric(summary.primary, summary.policy).metric
    values = [(cell.cell, cell.value(summary.primary)) for cell in summary.cells]
    rows = [
        PlotRow(str(cell), value.value, value.interval, _plot_text(value), arms.index(cell.arm))
        for cell, value in values
    ]
    label = f"{summary.primary} ({axis_unit(metric.unit)}; 95 % interval, clustered by item)"
    return interval_plot(rows, f"{summary.primary} by model and arm", label, metric.unit)


def axis_unit(unit: str) -> str:
    """Return how an axis names a unit."""
    names = {"score": "mean score", "rate": "share of items", "ms": "milliseconds", "usd": "US dollars"}
    return names.get(unit, unit)


def difference_plot(comparisons: Sequence[Comparison]) -> Markup | None:
    """Return the plot of paired differences, or None when there is nothing to compare."""
    if not comparisons:
        return None
    rows = []
    for entry in comparisons:
        paired = entry.difference
        text = NOT_KNOWN if paired is None else f"{_difference(entry)}  n={paired.items}"
        value, interval = (paired.value, paired.interval) if paired else (None, None)
        rows.append(PlotRow(entry.label, value, interval, text, 0 if entry.factor == "arm" else 1))
    label = "paired difference, first − second (95 % interval over shared items)"
    return interval_plot(rows, "Paired differences", label, comparisons[0].unit, reference=True)


def make_gallery(rows: Sequence[ItemRow], exhibits: Exhibits) -> Gallery | None:
    """Return up to 240 planned outputs grouped by item, or None when nothing of any is shown."""
    if not exhibits:
        return None
    groups: dict[str, list[ItemRow]] = {}
    for row in rows:
        groups.setdefault(row.item, []).append(row)
    ordered = [row for group in groups.values() for row in group]
    items: dict[str, list[Tile]] = {}
    for row in ordered[:MOST_TILES]:
        items.setdefault(row.item, []).append(_tile(row, exhibits.get((row.run_id, row.item), ())))
    shown = min(len(ordered), MOST_TILES)
    wide = any(exhibit.kind != "image" for some in exhibits.values() for exhibit in some)
    return Gallery({item: tuple(tiles) for item, tiles in items.items()}, wide, shown, len(ordered) - shown)


def breakable(name: str) -> Markup:
    """Return a name that may break after an underscore or colon and nowhere else."""
    escaped = str(escape(clean(name)))
    return Markup(escaped.replace("_", "_<wbr>").replace(":", ":<wbr>"))


def commands(text: str) -> Markup:
    """Return a text in which what stands between backquotes is shown as a command."""
    parts = clean(text).split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(one) if at % 2 else escape(one) for at, one in enumerate(parts)
    )


def _tile(row: ItemRow, exhibits: tuple[Exhibit, ...]) -> Tile:
    if row.state != "complete":
        return Tile(row, exhibits, row.error_type or row.state)
    return Tile(row, exhibits, row.outcome_reason or "nothing to show")


def _plot_text(value: MetricValue) -> str:
    if value.value is None:
        return NOT_KNOWN
    return f"{figure(value.value, value.unit)}  n={value.n}"


def _difference(entry: Comparison) -> str:
    if entry.difference is None or entry.difference.value is None:
        return NOT_KNOWN
    return difference_text(entry.difference, entry.unit).partition(" ")[0]


@cache
def environment() -> Environment:
    """Return the templates, escaping all text, with undefined names as errors."""
    environment = Environment(
        loader=PackageLoader("tamesu.core.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_harmless,
    )
    environment.filters.update(
        cell_of=cell_of,
        difference=difference_text,
        figure=figure,
        spread=spread,
        usd=usd,
        breakable=breakable,
        p_value=p_text,
        waived=waiver_line,
        block=Markup.escape,
        commands=commands,
        judge_row=judge_row,
        settings=settings_text,
    )
    environment.globals["judge_columns"] = JUDGE_COLUMNS
    environment.globals["all_of_them"] = ALL_OF_THEM
    environment.globals["not_good"] = NOT_GOOD
    return environment


def _harmless(value: object) -> object:
    return value if isinstance(value, Markup) or not isinstance(value, str | Cell) else clean(str(value))
