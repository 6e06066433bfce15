"""Signals to parts of a run under way, at moments that the model server has seen."""

from __future__ import annotations

import signal
import subprocess
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

import psutil

from tests.live import LiveProject, Model, make
from tests.resilience.gate import Gate, asked_items
from tests.resilience.processes import Command, Launcher, is_alive, is_job, kill, wait_until
from tests.servers import ModelServer

ITEMS = 12
CONCURRENCY = 3
PROBE_USD = 0.005  # the five tokens of output that the server counts for the probe before each launch
Target = Literal["run", "snakemake", "job", "all"]
Way = Literal["int", "int twice", "term", "kill"]
TARGETS: Sequence[Target] = ("run", "snakemake", "job", "all")
WAYS: Sequence[Way] = ("int", "int twice", "term", "kill")
_SIGNALS = {"int": signal.SIGINT, "int twice": signal.SIGINT, "term": signal.SIGTERM}
_PATIENCE = 60.0


@dataclass(frozen=True)
class Strike:
    """Who gets which signal, and when: `answered` replies are let through, and `in_flight` more requests arrived.

    `again_after` is how long after the first SIGINT a second one comes, in seconds.
    """

    target: Target
    way: Way
    answered: int
    in_flight: int
    again_after: float = 0.0

    def __str__(self) -> str:
        return f"{self.way} to {self.target} after {self.answered} replies with {self.in_flight} calls in flight"


@dataclass(frozen=True)
class Struck:
    """What a strike did: the exit code of `tamesu run`, and the items that the server was asked meanwhile."""

    strike: Strike
    code: int
    asked: Counter[str]
    err: str


def live_project(folder: object, url: str, **values: object) -> LiveProject:
    """Twelve items at 0.10 USD each, three at a time, with tries to spare."""
    defaults = {"concurrency": CONCURRENCY, "timeout_seconds": 110, "max_attempts": 20}
    overrides = values.pop("defaults", {})
    return make(
        folder,  # type: ignore[arg-type]
        url,
        [Model("openai-api/local", "adder", repetitions=int(str(values.pop("repetitions", 1))))],
        **{"items": ITEMS, "limits": "{cost_limit: 0.25, time_limit: 300}", **values},  # type: ignore[arg-type]
        price="{input: 0.0, output: 1000.0}",
        defaults={**defaults, **overrides},  # type: ignore[dict-item]
    )


def start(launcher: Launcher, project: LiveProject, *arguments: str) -> Command:
    """Start tamesu with the keys and base URLs of the project's routes."""
    return launcher.tamesu(project, *(arguments or ("run",)), env=project.env)


@dataclass
class Arena:
    """A project, the server that its models are, and what was done to it."""

    project: LiveProject
    server: ModelServer
    gate: Gate
    launcher: Launcher
    struck: list[Struck] = field(default_factory=list)

    def begin(self, strike: Strike) -> Command:
        """Start a run and wait for the moment of the strike."""
        self.gate.close(strike.answered)
        run = start(self.launcher, self.project)
        goal = strike.answered + strike.in_flight
        wait_until(
            lambda: (
                (self.gate.arrived >= goal and self.gate.let_through >= strike.answered)
                or run.process.poll() is not None
            ),
            f"{goal} requests",
            _PATIENCE,
            pause=0.005,
        )
        assert run.process.poll() is None, f"{strike}: ended by itself: {run.out}{run.err}"
        return run

    def strike(self, strike: Strike) -> Struck:
        """Start a run, strike, and wait until nothing of it is left; what a kill leaves alive is killed as well."""
        before = len(self.server.asked)
        run = self.begin(strike)
        self.hit(run, strike)
        if strike.target == "snakemake" and strike.way != "kill":
            self.gate.open()  # Snakemake alone waits for its jobs and starts no other
        if strike.target in {"run", "snakemake"} and strike.way == "kill":
            wait_until(lambda: run.process.poll() is not None, f"the end of the command after {strike}", _PATIENCE)
            kill(run.survivors())
        code = run.wait(_PATIENCE)
        wait_until(lambda: not run.survivors(), f"the end of {_lines(run)} after {strike}", _PATIENCE)
        self.gate.open()
        done = Struck(strike, code, asked_items(self.server, before), run.err)
        self.struck.append(done)
        return done

    def hit(self, run: Command, strike: Strike) -> None:
        """Send the signal, once or twice."""
        victims = _victims(run, strike.target)
        assert victims, f"{strike}: nobody to hit in {[one.cmdline() for one in run.tree()]}"
        if strike.way == "kill":
            if victims[0].pid == run.process.pid:
                run.process.kill()
            kill([one for one in victims if one.pid != run.process.pid])
            return
        _send(victims, strike.way)
        if strike.way == "int twice":
            with suppress(subprocess.TimeoutExpired):
                run.process.wait(timeout=strike.again_after)
            _send(victims, strike.way)

    def finish(self) -> Struck:
        """Run once more with nobody in the way; return what that asked."""
        before = len(self.server.asked)
        self.gate.open()
        done = self.project.live("run")
        assert done.code == 0, done.out + done.err
        last = Struck(Strike("run", "int", 0, 0), 0, asked_items(self.server, before), done.err)
        self.struck.append(last)
        return last


def _lines(run: Command) -> list[str]:
    """Return what is alive of a command, for the message of a wait in vain."""
    return [f"{one.pid} {' '.join(one.cmdline()[1:4])}" for one in run.survivors() if is_alive(one)]


def _send(victims: Sequence[psutil.Process], way: Way) -> None:
    for one in victims:
        with suppress(psutil.NoSuchProcess):
            one.send_signal(_SIGNALS[way])


def _victims(run: Command, target: Target) -> list[psutil.Process]:
    tree = run.tree()
    if target == "all":
        return tree
    if target == "run":
        return tree[:1]
    if target == "job":
        return [one for one in tree if is_job(one, "execute")]
    return [one for one in tree if one.cmdline()[1:3] == ["-m", "snakemake"]][:1]
