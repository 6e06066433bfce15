"""What the Snakemake rules look up: the frozen plan by launch, run and eval. Opaque IDs in, paths out."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tamesu.base.errors import UsageError
from tamesu.base.model.workflow import PlannedEval, PlannedLaunch, PlannedPackage, PlannedRun, WorkflowPlan
from tamesu.edge.store.locks import Presence
from tamesu.edge.store.paths import Project, find_project
from tamesu.stages.plan_file import load_plan, save_plan

PLAN_VARIABLE = "TAMESU_PLAN"
RECEIPTS = ".tamesu/receipts"
TABLES = ("items.csv", "runs.csv", "items.parquet", "runs.parquet")
_NOTHING = "(?!)"


@dataclass(frozen=True)
class RulesView:
    """The plan of this invocation as rules need it."""

    plan: WorkflowPlan
    plan_file: str
    launches: Mapping[str, PlannedLaunch]
    runs: Mapping[str, PlannedRun]
    evals: Mapping[str, PlannedEval]
    presence: Presence | None = field(default=None)

    @staticmethod
    def one_of(names: Iterable[str]) -> str:
        """Return a wildcard constraint that matches exactly the given names, none of them when there is none."""
        return "|".join(re.escape(name) for name in names) or _NOTHING

    def receipt(self, stage: str, run_id: str) -> str:
        """Return the receipt of the launch that works off a run."""
        return f"{RECEIPTS}/{stage}-{self.runs[run_id].launch}"

    @property
    def executing(self) -> tuple[str, ...]:
        """Launches that ask models."""
        return tuple(one.id for one in self.plan.launches if one.mode == "execute")

    @property
    def owed(self) -> tuple[str, ...]:
        """Runs that some launch works off; only these have a producer."""
        return tuple(run.run_id for run in self.plan.runs if run.launch is not None)

    @property
    def unfrozen(self) -> tuple[str, ...]:
        """Owed runs whose frozen dataset is not here yet."""
        return tuple(name for name in self.owed if not self.runs[name].frozen)

    def sources(self, launch_id: str) -> tuple[str, ...]:
        """Return every file that the runs of a launch were read from."""
        names = self.launches[launch_id].runs
        return tuple(dict.fromkeys(path for name in names for path in self.runs[name].sources))

    def before_ingest(self, launch_id: str) -> list[str]:
        """Return what ingestion waits for; a launch that only ingests waits for nothing."""
        return [f"{RECEIPTS}/execute-{launch_id}"] if launch_id in self.executing else []

    def ingests(self, wildcards: Any) -> list[str]:
        """Return the receipts of what is ingested before the views of the eval whose marker is asked for.

        Runs that may not start are no input: the views show them as owed.
        """
        folder = str(wildcards.marker).removeprefix(".tamesu/want/").removesuffix("/ingested")
        names = {one.name for one in self.plan.evals if one.folder == folder}
        launches = [one.id for one in self.plan.launches if one.allowed and one.eval in names]
        judged = [f"{RECEIPTS}/judge-{one.id}" for one in self.plan.judging if one.eval in names]
        return [*(f"{RECEIPTS}/ingest-{launch}" for launch in launches), *judged]

    @property
    def judging(self) -> tuple[str, ...]:
        """Evals whose judges are asked, by what their receipts are called."""
        return tuple(one.id for one in self.plan.judging)

    def judged_eval(self, judging: str) -> str:
        """Return the name of the eval whose judges are asked."""
        return next(one.eval for one in self.plan.judging if one.id == judging)

    def before_judging(self, wildcards: Any) -> list[str]:
        """Return what judging waits for: the outputs of all runs that may start."""
        name = self.judged_eval(str(wildcards.judging))
        return [f"{RECEIPTS}/ingest-{one.id}" for one in self.plan.launches if one.allowed and one.eval == name]

    @property
    def working(self) -> tuple[str, ...]:
        """Evals of which some launch or judge may start; only these have to be ingested before their views are made."""
        running = [one.eval for one in self.plan.launches if one.allowed]
        return tuple(dict.fromkeys([*running, *(one.eval for one in self.plan.judging)]))

    @property
    def ingested_markers(self) -> tuple[str, ...]:
        """The markers 'everything is ingested' of the evals that are worked off."""
        return tuple(f".tamesu/want/{self.evals[name].folder}/ingested" for name in self.working)

    def of_case(self, wildcards: Any) -> list[str]:
        """Return what the page of a case waits for: its marker, and that the planned evals of the case are ingested."""
        folders = [folder for one in self.plan.cases if one.name == wildcards.case for folder in one.folders]
        ingested = [f".tamesu/want/{folder}/ingested" for folder in folders]
        return [f".tamesu/want/build/{wildcards.case}/index.html", *ingested]

    @property
    def packages(self) -> tuple[str, ...]:
        """The archives of the cases that say under which name they are published."""
        return tuple(one.archive for one in self.plan.packages)

    def packed_case(self, wildcards: Any) -> str:
        """Return the case that an archive is made from."""
        return self._package(wildcards).case

    def of_package(self, wildcards: Any) -> list[str]:
        """Return what an archive waits for: its marker, and that the planned evals of the case are ingested."""
        one = self._package(wildcards)
        return [f".tamesu/want/{one.archive}", *(f".tamesu/want/{folder}/ingested" for folder in one.folders)]

    def packed_views(self, wildcards: Any) -> list[str]:
        """Return the views that an archive holds, which are made before it."""
        return list(self._package(wildcards).views)

    def _package(self, wildcards: Any) -> PlannedPackage:
        return next(one for one in self.plan.packages if one.archive == wildcards.archive)

    @property
    def not_here(self) -> tuple[str, ...]:
        """Runs that owe nothing and whose private folder is not on this machine."""
        return tuple(run.run_id for run in self.plan.runs if run.launch is None and not run.frozen)

    @property
    def _asked_for(self) -> tuple[PlannedEval, ...]:
        return tuple(one for one in self.plan.evals if not one.draft)

    def targets(self) -> list[str]:
        """Return what a bare `snakemake` makes: all views, then the check that nothing is missing."""
        views = [
            path
            for one in self._asked_for
            for path in (
                *(f"{one.folder}/tables/{name}" for name in TABLES),
                f"{one.folder}/leaderboard.md",
                f"{one.folder}/evaluation-report.md",
                one.page,
            )
        ]
        views += [one.page for one in self.plan.cases if not one.draft]
        unfinished = bool(self.plan.broken) or any(one.incomplete or one.unjudged for one in self._asked_for)
        return [*views, f"{RECEIPTS}/complete-{self.plan.invocation}"] if unfinished else views


def rules_view(config: Mapping[str, object]) -> RulesView:
    """Return the plan of this invocation: the one handed on, or a new one that is handed on from here.

    Raises TamesuError; the Snakefile turns it into one line.
    """
    project = find_project(Path.cwd())
    if project.root != Path.cwd().resolve():
        raise UsageError(f"{Path.cwd()}: is inside a project; run snakemake in {project.root}")
    handed_on = config.get("plan") or os.environ.get(PLAN_VARIABLE)
    if handed_on:
        return _view(load_plan(Path(str(handed_on))), str(handed_on), None)
    if "trust_code" in config:
        raise UsageError("--config trust_code: is no setting; review the code, then `tamesu run EVAL --trust-code`")
    # kept open until Snakemake ends, so that `tamesu run` sees that an invocation is alive
    presence = Presence(project.lock("invocations"))
    if presence.alone():
        presence.note(os.getpid())
    plan = _planned(project, _ceiling(config))
    plan_file = str(save_plan(project, plan))
    os.environ[PLAN_VARIABLE] = plan_file
    return _view(plan, plan_file, presence)


def _planned(project: Project, ceiling: float | None) -> WorkflowPlan:
    # what plans reads every kind of file; with a plan that was handed on it is not imported
    from tamesu.core.planning import Grouping, Retries
    from tamesu.stages.workflow import make_workflow_plan

    refs = project.refs()
    return make_workflow_plan(project, refs, Grouping.SINGLE, Retries.BOUNDED, ceiling, judge_pay_usd=ceiling)


def _ceiling(config: Mapping[str, object]) -> float | None:
    stated = config.get("pay_usd")
    if stated is None:
        return None
    try:
        ceiling = float(str(stated))
    except ValueError:
        ceiling = math.nan
    if not (math.isfinite(ceiling) and ceiling >= 0):
        raise UsageError(f"--config pay_usd={stated}: is no amount in US dollars; give a number from 0 up")
    return ceiling


def _view(plan: WorkflowPlan, plan_file: str, presence: Presence | None) -> RulesView:
    return RulesView(
        plan=plan,
        plan_file=plan_file,
        launches={launch.id: launch for launch in plan.launches},
        runs={run.run_id: run for run in plan.runs},
        evals={one.name: one for one in plan.evals},
        presence=presence,
    )
