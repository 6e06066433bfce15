"""A run that a shell started in the background, with SIGINT ignored, ends on SIGTERM like any other."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.resilience import counting
from tests.resilience.counting import Numbers
from tests.resilience.evidence import attempts
from tests.resilience.processes import Launcher, launching, wait_until

AS_A_BACKGROUND_JOB = ("sh", "-c", 'trap "" INT; exec "$0" "$@"')
ITEMS = 40


@pytest.fixture
def launcher(tmp_path: Path) -> Iterator[Launcher]:
    with launching(tmp_path / "commands") as started:
        yield started


def test_sigterm_stops_the_calls_of_a_background_job(tmp_path: Path, launcher: Launcher) -> None:
    """Whoever ends a run does not pay for the rest of it: at most what was in flight is asked after the signal."""
    project = counting.make(tmp_path / "p", Numbers(items=ITEMS, concurrency=2, latency_seconds=0.5))
    run = launcher.start(project, *AS_A_BACKGROUND_JOB, sys.executable, "-m", "tamesu", "run")
    wait_until(lambda: len(project.calls()) > 2, "the second round of calls")
    run.tree()
    os.kill(run.process.pid, signal.SIGTERM)
    assert run.wait() == 143
    wait_until(lambda: not run.survivors(), "the jobs to end")
    (record,) = attempts(project.eval)
    assert record["state"] == "interrupted"
    assert len(project.calls()) < ITEMS
