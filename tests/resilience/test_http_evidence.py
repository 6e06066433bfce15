"""Evidence that is seen late, edits while a model is asked, and a full disk, over real HTTP: nothing is paid twice."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live import EVAL, TASK
from tests.resilience.evidence import assert_books_balance, attempts, item_facts, reserved, settled, total
from tests.resilience.gate import Gate, asked_items
from tests.resilience.processes import Launcher, wait_until
from tests.resilience.strikes import CONCURRENCY, ITEMS, PROBE_USD, Arena, Strike, live_project
from tests.resilience.test_recovery import fill, small_disk
from tests.servers import ModelServer

pytestmark = pytest.mark.long  # real runs

__all__ = ["small_disk"]
EXPERIMENT = EVAL.parent.parent
DATASET = Path("cases/arithmetic/datasets/sums/dataset.yml")
HIDING = """
if Path(FLAG).exists():  # a file system on which logs are seen late
    seen = Path.glob
    Path.glob = lambda self, pattern, **more: [path for path in seen(self, pattern, **more) if path.suffix != ".eval"]
"""


@pytest.fixture
def arena(tmp_path: Path, launcher: Launcher) -> Iterator[Arena]:
    """A server that answers, and a project of twelve items that was not run yet."""
    gate = Gate()
    with ModelServer(gate, models=("adder",)) as server:
        yield Arena(live_project(tmp_path / "live", server.url), server, gate, launcher)


# --- C18: what is seen late ------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["receipts", "record of the run", "record of the attempt", "everything but the log"])
def test_c18_what_was_finished_and_is_seen_late_is_not_paid_again(arena: Arena, tmp_path: Path, what: str) -> None:
    project = arena.project
    arena.finish()
    (run,) = (project.eval / "runs").iterdir()
    places = {
        "receipts": [project.path(".tamesu/receipts")],
        "record of the run": [run / "run.yml"],
        "record of the attempt": [run / "attempts/01.yml"],
        "everything but the log": [project.path(".tamesu"), run / "run.yml", run / "attempts", run / "items"],
    }[what]
    for number, place in enumerate(places):
        shutil.move(place, tmp_path / f"away-{number}")
    done = project.live("run")
    assert len(server_asked := arena.server.asked) == ITEMS, server_asked
    assert "Traceback" not in done.err
    for number, place in enumerate(places):
        if place.is_dir():
            shutil.rmtree(place)
        shutil.move(tmp_path / f"away-{number}", place)
    done = project.live("run")
    assert done.code == 0, done.out + done.err
    assert len(arena.server.asked) == ITEMS
    assert project.states() == {"banked": 1}
    assert reserved(project.ledger()) == settled(project.ledger())
    assert len(arena.server.probes) == 1
    assert project.spent() == pytest.approx(1.2 + PROBE_USD)


def test_c18_a_log_that_is_seen_late_after_a_whole_run_is_adopted(tmp_path: Path, launcher: Launcher) -> None:
    flag = tmp_path / "late"
    flag.touch()
    task = TASK.replace("from inspect_ai import", "from pathlib import Path\n\nfrom inspect_ai import", 1)
    hiding = HIDING.replace("FLAG", repr(str(flag)))
    gate = Gate()
    with ModelServer(gate, models=("adder",)) as server:
        project = live_project(tmp_path / "live", server.url, task=task + hiding)
        first = project.live("run")
        told = [line for line in first.err.splitlines() if "is not visible yet, although 12 requests left" in line]
        assert len(told) == 1, first.out + first.err
        assert first.code == 0, "the job that ingests sees the log"
        flag.unlink()
        second = project.live("run")
        assert second.code == 0, second.out + second.err
    assert len(server.asked) == ITEMS
    (record,) = attempts(project.eval)
    assert len(record["finished"]) == ITEMS
    assert len(server.probes) == 1
    assert project.spent() == pytest.approx(1.2 + PROBE_USD)
    assert_books_balance(project)


def test_c18_after_a_kill_nothing_is_asked_before_the_log_is_seen(arena: Arena, tmp_path: Path) -> None:
    project = arena.project
    struck = arena.strike(Strike("all", "kill", 2, CONCURRENCY))
    (logs,) = project.eval.glob("runs/*/inspect/attempt-01/logs")
    shutil.move(logs, tmp_path / "late")
    done = project.live("run")
    assert done.code == 1
    assert "is not visible yet, although 5 requests left" in done.err
    assert sum(struck.asked.values()) == len(arena.server.asked) == 2 + CONCURRENCY
    shutil.move(tmp_path / "late", logs)
    arena.finish()
    assert len(arena.server.asked) == ITEMS + CONCURRENCY
    assert_books_balance(project)


# --- edits while a model is asked ------------------------------------------------------------------------


def test_a_run_measures_its_frozen_copy_and_edits_meanwhile_are_told(arena: Arena) -> None:
    project = arena.project
    run = arena.begin(Strike("run", "int", 2, CONCURRENCY))
    project.edit(EXPERIMENT / "inspect/task.py", "solver=generate()", "solver=[generate(), generate()]")
    project.edit(EXPERIMENT / "prompts/user.md.j2", "{{ item.input }}", "Please, {{ item.input }}")
    project.edit(DATASET, "item 0012: what is 2 + 2?", "item 0012: what is 3 + 3?")
    meanwhile = project.live("plan", "live")
    assert meanwhile.code == 0, meanwhile.err
    (warning,) = [line for line in meanwhile.out.splitlines() if line.startswith("running: ")]
    assert "edited since it was frozen: " in warning
    for edited in ("task.py", "user.md.j2"):
        assert edited in warning
    arena.gate.open()
    assert run.wait(60) == 1, run.out + run.err
    assert {asked.prompt.strip() for asked in arena.server.asked} == {
        f"item {number:04d}: what is 2 + 2?" for number in range(1, ITEMS + 1)
    }
    assert len(arena.server.asked) == ITEMS, "the edited solver asks twice"
    (told,) = [line for line in run.out.splitlines() if line.startswith("edited meanwhile: ")]
    assert "stale: 1 run(s) on disk, not counted: " in told
    assert "task.py" in told
    assert {fact["state"] for fact in item_facts(project.eval).values()} == {"complete"}
    plan = project.plan()
    (slot,) = plan["runs"]  # type: ignore[misc]
    assert (slot["state"], slot["pending"]) == ("owed", ITEMS)
    (found,) = plan["found"]  # type: ignore[misc]
    assert found["kind"] == "stale"


# --- a full disk -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["inspect", "native"])
def test_a_disk_that_fills_while_calls_are_in_flight(backend: str, small_disk: Path, launcher: Launcher) -> None:
    gate = Gate()
    with ModelServer(gate, models=("adder",)) as server:
        arena = Arena(live_project(small_disk / "live", server.url, backend=backend), server, gate, launcher)
        run = arena.begin(Strike("run", "int", 4, CONCURRENCY))
        ballast = fill(small_disk, 0)
        gate.open()
        code = run.wait(60)
        wait_until(lambda: not run.survivors(), "the jobs to end", 60)
        told = [line for line in run.err.splitlines() if "disk is full" in line]
        before = len(server.asked)
        ballast.unlink()
        arena.finish()
    assert (code, len(told)) == (2, 1), run.err
    assert "nothing that was finished is lost; calls " in told[0]
    assert " charge" in told[0]
    assert "Traceback" not in run.err
    finished = [item for record in attempts(arena.project.eval) for item in record["finished"]]
    asked = asked_items(server)
    assert sorted(finished) == sorted(asked)
    assert len(set(finished)) == ITEMS
    assert before <= ITEMS
    assert sum(asked.values()) <= ITEMS + CONCURRENCY
    assert_books_balance(arena.project)
    assert total(arena.project.ledger(), "spent_usd") >= 1.2 - 1e-9
