"""What `tamesu run` prints at its end: the table, what is missing, and where the files are."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from tamesu.base.model.manifest import EvalRef
from tamesu.cli.session import say
from tamesu.core.metrics.definition import MetricValue
from tamesu.core.planning import Grouping, Retries
from tamesu.core.report.figures import figure, with_interval
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
    """One row per model x arm: counts, the primary metric with its interval, the others as plain figures."""
    policy = summary.policy
    table = Table(title=f"{summary.ref}: {summary.status}", title_justify="left", title_style="bold")
    table.add_column("model", overflow="fold")
    table.add_column("arm", overflow="fold")
    table.add_column("complete", justify="right")
    for name in (policy.primary_metric, *policy.secondary_metrics):
        table.add_column(name.replace(":", ":\n"), justify="right", overflow="fold")
    for cell in summary.cells:
        primary = cell.value(policy.primary_metric)
        others = [_short(cell.value(name)) for name in policy.secondary_metrics]
        done = f"{cell.complete}/{cell.planned}"
        table.add_row(cell.cell.model, cell.cell.arm, done, _with_interval(primary), *others)
    Console().print(table)
    say(summary.leader.sentence)
    if summary.recorded:
        say(summary.recorded)


def _short(value: MetricValue) -> str:
    return "owed" if value.value is None else figure(value.value, value.unit)


def _with_interval(value: MetricValue) -> str:
    if value.value is None:
        return "owed"
    return with_interval(value.value, value.interval, value.unit)
