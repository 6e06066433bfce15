"""What `tamesu run` prints at its end: the table, what is missing, and where the files are."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from tamesu.base.model.manifest import EvalRef
from tamesu.cli.plan_text import found_lines
from tamesu.cli.session import say
from tamesu.core.metrics.definition import MetricValue
from tamesu.core.planning import Grouping, Retries
from tamesu.core.report.figures import figure, with_interval
from tamesu.core.report.summary import EvalSummary
from tamesu.edge.store.paths import Project
from tamesu.stages.plan import digest_cache, plan_eval
from tamesu.stages.summary import summarise_eval
from tamesu.stages.workflow import slot_line


def show_outcome(project: Project, refs: Sequence[EvalRef], worked: Collection[str] = ()) -> bool:
    """Print where each eval stands now; return whether a run is not banked.

    `worked` are the runs of this invocation: what was edited meanwhile made them stale, which is told.
    """
    cache = digest_cache(project)
    incomplete = False
    for ref in refs:
        planned = plan_eval(project, ref, Grouping.BATCHED, Retries.BOUNDED, cache)
        summary = summarise_eval(project, planned, cache)
        _show_table(summary)
        for line in found_lines([found for found in planned.plan.found if found.run_id in worked]):
            say(f"edited meanwhile: this invocation measured the frozen copy; {line}")
        for slot in planned.plan.incomplete:
            incomplete = True
            say(f"not banked: {slot_line(slot)}")
        paths = project.eval(ref)
        for path in (paths.report, paths.leaderboard, paths.items_csv, project.page(ref)):
            if path.exists():
                say(f"  {project.relative(path)}")
    cache.save()
    return incomplete


def _show_table(summary: EvalSummary) -> None:
    """Print the primary metric with its interval, then the others, narrow enough for 80 columns."""
    policy = summary.policy
    say(f"{summary.ref}: {summary.status}")
    primary = _table("complete", policy.primary_metric)
    others = _table(*policy.secondary_metrics)
    for cell in summary.cells:
        label = (cell.cell.model, cell.cell.arm)
        done = f"{cell.complete}/{cell.planned}"
        primary.add_row(*label, done, _with_interval(cell.value(policy.primary_metric)))
        others.add_row(*label, *(_short(cell.value(name)) for name in policy.secondary_metrics))
    console = Console()
    console.print(primary)
    if policy.secondary_metrics:
        console.print(others)
    say(summary.leader.sentence)
    if summary.recorded:
        say(summary.recorded)
    for warning in summary.warnings:
        say(f"warning: {warning}")


def _table(*figures: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("model", overflow="fold")
    table.add_column("arm", overflow="fold")
    for name in figures:
        table.add_column(_folded(name), justify="right", overflow="fold")
    return table


def _folded(name: str) -> str:
    """Break a metric's name where a reader would."""
    name = name.replace(":", ":\n")
    head, joint, tail = name.rpartition("_")
    return name if len(name) <= 12 or "\n" in name or not joint else f"{head}_\n{tail}"


def _short(value: MetricValue) -> str:
    return "owed" if value.value is None else figure(value.value, value.unit)


def _with_interval(value: MetricValue) -> str:
    if value.value is None:
        return "owed"
    return with_interval(value.value, value.interval, value.unit)
