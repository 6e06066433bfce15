"""Commands that may spend: run and resume. And rescore, which never does."""

from __future__ import annotations

import math
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import click

from tamesu.base.errors import BudgetRefused, Refused, RunHeld, UsageError
from tamesu.base.model.manifest import EvalRef
from tamesu.base.model.workflow import WorkflowPlan
from tamesu.cli.outcome import show_outcome
from tamesu.cli.session import chosen, project_here, say, warn
from tamesu.core.aftermath import describe
from tamesu.core.planning import Grouping, Retries
from tamesu.edge.backends.protocol import backend
from tamesu.edge.store.locks import Presence
from tamesu.edge.store.paths import Project
from tamesu.stages.attempts import left_open, sweep
from tamesu.stages.lock import lock_missing
from tamesu.stages.plan_file import save_plan
from tamesu.stages.workflow import make_workflow_plan
from tamesu.workflow_files import snakefile

_UNLIMITED = 1e12


@click.command(short_help="Work off what is owed, up to the budget.")
@click.argument("name", required=False)
@click.option("--pay-usd", type=float, help="Ceiling for this invocation; the default is each eval's budget.")
def run(name: str | None, pay_usd: float | None) -> None:
    """Work off what is owed, then write tables and reports. Spends up to the budget."""
    _work_off(name, pay_usd, Retries.BOUNDED)


@click.command(short_help="Go on with partial runs; --again asks failures once more.")
@click.argument("name", required=False)
@click.option("--again", is_flag=True, help="Ask items once more that are final by failure.")
@click.option("--pay-usd", type=float, help="Ceiling for this invocation; the default is each eval's budget.")
def resume(name: str | None, again: bool, pay_usd: float | None) -> None:
    """Go on with partial runs: only items that are not final, in a new attempt of the same run."""
    _work_off(name, pay_usd, Retries.AGAIN if again else Retries.BOUNDED)


def _work_off(name: str | None, pay_usd: float | None, retries: Retries) -> None:
    project = project_here()
    refs = chosen(project, name)
    if pay_usd is not None and not (math.isfinite(pay_usd) and pay_usd >= 0):
        raise UsageError(f"--pay-usd {pay_usd}: is no amount in US dollars; give a number from 0 up")
    ceiling = _UNLIMITED if pay_usd is None else pay_usd
    for ref in refs:
        if left_open(project, ref):
            # what the dead reserved and finished counts before anything is planned
            sweep(project, backend("inspect"), ref)
    lock_missing(project, refs, say)
    plan = _plan(project, refs, retries, ceiling, name)
    worked = {run for launch in plan.launches for run in launch.runs}
    ended = Ended(0, 0)
    if plan.launches or any(one.stale for one in plan.evals):
        ended = _snakemake(project, plan, save_plan(project, plan))
    if any(launch.mode == "ingest" for launch in plan.launches) and ended == Ended(0, 0):
        # what an earlier process left is judged only now; what still owes something is worked off as well
        plan = _plan(project, refs, retries, ceiling, name)
        if plan.launches:
            ended = _snakemake(project, plan, save_plan(project, plan))
    if ended.disk_full:
        raise SystemExit(2)
    refs = tuple(project.find_ref(one.name) for one in plan.evals)
    incomplete = show_outcome(project, refs, worked) or bool(plan.left_out)
    if ended.interrupted:
        raise SystemExit(ended.interrupted)
    if incomplete or ended.failed:
        raise SystemExit(1)


def _plan(
    project: Project, refs: Sequence[EvalRef], retries: Retries, ceiling: float, name: str | None
) -> WorkflowPlan:
    """Return the plan of this invocation. Raises Refused before anything starts when some of it may not."""
    plan = make_workflow_plan(project, refs, Grouping.BATCHED, retries, ceiling)
    for line in plan.broken:
        warn(line)
    if plan.broken:
        raise SystemExit(1)
    plan = _without_others(plan) if name is None else plan
    _refuse(plan, ceiling, name)
    return plan


