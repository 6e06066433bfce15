"""Commands started, watched and killed by tests; every wait is bounded, every process ended by its id."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.projects import ShapesProject

PATIENCE = 300.0


def wait_until(true: Callable[[], bool], what: str, patience: float = PATIENCE, pause: float = 0.02) -> None:
    """Wait for an observable event; a test that waits in vain fails with what it waited for."""
    deadline = time.monotonic() + patience
    while not true():
        assert time.monotonic() < deadline, f"waited {patience} s for {what}"
        time.sleep(pause)


@dataclass
class Command:
    """A command under way, in a session of its own, with its output in files."""

    process: subprocess.Popen[bytes]
    folder: Path
    seen: dict[int, psutil.Process] = field(default_factory=dict)

    @property
    def out(self) -> str:
        return (self.folder / "stdout").read_text(errors="replace")

    @property
    def err(self) -> str:
        return (self.folder / "stderr").read_text(errors="replace")

    def wait(self, patience: float = PATIENCE) -> int:
        return self.process.wait(timeout=patience)

    def tree(self) -> list[psutil.Process]:
        """Return the command and everything below it that is alive, top first."""
        try:
            top = psutil.Process(self.process.pid)
            found = [top, *top.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []
        for one in found:
            self.seen[one.pid] = one
        return found

    def job(self, verb: str) -> psutil.Process | None:
        """Return the process of the job `tamesu <verb>` below this command, None when none is alive."""
        return next((one for one in self.tree() if is_job(one, verb)), None)

    def survivors(self) -> list[psutil.Process]:
        """Return what is alive of all processes seen so far, and of their children."""
        alive = {}
        for one in list(self.seen.values()):
            with contextlib.suppress(psutil.NoSuchProcess):
                if is_alive(one):
                    alive |= {found.pid: found for found in (one, *one.children(recursive=True)) if is_alive(found)}
        self.seen |= alive
        return list(alive.values())

    def end(self) -> None:
        """End whatever is left of the command."""
        self.tree()
        for _ in range(5):
            left = self.survivors()
            if not left:
                break
            kill(left)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=5)


def is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() not in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}
    except psutil.NoSuchProcess:
        return False


def is_job(process: psutil.Process, verb: str) -> bool:
    """Whether a process is Python running `-m tamesu <verb>`, and not the shell that started it."""
    try:
        line = process.cmdline()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return False
    return line[1:4] == ["-m", "tamesu", verb]


def kill(processes: Sequence[psutil.Process]) -> None:
    """Kill with SIGKILL all at one moment: first everything is stopped, so that nothing starts anew."""
    for number in ("suspend", "kill"):
        for one in processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                getattr(one, number)()
    psutil.wait_procs(processes, timeout=10)


class Launcher:
    """Starts commands in a project and ends what is left of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started: list[Command] = []

    def start(self, project: ShapesProject, *command: str, env: Mapping[str, str] | None = None) -> Command:
        folder = self._folder / f"command-{len(self._started):02d}"
        folder.mkdir(parents=True)
        with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
            process = subprocess.Popen(
                command,
                cwd=project.root,
                env={**os.environ, "COLUMNS": "160", **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        started = Command(process, folder)
        self._started.append(started)
        return started

    def tamesu(self, project: ShapesProject, *arguments: str, env: Mapping[str, str] | None = None) -> Command:
        return self.start(project, sys.executable, "-m", "tamesu", *arguments, env=env)

    def snakemake(self, project: ShapesProject, *arguments: str, env: Mapping[str, str] | None = None) -> Command:
        return self.start(project, sys.executable, "-m", "snakemake", *arguments, env=env)

    def end(self) -> None:
        for command in self._started:
            command.end()


@contextlib.contextmanager
def launching(folder: Path) -> Iterator[Launcher]:
    launcher = Launcher(folder)
    try:
        yield launcher
    finally:
        launcher.end()
