"""Large runs: memory of ingestion, time to decide what is owed, and the size of the report stay bounded."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.resilience import counting
from tests.resilience.counting import CountingProject, Numbers
from tests.resilience.processes import Command, Launcher, is_job

pytestmark = pytest.mark.long

ITEMS = int(os.environ.get("TAMESU_LARGE_ITEMS", "20000"))
MAX_INGEST_BYTES = 1_000_000_000
MAX_DECISION_SECONDS = 60.0
MAX_REPORT_BYTES = 20_000_000
MAX_RUN_SECONDS = 3_600.0
VERBS = ("freeze", "execute", "ingest", "metrics", "report")


def watch(run: Command) -> tuple[dict[str, float], dict[str, int]]:
    """Wait for the run; return seconds and peak resident bytes of each job."""
    seconds: dict[str, float] = {}
    peaks: dict[str, int] = {}
    began: dict[str, float] = {}
    deadline = time.monotonic() + MAX_RUN_SECONDS
    while run.process.poll() is None:
        assert time.monotonic() < deadline, f"still running after {MAX_RUN_SECONDS} s: {seconds}"
        for one in run.tree():
            verb = next((verb for verb in VERBS if is_job(one, verb)), None)
            if verb is None:
                continue
            began.setdefault(verb, time.monotonic())
            seconds[verb] = time.monotonic() - began[verb]
            peaks[verb] = max(peaks.get(verb, 0), _peak(one))
        time.sleep(0.2)
    return seconds, peaks


def _peak(process: psutil.Process) -> int:
    """The kernel's own high-water mark, so that no peak between two looks is missed."""
    try:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


def test_a_run_of_twenty_thousand_items(tmp_path: Path, launcher: Launcher) -> None:
    numbers = Numbers(items=ITEMS, input_tokens=10, concurrency=8, cost_limit=0.05, budget_usd=10_000.0)
    project: CountingProject = counting.make(tmp_path / "counting", numbers)
    run = launcher.start(project, sys.executable, "-m", "tamesu", "run")
    began = time.monotonic()
    seconds, peaks = watch(run)
    print(f"{ITEMS} items: {time.monotonic() - began:.0f} s", {k: round(v) for k, v in seconds.items()})
    print("peak MB", {verb: round(peak / 1e6) for verb, peak in peaks.items()})
    assert run.process.returncode == 0, run.err
    assert project.states() == {"banked": 1}
    assert len(project.calls()) == ITEMS

    # a run is ingested by the process that asked the models, so this bounds both together
    assert max(peaks["execute"], peaks["ingest"]) < MAX_INGEST_BYTES
    began = time.monotonic()
    assert project.tamesu("plan").code == 0
    decision = time.monotonic() - began
    pages = list(project.path("build").rglob("*.html"))
    sizes = [path.stat().st_size for path in (*pages, project.eval / "evaluation-report.md")]
    print(f"decision {decision:.1f} s, report bytes {sizes}")
    assert decision < MAX_DECISION_SECONDS
    assert {path.name for path in pages} == {"first.html", "index.html"}
    assert max(sizes) < MAX_REPORT_BYTES
