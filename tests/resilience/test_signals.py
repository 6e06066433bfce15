"""Ctrl-C and SIGTERM end a run tidily, and a second run beside a live one asks nothing twice."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.resilience import counting
from tests.resilience.counting import CountingProject, Numbers
from tests.resilience.evidence import assert_books_balance, attempts, calls_by_item, item_facts, load
from tests.resilience.processes import Command, Launcher, is_alive, wait_until

pytestmark = pytest.mark.long  # real processes are started, killed and started again

ITEMS = 16
CONCURRENCY = 4


@pytest.fixture
def project(tmp_path: Path) -> CountingProject:
    """Sixteen items, four at a time, half a second each."""
    numbers = Numbers(items=ITEMS, concurrency=CONCURRENCY, latency_seconds=0.5)
    return counting.make(tmp_path / "counting", numbers)


def under_way(launcher: Launcher, project: CountingProject) -> Command:
    """Return a run in the middle of its work: two rounds of calls finished or in flight."""
    run = launcher.tamesu(project, "run")
    wait_until(lambda: len(project.calls()) > CONCURRENCY, "the second round of calls")
    time.sleep(0.1)
    run.tree()
    return run


def assert_interrupted_tidily(project: CountingProject) -> set[str]:
    """The attempt is closed as interrupted and used up tries of finished items only; return those."""
    (record,) = attempts(project.eval)
    assert record["state"] == "interrupted"
    assert record["finished"] == record["used"]
    assert 0 < len(record["finished"]) < ITEMS
    assert (project.run_folder / record["log"]).stat().st_size > 0
    assert_books_balance(project)
    return set(record["finished"])


def assert_next_run_completes(project: CountingProject, finished: set[str], kills: int = 1) -> None:
    done = project.tamesu("run")
    assert done.code == 0, done.out + done.err
    assert project.states() == {"banked": 1}
    asked = Counter({str(key[-1]): count for key, count in calls_by_item(project).items()})
    assert {1} == {asked[item] for item in finished}
    assert len(asked) == ITEMS
    assert sum(asked.values()) <= ITEMS + kills * CONCURRENCY
    assert {"complete"} == {fact["state"] for fact in item_facts(project.eval).values()}
    assert_books_balance(project)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["int", "term"])
def test_one_signal_closes_the_attempt_and_costs_no_try(
    project: CountingProject, launcher: Launcher, number: signal.Signals, code: int
) -> None:
    run = under_way(launcher, project)
    os.kill(run.process.pid, number)
    assert code == run.wait()
    assert "Traceback" not in run.err
    wait_until(lambda: not run.survivors(), "the jobs to end")
    finished = assert_interrupted_tidily(project)
    assert_next_run_completes(project, finished)
    results = [load(path) for path in project.run_folder.glob("items/*/result.yml")]
    assert {1} == {result["attempts"] for result in results}


def test_ctrl_c_at_the_terminal_reaches_every_process(project: CountingProject, launcher: Launcher) -> None:
    """A terminal signals the whole foreground group of `tamesu run`."""
    run = under_way(launcher, project)
    os.killpg(run.process.pid, signal.SIGINT)
    assert run.wait() == 130
    wait_until(lambda: not run.survivors(), "the jobs to end")
    assert_next_run_completes(project, assert_interrupted_tidily(project))


def test_an_impatient_second_ctrl_c_loses_no_finished_sample(project: CountingProject, launcher: Launcher) -> None:
    run = under_way(launcher, project)
    os.kill(run.process.pid, signal.SIGINT)
    time.sleep(0.05)
    os.kill(run.process.pid, signal.SIGINT)
    assert run.wait() == 130
    assert "Traceback" not in run.err
    wait_until(lambda: not run.survivors(), "the jobs to end")
    done = project.tamesu("run")
    assert done.code == 0, done.out + done.err
    first = attempts(project.eval)[0]
    assert len(first["finished"]) >= CONCURRENCY
    asked = {str(key[-1]): count for key, count in calls_by_item(project).items()}
    assert {1} == {asked[item] for item in first["finished"]}
    assert sum(asked.values()) <= ITEMS + CONCURRENCY
    assert_books_balance(project)


def test_sigterm_to_the_execute_job_alone_closes_its_attempt(project: CountingProject, launcher: Launcher) -> None:
    run = under_way(launcher, project)
    job = run.job("execute")
    assert job is not None
    job.terminate()
    assert run.wait() == 1
    assert "Traceback" not in run.err
    wait_until(lambda: not is_alive(job), "the job to end")
    finished = assert_interrupted_tidily(project)
    assert_next_run_completes(project, finished)


def test_a_second_run_beside_a_live_one_asks_nothing_twice(project: CountingProject, launcher: Launcher) -> None:
    run = under_way(launcher, project)
    job = run.job("execute")
    assert job is not None
    status = project.tamesu("status")
    if is_alive(job):
        assert f"held by process {job.pid} " in status.out
    second = project.tamesu("run")
    told = [line for line in (second.out + second.err).splitlines() if "at work in this project (process " in line]
    assert second.code in {0, 1}, second.out + second.err
    assert second.code == 0 or len(told) == 1, second.out + second.err
    assert "Traceback" not in second.err
    assert run.wait() == 0, run.err
    assert {1} == set(calls_by_item(project).values())
    assert len(project.calls()) == ITEMS
    (record,) = attempts(project.eval)
    assert len(record["finished"]) == ITEMS
    assert_books_balance(project)
