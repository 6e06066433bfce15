"""What `tamesu run` prints at its end: the table, what is missing, and where the files are."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from tamesu.base.model.manifest import EvalRef
from tamesu.cli.session import say
from tamesu.core.planning import Grouping, Retries
from tamesu.core.report.figures import metric_text
from tamesu.core.report.summary import EvalSummary
from tamesu.edge.store.paths import Project
from tamesu.stages.plan import digest_cache, plan_eval
from tamesu.stages.summary import summarise_eval
from tamesu.stages.workflow import slot_line


def show_outcome(project: Project, refs: Sequence[EvalRef]) -> bool:
    """Print where each eval stands now; return whether a run is not banked."""
    cache = digest_cache(project)
    incomplete = False
    for ref in refs:
        planned = plan_eval(project, ref, Grouping.BATCHED, Retries.BOUNDED, cache)
        summary = summarise_eval(project, planned, cache)
        _show_table(summary)
        for slot in planned.plan.incomplete:
            incomplete = True
            say(f"not banked: {slot_line(slot)}")
        paths = project.eval(ref)
        for path in (paths.report, paths.leaderboard, paths.items_csv, project.page(ref)):
            say(f"  {project.relative(path)}")
    cache.save()
    return incomplete


def _show_table(summary: EvalSummary) -> None:
    table = Table(title=f"{summary.ref}: {summary.status}", title_justify="left", title_style="bold")
    for column in ("model", "arm", "planned", "complete", "failed", *summary.headline):
        table.add_column(column, justify="left" if column in {"model", "arm"} else "right")
    for cell in summary.cells:
        counts = (cell.planned, cell.complete, cell.failed)
        figures = [metric_text(cell.value(name)) for name in summary.headline]
        table.add_row(cell.cell.model, cell.cell.arm, *map(str, counts), *figures)
    Console().print(table)
    if summary.recorded:
        say(summary.recorded)
