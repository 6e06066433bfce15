"""What `tamesu run` prints at its end: the table, what is missing, and where the files are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tamesu.base.model.judging import JudgePlan
from tamesu.base.model.manifest import EvalRef
from tamesu.cli.judge_text import owed_lines
from tamesu.cli.plan_text import found_lines
from tamesu.cli.review_text import review_lines
from tamesu.cli.session import say
from tamesu.cli.tables import show_table
from tamesu.core.metrics import CellMetrics
from tamesu.core.planning import Grouping, Retries
from tamesu.core.report.figures import NOT_KNOWN, figure, with_interval
from tamesu.core.report.summary import EvalSummary
from tamesu.core.report.text import visible
from tamesu.edge.store.paths import Project
from tamesu.stages.judge_plan import plan_judges
from tamesu.stages.plan import Planned, digest_cache, plan_eval
from tamesu.stages.summary import summarise_eval
from tamesu.stages.workflow import slot_line

_LABELS = ("model", "arm")


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
    """Print the primary metric with its interval, then the others, as wide as the terminal."""
    policy = summary.policy
    say(f"{summary.ref}: {summary.status}")
    names = [(visible(cell.cell.model), visible(cell.cell.arm)) for cell in summary.cells]
    done = [
        (*name, f"{cell.complete}/{cell.planned}", _with_interval(cell, policy.primary_metric))
        for name, cell in zip(names, summary.cells, strict=True)
    ]
    _table(("complete", policy.primary_metric), done)
    if policy.secondary_metrics:
        others = policy.secondary_metrics
        _table(
            others, [(*name, *(_short(c, one) for one in others)) for name, c in zip(names, summary.cells, strict=True)]
        )
    say(summary.leader.sentence)
    if summary.recorded:
        say(summary.recorded)
    for warning in summary.warnings:
        say(f"warning: {warning}")
    if summary.policy_changed:
        say(summary.policy_changed)


def _table(figures: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    show_table((*_LABELS, *map(_folded, figures)), rows, frozenset(_LABELS), keys=len(_LABELS))


def _folded(name: str) -> str:
    """Break a metric's name where a reader would."""
    name = name.replace(":", ":\n")
    head, joint, tail = name.rpartition("_")
    return name if len(name) <= 12 or "\n" in name or not joint else f"{head}_\n{tail}"


def _short(cell: CellMetrics, metric: str) -> str:
    value = cell.value(metric)
    return _lacking(cell) if value.value is None else figure(value.value, value.unit)


def _with_interval(cell: CellMetrics, metric: str) -> str:
    value = cell.value(metric)
    return _lacking(cell) if value.value is None else with_interval(value.value, value.interval, value.unit)


def _lacking(cell: CellMetrics) -> str:
    """Say of a figure that is not here whether it is to come."""
    return "owed" if cell.owed or cell.again or cell.reviews_owed or cell.disputed else NOT_KNOWN
