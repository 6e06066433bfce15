"""What `tamesu run` prints at its end: the table, what is missing, and where the files are."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from tamesu.base.model.judging import JudgePlan
from tamesu.base.model.manifest import EvalRef
from tamesu.cli.judge_text import owed_lines
from tamesu.cli.plan_text import found_lines
from tamesu.cli.review_text import review_lines
from tamesu.cli.session import say
from tamesu.core.metrics.definition import MetricValue
from tamesu.core.planning import Grouping, Retries
from tamesu.core.report.figures import NOT_KNOWN, figure, with_interval
from tamesu.core.report.summary import EvalSummary
from tamesu.core.report.text import visible
from tamesu.edge.store.paths import Project
from tamesu.stages.judge_plan import plan_judges
from tamesu.stages.plan import Planned, digest_cache, plan_eval
from tamesu.stages.summary import summarise_eval
from tamesu.stages.workflow import slot_line

_OWED = re.compile(r"\bowed\b")


@dataclass(frozen=True, slots=True)
class EvalOutcome:
    """Where an eval stands now; `files` are its views, as POSIX paths relative to the project.

    `edited` are lines about runs of this invocation that an edit made stale meanwhile.
    """

    planned: Planned
    summary: EvalSummary
    files: tuple[str, ...]
    edited: tuple[str, ...] = ()
    judging: JudgePlan | None = None

    @property
    def incomplete(self) -> bool:
        """Whether a run is not banked."""
        return bool(self.planned.plan.incomplete)


def outcomes(project: Project, refs: Sequence[EvalRef], worked: Collection[str] = ()) -> tuple[EvalOutcome, ...]:
    """Return where each eval stands now; `worked` are the runs of this invocation."""
    cache = digest_cache(project)
    found = []
    for ref in refs:
        planned = plan_eval(project, ref, Grouping.BATCHED, Retries.BOUNDED, cache)
        edited = tuple(found_lines([one for one in planned.plan.found if one.run_id in worked]))
        paths = project.eval(ref)
        views = (paths.report, paths.leaderboard, paths.items_csv, project.page(ref))
        files = tuple(project.relative(path) for path in views if path.exists())
        summary = summarise_eval(project, planned, cache)
        found.append(EvalOutcome(planned, summary, files, edited, plan_judges(project, planned, cache).plan))
    cache.save()
    return tuple(found)


def show_outcome(found: Sequence[EvalOutcome]) -> None:
    """Print where each eval stands now, what is not banked, and where the files are."""
    for one in found:
        _show_table(one.summary)
        for line in one.edited:
            say(f"edited meanwhile: this invocation measured the frozen copy; {line}")
        for slot in one.planned.plan.incomplete:
            say(f"not banked: {slot_line(slot)}")
        for line in owed_lines(one.summary.ref, one.judging):
            say(line)
        # of runs that are owed the reviews are owed as well, which nobody can give yet
        for line in () if one.incomplete else review_lines(one.summary.ref, one.summary.rows):
            say(line)
        for file in one.files:
            say(f"  {file}")
    for case in dict.fromkeys(one.summary.ref.case for one in found):
        say(f"next: `tamesu show {case}`")


def _show_table(summary: EvalSummary) -> None:
    """Print the primary metric with its interval, then the others, narrow enough for 80 columns."""
    policy = summary.policy
    say(f"{summary.ref}: {summary.status}")
    primary = _table("complete", policy.primary_metric)
    others = _table(*policy.secondary_metrics)
    for cell in summary.cells:
        label = (visible(cell.cell.model), visible(cell.cell.arm))
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
    if summary.policy_changed:
        say(summary.policy_changed)


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
    return _unknown(value) if value.value is None else figure(value.value, value.unit)


def _unknown(value: MetricValue) -> str:
    """Return the word for a figure that is not there: what is owed may still come, other things never do."""
    return "owed" if _OWED.search(value.lacking) else NOT_KNOWN


def _with_interval(value: MetricValue) -> str:
    if value.value is None:
        return _unknown(value)
    return with_interval(value.value, value.interval, value.unit)
