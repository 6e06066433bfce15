"""Who holds a run, and how it was cut short: what `status` says, and what a second `tamesu run` does meanwhile."""

from __future__ import annotations

import re
import signal
import socket
from pathlib import Path

import pytest

from tests.resilience.evidence import assert_books_balance, attempts
from tests.resilience.gate import Gate, asked_items
from tests.resilience.processes import Command, Launcher, is_job, kill, wait_until
from tests.resilience.strikes import CONCURRENCY, ITEMS, Arena, Strike, live_project
from tests.servers import ModelServer

pytestmark = pytest.mark.long  # real runs are started, killed and started again

UNTIL = "; `tamesu run` goes on"
KILLED = r"cut off \(its process was killed, .*\); `tamesu run` counts what"
TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"


def told(arena: Arena) -> str:
    done = arena.project.live("status")
    assert done.code == 0, done.err
    return done.out


def survivor(run: Command) -> int:
    """Kill `tamesu run` and Snakemake, not the job that asks models; return its process ID."""
    (job,) = [one for one in run.tree() if is_job(one, "execute")]
    for one in run.tree():
        if one.cmdline()[1:3] == ["-m", "snakemake"]:
            kill([one])
    run.process.kill()
    assert run.wait() == -signal.SIGKILL
    return job.pid


def test_a_survivor_is_named_and_nothing_is_asked_beside_it(tmp_path: Path, launcher: Launcher) -> None:
    gate = Gate()
    with ModelServer(gate, models=("adder",)) as server:
        arena = Arena(live_project(tmp_path / "live", server.url), server, gate, launcher)
        run = arena.begin(Strike("run", "kill", 2, CONCURRENCY))
        pid = survivor(run)
        held = rf"process {pid} on {re.escape(socket.gethostname())} since \d{{4}}-\d\d-\d\dT"
        assert re.search(held, told(arena))
        second = arena.project.live("run")
        assert second.code == 1
        assert re.search(held, second.out + second.err), second.out + second.err
        assert "wait for it or stop it" in second.out + second.err
        assert len(server.asked) == 2 + CONCURRENCY
        gate.open()
        wait_until(lambda: not run.survivors(), "the survivor to end", 60)
        assert "evidence complete; 1/1 runs banked" in told(arena), "it ingests what it executed"
        arena.finish()
    assert set(asked_items(server).values()) == {1}
    assert len(server.asked) == ITEMS
    (record,) = attempts(arena.project.eval)
    assert record["state"] == "finished"
    assert_books_balance(arena.project)


def test_a_run_is_refused_while_snakemake_outlives_its_command(tmp_path: Path, launcher: Launcher) -> None:
    gate = Gate()
    with ModelServer(gate, models=("adder",)) as server:
        arena = Arena(live_project(tmp_path / "live", server.url), server, gate, launcher)
        run = arena.begin(Strike("run", "kill", 2, CONCURRENCY))
        (snakemake,) = [one for one in run.tree() if one.cmdline()[1:3] == ["-m", "snakemake"]]
        (job,) = [one for one in run.tree() if is_job(one, "execute")]
        run.process.kill()
        assert run.wait() == -signal.SIGKILL
        second = arena.project.live("run")
        assert second.code in {1, 2}
        everything = second.out + second.err
        assert f"process {job.pid} on " in everything or f"process {snakemake.pid} on " in everything
        assert len(server.asked) == 2 + CONCURRENCY
        gate.open()
        wait_until(lambda: not run.survivors(), "Snakemake to end", 60)
        arena.finish()
    assert set(asked_items(server).values()) == {1}
    assert_books_balance(arena.project)


@pytest.mark.parametrize(
    ("strike", "backend", "words"),
    [
        (Strike("run", "int", 2, CONCURRENCY), "inspect", rf"interrupted at {TIME}, 2 of 12 items done{UNTIL}"),
        (Strike("run", "int", 2, CONCURRENCY), "native", rf"interrupted at {TIME}, 2 of 12 items done{UNTIL}"),
        (Strike("run", "term", 2, CONCURRENCY), "inspect", rf"interrupted at {TIME}, 2 of 12 items done{UNTIL}"),
        (Strike("all", "kill", 2, CONCURRENCY), "inspect", KILLED),
        (Strike("job", "kill", 2, CONCURRENCY), "inspect", KILLED),
    ],
    ids=str,
)
def test_status_says_how_a_run_was_cut_short(
    tmp_path: Path, launcher: Launcher, strike: Strike, backend: str, words: str
) -> None:
    gate = Gate()
    with ModelServer(gate, models=("adder",)) as server:
        arena = Arena(live_project(tmp_path / "live", server.url, backend=backend), server, gate, launcher)
        struck = arena.strike(strike)
        out = told(arena)
        assert re.search(words, out), out
        assert "12 failed" not in out
        assert "not banked" not in out
    if strike.target == "run":
        assert struck.err == "", "a wish that was met is no error"