def _without_others(plan: WorkflowPlan) -> WorkflowPlan:
    """Leave out of a plan over a whole project what may not start; asked for by name, it is refused instead.

    A draft is left out with a line. Where nothing else may start either, the first reason refuses all.
    """
    drafts = {one.name for one in plan.evals if one.draft}
    for name in sorted(drafts):
        say(f"{name}: draft, left out; `tamesu activate {name}` to run it")
    refused = {launch.eval: launch.refusal for launch in plan.launches if launch.refusal and launch.eval not in drafts}
    others = any(launch.eval not in drafts and launch.eval not in refused for launch in plan.launches)
    for name, reason in refused.items() if others else ():
        warn(f"{name}: left out: {reason}")
    left_out = drafts | (set(refused) if others else set())
    return replace(
        plan,
        launches=tuple(launch for launch in plan.launches if launch.eval not in left_out),
        evals=tuple(one for one in plan.evals if one.name not in left_out),
        left_out=tuple(sorted(left_out - drafts)),
    )


def _refuse(plan: WorkflowPlan, ceiling: float, name: str | None) -> None:
    """Raise before anything starts when some of it may not."""
    refused = [launch.refusal for launch in plan.launches if launch.refusal]
    if refused:
        raise Refused(refused[0])
    exposure = sum(launch.exposure_usd for launch in plan.launches)
    if exposure > ceiling + 1e-9:
        raise BudgetRefused(
            f"up to {exposure:.4f} USD are owed, above --pay-usd {ceiling:.4f}; raise it or "
            f"{'plan less' if name else 'name one eval'}"
        )


@dataclass(frozen=True, slots=True)
class Ended:
    """How Snakemake ended: the exit code of the signal passed on to it (or 0), its own, and whether space ran out."""

    interrupted: int
    failed: int
    disk_full: bool = False


def _snakemake(project: Project, plan: WorkflowPlan, plan_file: Path) -> Ended:
    """Run Snakemake over the plan and tell its errors.

    What Snakemake says goes to a file, not to a pipe that would break with this process: jobs outlive it.
    """
    presence = Presence(project.lock("invocations"))
    if not presence.alone():
        who = describe(presence.noted())
        raise RunHeld(f"another invocation is at work in this project ({who}); wait for it or stop it")
    _clear_dead_locks(project)
    targets = [path for one in plan.evals for path in (f"{one.folder}/evaluation-report.md", one.page)]
    command = [
        *(sys.executable, "-m", "snakemake"),
        *("--snakefile", str(snakefile())),
        *("--directory", str(project.root)),
        *("--config", f"plan={plan_file}"),
        "--rerun-incomplete",
        "--",
        *targets,
    ]
    told = project.state / "logs" / f"{plan.invocation}.log"
    told.parent.mkdir(parents=True, exist_ok=True)
    with told.open("wb") as sink:
        child = subprocess.Popen(
            command, cwd=project.root, start_new_session=True, pass_fds=(presence.fileno(),), stderr=sink
        )
        presence.note(child.pid)
        try:
            interrupted = _wait(child)
        finally:
            presence.close()
    full = _tell_errors(told, project, child.returncode, wanted=interrupted != 0)
    return Ended(interrupted, child.returncode, full)


def _tell_errors(told: Path, project: Project, code: int, wanted: bool) -> bool:
    """Print the one-line errors of the jobs, or Snakemake's own reason; return whether the disk was full.

    An end that was `wanted` is no error, so that Snakemake's words about it are left out.
    """
    lines = told.read_text(encoding="utf-8", errors="replace").splitlines()
    own = dict.fromkeys(line.removeprefix("tamesu: ") for line in lines if line.startswith("tamesu: "))
    full = code != 0 and any("No space left on device" in line or "the disk is full" in line for line in lines)
    if full and not any("the disk is full" in line for line in own):
        own["the disk is full; free space and run again, nothing that was finished is lost"] = None
    if code != 0 and not own and wanted:
        return full
    if code != 0 and not own:
        reasons = [line.strip() for line in lines if re.match(r"\s*[\w.]*(Error|Exception)\b", line)]
        own[f"Snakemake failed: {reasons[-1] if reasons else 'no reason given'}"] = None
    for line in own:
        warn(line)
    if code != 0:
        warn(f"what Snakemake said is in {project.relative(told)}")
    return full


def _wait(child: subprocess.Popen[bytes]) -> int:
    """Wait for Snakemake; a signal is passed on to its whole group as SIGINT, so that all ends tidily."""
    received: list[int] = []

    def forward(number: int, _frame: object) -> None:
        received.append(number)
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGINT)

    before = {number: signal.signal(number, forward) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        child.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return 128 + received[0] if received else 0


def _clear_dead_locks(project: Project) -> None:
    """Remove the locks that a killed Snakemake left; called only when no invocation is alive."""
    for lock in (project.root / ".snakemake" / "locks").glob("*"):
        lock.unlink(missing_ok=True)
