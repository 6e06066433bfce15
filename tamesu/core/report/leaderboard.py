"""leaderboard.md: one row per model x arm."""

from __future__ import annotations

from tamesu.core.report.evidence import evidence_line
from tamesu.core.report.figures import metric_text
from tamesu.core.report.summary import EvalSummary
from tamesu.core.report.text import markdown, table

COUNTS = ("planned", "complete", "failed", "owed")
POOLED = "Each row pools all its items and repetitions (micro average); n is what a figure was divided by."


def leaderboard_markdown(summary: EvalSummary) -> str:
    """Return leaderboard.md; its last line names the evidence."""
    parts = [
        f"# Leaderboard: {markdown(summary.name)}\n",
        f"{markdown(str(summary.ref))}: {markdown(summary.status)}\n",
    ]
    if summary.recorded:
        parts.append(f"> **{markdown(summary.recorded)}**\n")
    parts += [f"> **Warning**: {markdown(warning)}\n" for warning in summary.warnings]
    if summary.policy_changed:
        parts.append(f"{markdown(summary.policy_changed)}\n")
    order = "from best to worst" if summary.ranked else "in the order of the plan, not ranked"
    parts += [
        f"{markdown(summary.leader.sentence)}\n",
        results_table(summary, shown_metrics(summary)),
        f"Rows stand {order} by {markdown(summary.primary)}. {POOLED} Intervals are 95 %, clustered by item.\n",
        *(f"{markdown(line)}\n" for line in [summary.range] if line),
        "## Limits\n\n" + "\n".join(f"- {markdown(limit)}" for limit in summary.limits) + "\n",
        evidence_line(summary.evidence),
    ]
    return "\n".join(parts) + "\n"


def shown_metrics(summary: EvalSummary) -> tuple[str, ...]:
    """Return the metrics of the ranking; how often something was asked is none of them and stands in the report."""
    return tuple(name for name in summary.headline if not name.startswith("mean_score_first_attempt"))


def results_table(summary: EvalSummary, names: tuple[str, ...]) -> str:
    """Return the Markdown table of the named metrics, counts beside them."""
    rows = [
        (
            cell.cell.model_label,
            cell.cell.arm,
            *(str(number) for number in (cell.planned, cell.complete, cell.failed, cell.owed)),
            *(metric_text(cell.value(name)) for name in names),
        )
        for cell in summary.cells
    ]
    header = ("model", "arm", *COUNTS, *names)
    return table(header, rows, range(2, len(header)))
