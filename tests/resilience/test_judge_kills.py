"""Judging that is killed or interrupted: no verdict is asked twice, what was in flight is charged as lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.judging import OUTPUTS, JudgedProject, lively, verdict
from tests.resilience.gate import Gate
from tests.resilience.processes import wait_until
from tests.servers import ModelServer, Reply

COST = (10 * 1.0 + 5 * 4.0) / 1e6
CONCURRENCY = 3
ANSWERED = 4


def struck(project: JudgedProject, gate: Gate, number: int) -> tuple[int, str]:
    """Judge until some calls are answered and as many as may be are in flight; then strike. Returns code and output."""
    gate.close(ANSWERED)
    before = len(project.records())
    process = subprocess.Popen(
        [sys.executable, "-m", "tamesu", "judge"],
        cwd=project.root,
        env={**os.environ, **project.env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    wait_until(
        lambda: gate.arrived == ANSWERED + CONCURRENCY and len(project.records()) == before + ANSWERED,
        "calls in flight",
    )
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    return process.returncode, out


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["kill", "int", "term"]
)
def test_what_was_judged_is_kept_and_what_was_in_flight_is_lost(tmp_path: Path, number: int, code: int) -> None:
    gate = Gate(Reply(verdict()))
    with ModelServer(gate) as server:
        project = lively(tmp_path / "p", server.url, concurrency=CONCURRENCY)
        ended, out = struck(project, gate, number)
        assert ended == code, out
        assert "Traceback" not in out
        kept = project.records()
        assert len(kept) == ANSWERED
        bound = max(one["usd"] for one in project.judge_ledger() if one["event"] == "reserved")
        gate.open()
        done = project.judge()
        assert done.code == 0, done.err
        asked = len(server.calls)
    # those in flight were asked again, nothing that was answered
    assert asked == OUTPUTS + CONCURRENCY
    records = project.records()
    assert all(one in records for one in kept)
    assert Counter((one["run_id"], one["item"]) for one in records) == Counter(
        {(one["run_id"], one["item"]): 1 for one in records}
    )
    assert len(records) == OUTPUTS
    again = [one for one in records if one["number"] == 2]
    assert len(again) == CONCURRENCY, "numbers of lost calls are not used again"
    spent, lost, open_reservations = project.judge_money()
    assert (spent, open_reservations) == (pytest.approx(OUTPUTS * COST), 0)
    assert 0 < lost <= CONCURRENCY * bound + 1e-9
    assert project.standing()["spent_usd"] == pytest.approx(spent + lost)
