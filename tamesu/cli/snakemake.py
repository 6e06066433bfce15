"""Snakemake as a child: started over a plan, followed while it works, its errors told in lines."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tamesu.base.errors import RunHeld
from tamesu.base.model.workflow import WorkflowPlan
from tamesu.cli.progress import Display
from tamesu.cli.session import FULL_DISK, INTERRUPTED, warn
from tamesu.core.aftermath import describe
from tamesu.edge.store.locks import Presence
from tamesu.edge.store.paths import Project
from tamesu.edge.store.progress import ProgressReader, open_progress
from tamesu.workflow_files import snakefile

_SECONDS_BETWEEN_LOOKS = 0.25
_STOPPING = "stopping: what is in flight is cut off and asked again by the next run; this may take a while"


@dataclass(frozen=True, slots=True)
class Ended:
    """How Snakemake ended: the exit code of the signal passed on to it (or 0), its own, and whether space ran out."""

    interrupted: int
    failed: int
    disk_full: bool = False


def run_snakemake(project: Project, plan: WorkflowPlan, plan_file: Path, display: Display) -> Ended:
    """Run Snakemake over the plan, show the progress of its jobs, and tell its errors.

    What Snakemake says goes to a file, not to a pipe that would break with this process: jobs outlive it. So does
    what jobs print, where the display alone writes on stdout.
    """
    presence = Presence(project.lock("invocations"))
    if not presence.alone():
        who = describe(presence.noted())
        raise RunHeld(f"another invocation is at work in this project ({who}); wait for it or stop it")
    _clear_dead_locks(project)
    told = project.state / "logs" / f"{plan.invocation}.log"
    told.parent.mkdir(parents=True, exist_ok=True)
    progress = project.progress(plan.invocation)
    open_progress(progress)
    _let_children_be_interrupted()
    with told.open("wb") as sink:
        child = subprocess.Popen(
            _command(project, plan, plan_file),
            cwd=project.root,
            # a json.py in the project is no module of Snakemake's
            env={**os.environ, "PYTHONSAFEPATH": "1"},
            start_new_session=True,
            pass_fds=(presence.fileno(),),
            stdout=sink if display.captures else None,
            stderr=sink,
        )
        presence.note(child.pid)
        try:
            with _shown(display, _owed(plan), ProgressReader(progress)) as look:
                interrupted = _wait(child, look, lambda: display.say(_STOPPING))
        finally:
            presence.close()
    full = _tell_errors(told, project, child.returncode, wanted=interrupted != 0)
    return Ended(interrupted, child.returncode, full)


def _let_children_be_interrupted() -> None:
    """Undo that a shell starts its background jobs with SIGINT ignored: children inherit it, and could not be ended.

    SIGINT is what signals are passed on as; a handler of this process is the default in its children.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _command(project: Project, plan: WorkflowPlan, plan_file: Path) -> list[str]:
    targets = [path for one in plan.evals for path in (f"{one.folder}/evaluation-report.md", one.page)]
    folders = {one.folder for one in plan.evals}
    targets += [case.page for case in plan.cases if folders.intersection(case.folders)]
    return [
        *(sys.executable, "-m", "snakemake"),
        *("--snakefile", str(snakefile())),
        *("--directory", str(project.root)),
        *("--config", f"plan={plan_file}"),
        "--rerun-incomplete",
        "--",
        *targets,
    ]


def _owed(plan: WorkflowPlan) -> int:
    return sum(len(launch.runs) for launch in plan.launches if launch.mode == "execute")


@contextmanager
def _shown(display: Display, runs: int, reader: ProgressReader) -> Iterator[Callable[[], None]]:
    """Yield what shows the progress of now. A terminal or reader that went away does not end the work."""
    lost = False

    def shown(step: Callable[[], None]) -> None:
        nonlocal lost
        try:
            if not lost:
                step()
        except OSError:
            lost = True

    def look() -> None:
        shown(lambda: display.update(reader.new()))

    shown(lambda: display.begin(runs))
    try:
        yield look
        look()
    finally:
        with suppress(OSError):
            display.end()


def _tell_errors(told: Path, project: Project, code: int, wanted: bool) -> bool:
    """Print the one-line errors of the jobs, or Snakemake's own reason; return whether the disk was full.

    An end that was `wanted` is no error, so that Snakemake's words about it are left out.
    """
    lines = told.read_text(encoding="utf-8", errors="replace").splitlines()
    own = dict.fromkeys(line.removeprefix("tamesu: ") for line in lines if line.startswith("tamesu: "))
    full = code != 0 and any("No space left on device" in line or "the disk is full" in line for line in lines)
    if full and not any("the disk is full" in line for line in own):
        own[f"{FULL_DISK}; calls that were in flight are, and are charged"] = None
    if wanted:
        own.pop(INTERRUPTED, None)
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


def _wait(child: subprocess.Popen[bytes], look: Callable[[], None], stopping: Callable[[], None]) -> int:
    """Wait for Snakemake, looking meanwhile; a signal is passed on to its group as SIGINT, so that all ends tidily.

    After the first one `stopping` says so, as what is in flight may take a while to end.
    """
    received: list[int] = []

    def forward(number: int, _frame: object) -> None:
        received.append(number)
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGINT)

    before = {number: signal.signal(number, forward) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        said = False
        while not _ended(child):
            look()
            if received and not said:
                said = True
                with suppress(OSError):
                    stopping()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return 128 + received[0] if received else 0


def _ended(child: subprocess.Popen[bytes]) -> bool:
    try:
        child.wait(_SECONDS_BETWEEN_LOOKS)
    except subprocess.TimeoutExpired:
        return False
    return True


def _clear_dead_locks(project: Project) -> None:
    """Remove the locks that a killed Snakemake left; called only when no invocation is alive."""
    for lock in (project.root / ".snakemake" / "locks").glob("*"):
        lock.unlink(missing_ok=True)
