"""The section of evaluation-report.md on model judges."""

from __future__ import annotations

from collections.abc import Iterable

from tamesu.core.judging.figures import JudgeFigures
from tamesu.core.report.figures import agreement_text, usd
from tamesu.core.report.summary import EvalSummary, money_line
from tamesu.core.report.text import markdown, table

JUDGE_COLUMNS = (
    "judge", "role", "model", "outputs", "verdicts", "pass", "owed", "no verdict", "USD", "same as people",
)  # fmt: skip


def judges_section(summary: EvalSummary) -> Iterable[str]:
    """Yield the section; nothing where no judge is declared."""
    if not summary.judges:
        return
    yield f"## Judges\n\n{table(JUDGE_COLUMNS, map(judge_row, summary.judges), range(3, 7))}"
    recorded = [one.judge for one in summary.judges if one.recorded]
    if recorded:
        yield f"> **Recorded verdicts**: {markdown(', '.join(recorded))} replayed recordings, no model was asked.\n"
    if summary.judge_balance is not None and any(not one.recorded for one in summary.judges):
        yield f"Judges, by their own ledger: {markdown(money_line(summary.judge_balance))}\n"


def judge_row(one: JudgeFigures) -> tuple[str, ...]:
    """Return what stands of a judge in each of its columns."""
    failures = ", ".join(f"{count} {kind}" for kind, count in one.failures.items()) or "none"
    return (
        one.judge,
        one.role,
        f"{one.provider}/{one.model}" + (" (recorded)" if one.recorded else ""),
        str(one.asked),
        str(one.verdicts),
        str(one.passes),
        str(one.owed),
        failures,
        usd(one.spent_usd) + (f" + up to {usd(one.lost_usd)}" if one.lost_usd else ""),
        agreement_text(one.agreement),
    )
