"""evaluation-report.md: the figures with everything needed to judge them."""

from __future__ import annotations

from collections.abc import Iterable

from tamesu.core.metrics import Cell
from tamesu.core.report.checks import scorers_section
from tamesu.core.report.comparison import Comparison
from tamesu.core.report.evidence import evidence_line
from tamesu.core.report.fields import fields_section
from tamesu.core.report.figures import difference_text, metric_text, p_text, usd
from tamesu.core.report.judges import judges_section
from tamesu.core.report.leaderboard import POOLED, results_table
from tamesu.core.report.summary import EvalSummary, RunLine, failure_reason, money_line
from tamesu.core.report.text import markdown, table

MOST_FAILURES = 200
NOT_GOOD = "Failed items and outputs that are not valid"


def evaluation_markdown(summary: EvalSummary) -> str:
    """Return evaluation-report.md; its last line names the evidence."""
    return "\n".join((*_sections(summary), evidence_line(summary.evidence))) + "\n"


def _sections(summary: EvalSummary) -> Iterable[str]:
    yield f"# {markdown(summary.name)}\n"
    yield f"{markdown(str(summary.ref))}: {markdown(summary.status)}\n"
    if summary.recorded:
        yield f"> **{markdown(summary.recorded)}**\n"
    yield from (f"> **Warning**: {markdown(warning)}\n" for warning in summary.warnings)
    for text in (summary.question, summary.description):
        if text.strip():
            yield f"{markdown(text)}\n"
    yield f"## Results\n\n{markdown(summary.leader.sentence)}\n"
    yield results_table(summary, summary.headline)
    yield from (f"{markdown(line)}\n" for line in (POOLED, summary.range) if line)
    yield f"## Delivery\n\n{results_table(summary, summary.delivery)}"
    if summary.comparisons:
        yield f"## Comparisons by {markdown(summary.primary)}\n\n{_comparisons(summary)}"
    yield from fields_section(summary)
    yield from judges_section(summary)
    yield from scorers_section(summary.policy)
    yield "## Limits\n\n" + "\n".join(f"- {markdown(limit)}" for limit in summary.limits) + "\n"
    yield f"## Runs\n\n{_runs(summary)}"
    yield f"## Cost\n\n{markdown(money_line(summary.balance))}\n"
    if summary.failures:
        yield f"## {NOT_GOOD}\n\n{_failures(summary)}"
    if summary.found:
        yield f"## Runs on disk that are not counted\n\n{_found(summary)}"
    yield f"## Metrics\n\n{_definitions(summary)}"
    yield "## Notes\n\n" + "\n".join(f"- {markdown(note)}" for note in summary.notes) + "\n"


def _comparisons(summary: EvalSummary) -> str:
    tested = sum(entry.adjusted_p is not None for entry in summary.comparisons)
    p = "p" if tested < 2 else f"p (Holm, {tested})"
    header = ("first − second", "difference", p, "items", "differ", "first higher", "second higher", "remark")
    return table(header, (_comparison(entry) for entry in summary.comparisons), range(1, 7))


def _comparison(entry: Comparison) -> tuple[str, ...]:
    paired = entry.difference
    if paired is None:
        return (entry.label, "not known", "", "", "", "", "", entry.remark)
    p = "" if entry.adjusted_p is None else p_text(entry.adjusted_p)
    numbers = (paired.items, paired.differing, paired.higher, paired.lower)
    remark = "; ".join(part for part in ("clear" if entry.clear else "not clear", entry.remark) if part)
    return (entry.label, difference_text(paired, entry.unit), p, *map(str, numbers), remark)


def _runs(summary: EvalSummary) -> str:
    """Return one line per run, and below the runs of a model x arm what they are pooled."""
    header = ("run", "state", "planned", "complete", "failed", "owed", summary.primary)
    return table(header, _run_rows(summary), range(2, len(header)))


def _run_rows(summary: EvalSummary) -> Iterable[tuple[str, ...]]:
    cells: dict[Cell | None, list[RunLine]] = {}
    for run in summary.runs:
        cells.setdefault(run.cell, []).append(run)
    for cell, runs in cells.items():
        for run in runs:
            counts = (run.planned, run.complete, run.failed, run.owed)
            yield (run.run_id, str(run.state), *map(str, counts), metric_text(run.primary))
        if cell is not None and len(runs) > 1:
            pooled = next(one for one in summary.cells if one.cell == cell)
            counts = (pooled.planned, pooled.complete, pooled.failed, pooled.owed)
            value = metric_text(pooled.value(summary.primary))
            yield (f"{cell}: {len(runs)} runs pooled", "", *map(str, counts), value)


def _failures(summary: EvalSummary) -> str:
    shown = summary.failures[:MOST_FAILURES]
    rows = ((row.item, row.run_id, row.state, failure_reason(row) or "") for row in shown)
    left = len(summary.failures) - len(shown)
    more = f"\n{left} more in tables/items.csv.\n" if left else ""
    return table(("item", "run", "state", "reason"), rows) + more


def _definitions(summary: EvalSummary) -> str:
    return table(("metric", "meaning"), ((entry.name, entry.summary) for entry in summary.definitions))


def _found(summary: EvalSummary) -> str:
    rows = ((run.run_id, run.kind, "; ".join(run.causes), usd(run.redo_usd)) for run in summary.found)
    return table(("run", "kind", "cause", "USD to redo"), rows, (3,))
