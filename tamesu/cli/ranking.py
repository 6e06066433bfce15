"""The command `leaderboard`: the figures of each model x arm, on the terminal."""

from __future__ import annotations

from dataclasses import dataclass

import click

from tamesu.base.errors import InvalidDocument
from tamesu.cli.figures_json import CellJson, ComparisonJson, FigureJson, cell_json, comparison_json, figure_json
from tamesu.cli.session import chosen, emit_json, project_here, say
from tamesu.cli.tables import show_table
from tamesu.core.metrics import CellMetrics, MetricValue
from tamesu.core.planning import Grouping, Retries
from tamesu.core.report.figures import NOT_KNOWN, figure, spread
from tamesu.core.report.leaderboard import COUNTS, shown_metrics
from tamesu.core.report.summary import EvalSummary
from tamesu.core.report.text import clean
from tamesu.core.standing import Standing
from tamesu.edge.documents.reading import Shelf
from tamesu.stages.plan import digest_cache, plan_eval
from tamesu.stages.summary import summarise_eval


@dataclass(frozen=True, slots=True)
class RowJson:
    """One model x arm; `again` of the failed items are asked again."""

    cell: CellJson
    planned: int
    scored: int
    failed: int
    again: int
    owed: int
    metrics: dict[str, FigureJson]


@dataclass(frozen=True, slots=True)
class LeaderboardJson:
    """What `--json` prints of one eval.

    `recorded` is null when all answers came from live models, `policy_changed` when the policy is that of the runs.
    """

    eval: str
    standing: str
    recorded: str | None
    warnings: tuple[str, ...]
    policy_changed: str | None
    primary: str
    ranked: bool
    leader: CellJson | None
    sentence: str
    range: str | None
    limits: tuple[str, ...]
    rows: tuple[RowJson, ...]
    comparisons: tuple[ComparisonJson, ...]
    evidence: str


@dataclass(frozen=True, slots=True)
class BrokenJson:
    """An eval that does not read."""

    eval: str
    standing: str
    problem: str


@click.command(short_help="Show the figures of each model and arm.")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def leaderboard(name: str | None, as_json: bool) -> None:
    """Show the figures of each model and arm of an eval, or of all evals of the project.

    They are worked out from the evidence of now, whatever leaderboard.md says; nothing is written.
    """
    project = project_here()
    cache, shelf = digest_cache(project), Shelf()
    shown: list[LeaderboardJson | BrokenJson] = []
    for ref in chosen(project, name):
        try:
            planned = plan_eval(project, ref, Grouping.BATCHED, Retries.BOUNDED, cache, shelf)
        except InvalidDocument as error:
            shown.append(BrokenJson(str(ref), Standing.INVALID.value, str(error)))
            if not as_json:
                say(f"{ref}: {Standing.INVALID.value}: {error}")
            continue
        summary = summarise_eval(project, planned, cache)
        shown.append(_json(summary))
        if not as_json:
            _show(summary)
    cache.save()
    if as_json:
        emit_json(shown)
    if any(isinstance(one, BrokenJson) for one in shown):
        raise SystemExit(1)


def _show(summary: EvalSummary) -> None:
    say(f"{summary.ref}: {summary.status}")
    warnings = [f"Warning: {warning}" for warning in summary.warnings]
    for line in (summary.recorded, *warnings, summary.policy_changed):
        if line:
            say(f"  {clean(line)}")
    say(f"\n{summary.primary}, pooled over all items and repetitions of a row, 95 % interval")
    columns = ("model", "arm", *COUNTS, "value", "interval")
    show_table(columns, [_primary(summary, cell) for cell in summary.cells], frozenset({"model", "arm"}), keys=2)
    others = [name for name in shown_metrics(summary) if name != summary.primary]
    if others:
        rows = [row for name in others for row in _metric_rows(summary, name)]
        show_table(("metric", "row", "value", "interval", "n"), rows, frozenset({"metric", "row"}), keys=2)
    for line in (summary.leader.sentence, summary.range, *(f"- {limit}" for limit in summary.limits)):
        if line:
            say(clean(line))


def _primary(summary: EvalSummary, cell: CellMetrics) -> tuple[str, ...]:
    counts = (cell.planned, cell.complete, cell.failed, cell.owed)
    return (
        clean(cell.cell.model_label),
        clean(cell.cell.arm),
        *map(str, counts),
        *_figure(cell.value(summary.primary)),
    )


def _metric_rows(summary: EvalSummary, name: str) -> list[tuple[str, ...]]:
    """Return a metric's lines, its name in the first one only."""
    values = [(cell.cell, cell.value(name)) for cell in summary.cells]
    return [
        ("" if index else name, clean(str(cell)), *_figure(value), str(value.n))
        for index, (cell, value) in enumerate(values)
    ]


def _figure(value: MetricValue) -> tuple[str, str]:
    """Return a figure and its interval, or why one lacks."""
    if value.value is None:
        return (NOT_KNOWN, value.lacking)
    return (figure(value.value, value.unit), spread(value.interval, value.unit) if value.interval else value.lacking)


def _json(summary: EvalSummary) -> LeaderboardJson:
    leader = summary.leader.cell
    return LeaderboardJson(
        eval=str(summary.ref),
        standing=summary.status,
        recorded=summary.recorded,
        warnings=summary.warnings,
        policy_changed=summary.policy_changed,
        primary=summary.primary,
        ranked=summary.ranked,
        leader=None if leader is None else cell_json(leader),
        sentence=summary.leader.sentence,
        range=summary.range,
        limits=summary.limits,
        rows=tuple(_row_json(cell) for cell in summary.cells),
        comparisons=tuple(comparison_json(entry) for entry in summary.comparisons),
        evidence=summary.evidence,
    )


def _row_json(cell: CellMetrics) -> RowJson:
    figures = {value.name: figure_json(value) for value in cell.values}
    return RowJson(cell_json(cell.cell), cell.planned, cell.complete, cell.failed, cell.again, cell.owed, figures)
