"""evaluation-report.md: the figures with everything needed to judge them."""

from __future__ import annotations

from collections.abc import Iterable

from tamesu.core.report.comparison import Comparison
from tamesu.core.report.evidence import evidence_line
from tamesu.core.report.figures import difference_text, usd
from tamesu.core.report.judges import judges_section
from tamesu.core.report.leaderboard import results_table
from tamesu.core.report.summary import EvalSummary, failure_reason, money_line
from tamesu.core.report.text import markdown, table

MOST_FAILURES = 200


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
    yield f"## Delivery\n\n{results_table(summary, summary.delivery)}"
    if summary.comparisons:
        yield f"## Comparisons by {markdown(summary.primary)}\n\n{_comparisons(summary)}"
    yield from judges_section(summary)
    yield f"## Runs\n\n{_runs(summary)}"
    yield f"## Cost\n\n{markdown(money_line(summary.balance))}\n"
    if summary.failures:
        yield f"## Failures\n\n{_failures(summary)}"
    if summary.found:
        yield f"## Runs on disk that are not counted\n\n{_found(summary)}"
    yield f"## Metrics\n\n{_definitions(summary)}"
    yield "## Notes\n\n" + "\n".join(f"- {markdown(note)}" for note in summary.notes) + "\n"


def _comparisons(summary: EvalSummary) -> str:
    header = ("first − second", "difference", "items", "differ", "first higher", "second higher", "remark")
    return table(header, (_comparison(entry) for entry in summary.comparisons), range(1, 6))


def _comparison(entry: Comparison) -> tuple[str, ...]:
    paired = entry.difference
    if paired is None:
        return (entry.label, "not known", "", "", "", "", entry.note)
    numbers = (paired.items, paired.differing, paired.higher, paired.lower)
    return (entry.label, difference_text(paired, entry.unit), *map(str, numbers), entry.note)


def _runs(summary: EvalSummary) -> str:
    rows = (
        (run.run_id, str(run.state), str(run.planned), str(run.complete), str(run.failed), str(run.owed))
        for run in summary.runs
    )
    return table(("run", "state", "planned", "complete", "failed", "owed"), rows, range(2, 6))


def _failures(summary: EvalSummary) -> str:
    shown = summary.failures[:MOST_FAILURES]
    rows = ((row.item, row.run_id, failure_reason(row) or "") for row in shown)
    left = len(summary.failures) - len(shown)
    more = f"\n{left} more in tables/items.csv.\n" if left else ""
    return table(("item", "run", "reason"), rows) + more


def _definitions(summary: EvalSummary) -> str:
    return table(("metric", "meaning"), ((entry.name, entry.summary) for entry in summary.definitions))


def _found(summary: EvalSummary) -> str:
    rows = ((run.run_id, run.kind, "; ".join(run.causes), usd(run.redo_usd)) for run in summary.found)
    return table(("run", "kind", "cause", "USD to redo"), rows, (3,))
