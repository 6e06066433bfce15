"""Death at any moment leaves evidence that the next invocation understands."""

from __future__ import annotations

import errno
import shutil
import subprocess
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tamesu.base.model.evidence import LedgerEntry
from tamesu.edge.store.journal import append_entry, read_ledger
from tests.resilience import counting
from tests.resilience.counting import CountingProject, Numbers, item_id
from tests.resilience.evidence import assert_books_balance, attempts, item_facts, reserved, settled, total
from tests.resilience.forks import Forks, Strike, truncate_logs
from tests.resilience.processes import Launcher, wait_until

pytestmark = pytest.mark.long  # real processes are started, killed and started again

COUNT = "tamesu.edge.providers.replay:ReplayAPI._count"
ATTEMPTS = "tamesu.stages.attempts"
EXECUTE = "tamesu.stages.execute"
INGEST = "tamesu.stages.ingest"
CLOSING = "tamesu.edge.backends.inspect.closing"
WHOLE = [0, 0, 0]


def make(tmp_path: Path, **values: object) -> CountingProject:
    return counting.make(tmp_path / "counting", Numbers(**values))  # type: ignore[arg-type]


def names(*numbers: int) -> list[str]:
    return [item_id(number) for number in numbers]


def asked(project: CountingProject) -> Counter[str]:
    return Counter(str(call["item"]) for call in project.calls())


def once(items: int, *twice: int) -> Counter[str]:
    return Counter({item_id(n): 2 if n in twice else 1 for n in range(1, items + 1)})


def finish(forks: Forks, project: CountingProject) -> None:
    """Run again until nothing is owed; two further invocations must be enough."""
    for _ in range(2):
        done = forks.work_off(project)
        assert [0] * len(done) == [one.code for one in done], done[-1].err
        if not done:
            return
    assert forks.work_off(project) == []


def assert_complete(project: CountingProject, items: int) -> None:
    assert project.states() == {"banked": 1}
    facts = item_facts(project.eval)
    assert items == len(facts)
    assert {"complete"} == {fact["state"] for fact in facts.values()}
    assert list(project.root.rglob("*.recovering")) == []


def assert_money_known(project: CountingProject, calls: int, in_flight: int = 0) -> None:
    """All of it stands in the ledger, and the plan sees what the ledger says."""
    ledger = project.ledger()
    assert reserved(ledger) == settled(ledger)
    assert round(0.1 * calls, 9) == total(ledger, "spent_usd")
    assert (total(ledger, "lost_usd") > 0) == (in_flight > 0)
    plan = project.plan()
    assert (project.spent(), 0.0) == (round(float(str(plan["spent_usd"])), 9), plan["reserved_usd"])


# --- killed while models are asked -----------------------------------------------------------------------


def test_samples_that_only_the_buffer_holds_are_recovered(tmp_path: Path, forks: Forks) -> None:
    project = make(tmp_path, items=300, budget_usd=500.0)
    done = forks.work_off(project, "execute", Strike(COUNT, "after", 9))
    assert [one.code for one in done] == [0, -9]
    (log,) = project.run_folder.glob("inspect/attempt-01/logs/*.eval")
    with zipfile.ZipFile(log) as archive:
        flushed = [name for name in archive.namelist() if name.startswith("samples/")]
    assert 0 < len(flushed) < 8, "the log buffer held nothing, so this test shows nothing"
    assert project.states() == {"partial": 1}
    finish(forks, project)
    assert_complete(project, 300)
    assert once(300, 9) == asked(project)
    first, second = attempts(project.eval)
    assert names(*range(1, 9)) == first["finished"]
    assert names(*range(1, 10)) == first["used"]
    assert first["state"] == "died"
    assert first["spent_usd"] == 0.8
    assert names(*range(9, 301)) == second["asked"]
    assert_books_balance(project)


def test_an_item_that_always_kills_its_process_is_asked_max_attempts_times(tmp_path: Path, forks: Forks) -> None:
    project = make(tmp_path, items=4, fatal=(2,), max_attempts=3)
    ends = []
    for _ in range(6):
        done = forks.work_off(project)
        if not done:
            break
        ends.append(done[-1].code)
    assert ends == [9, 9, 9, 0]
    assert Counter({item_id(1): 1, item_id(2): 3, item_id(3): 1, item_id(4): 1}) == asked(project)
    record = project.record(project.run_folder.name)
    assert record["state"] == "failed"
    assert {number: record["items"][item_id(number)]["state"] for number in range(1, 5)} == {
        1: "complete",
        2: "failed",
        3: "complete",
        4: "complete",
    }
    assert record["items"][item_id(2)]["attempts"] == 3
    assert_books_balance(project)
    done = project.tamesu("run")
    assert done.code == 1
    assert len(project.calls()) == 6


def test_what_finished_before_a_second_death_is_not_asked_again(tmp_path: Path, forks: Forks) -> None:
    project = make(tmp_path, items=8)
    for nth in (3, 3):  # caught in flight: item 3, then item 5
        done = forks.work_off(project, "execute", Strike(COUNT, "after", nth))
        assert [one.code for one in done] == [0, -9]
    finish(forks, project)
    assert_complete(project, 8)
    assert once(8, 3, 5) == asked(project)
    assert [names(1, 2), names(3, 4), names(5, 6, 7, 8)] == [record["finished"] for record in attempts(project.eval)]
    assert_money_known(project, calls=8, in_flight=2)


def test_finished_samples_are_adopted_without_the_state_folder(tmp_path: Path, forks: Forks) -> None:
    project = make(tmp_path)
    forks.work_off(project, "execute", Strike(COUNT, "after", 7))
    assert len(project.calls()) == 7
    shutil.rmtree(project.path(".tamesu"))
    finish(forks, project)
    assert names(7, 8, 9, 10) == [call["item"] for call in project.calls()]
    assert_complete(project, 10)
    assert_books_balance(project)


def test_a_log_cut_while_its_process_was_dead_closes_as_corrupt(tmp_path: Path, forks: Forks) -> None:
    project = make(tmp_path)
    forks.work_off(project, "execute", Strike(COUNT, "after", 7))
    truncate_logs(project.root)
    finish(forks, project)
    assert_complete(project, 10)
    first, second = attempts(project.eval)
    assert (first["state"], second["state"]) == ("corrupt", "finished")
    assert first["error"]["type"] == "CorruptLog"
    assert (project.run_folder / first["log"]).exists()
    assert_books_balance(project)


def test_a_log_cut_before_it_was_closed_fails_the_attempt_and_the_next_run_goes_on(
    tmp_path: Path, forks: Forks
) -> None:
    project = make(tmp_path)
    done = forks.work_off(project, "execute", Strike(f"{EXECUTE}:close", "before", action="truncate"))
    assert [one.code for one in done] == WHOLE
    assert all("Traceback" not in one.err for one in done)
    begun, ended = done[1].out.splitlines()
    assert "attempt 1 asks 10 items" in begun
    assert "attempt 1 corrupt" in ended
    checked = project.tamesu("status", "--check")
    assert checked.code == 1
    assert project.states() == {"partial": 1}
    (first,) = attempts(project.eval)
    assert (first["used"], first["finished"]) == ([], [])
    again = project.tamesu("run")
    assert again.code == 0, again.err
    assert_complete(project, 10)
    assert_books_balance(project)


def test_an_unreadable_log_is_charged_at_no_less_than_what_was_asked(tmp_path: Path, forks: Forks) -> None:
    """Ten calls at 0.10 were answered and paid; nobody can read them, so the bound of all ten counts."""
    project = make(tmp_path)
    forks.work_off(project, "execute", Strike(f"{EXECUTE}:close", "before", action="truncate"))
    (first,) = attempts(project.eval)
    assert len(project.calls()) == 10
    assert first["spent_usd"] + first["lost_usd"] >= 1.0


# --- killed between two steps of the protocol ------------------------------------------------------------

STEPS = {
    "before the reservation": ("execute", Strike(f"{EXECUTE}:reserve")),
    "reserved": ("execute", Strike(f"{EXECUTE}:begin")),
    "begun": ("execute", Strike("tamesu.edge.backends.inspect.adapter:InspectBackend.execute")),
    "executed": ("execute", Strike(f"{EXECUTE}:close")),
    "log moved": ("execute", Strike(f"{ATTEMPTS}:_judged")),
    "record linked": ("execute", Strike("os:link", "after", 2)),
    "record written": ("execute", Strike(f"{ATTEMPTS}:settle")),
    "settled": ("execute", Strike(f"{ATTEMPTS}:settle", "after")),
    "swept": ("execute", Strike(f"{ATTEMPTS}:shutil.rmtree", "after")),
    "before ingest": ("execute", Strike(f"{INGEST}:_reading")),
    "artifacts collected": ("execute", Strike(f"{INGEST}:ingest_item", nth=2)),
    "result.yml of two items": ("execute", Strike(f"{INGEST}:replace_result", nth=3)),
    "all result.yml": ("execute", Strike(f"{INGEST}:_run_record")),
    "run.yml": ("execute", Strike(f"{EXECUTE}:ingest_run", "after")),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_between_two_steps_pays_and_counts_once(tmp_path: Path, forks: Forks, step: str) -> None:
    project = make(tmp_path, items=3, budget_usd=5.0)
    stage, strike = STEPS[step]
    done = forks.work_off(project, stage, strike)
    assert done[-1].code == -9, done[-1].err
    finish(forks, project)
    assert_complete(project, 3)
    assert once(3) == asked(project)
    assert_money_known(project, calls=3)
    records = attempts(project.eval)
    assert sorted(names(1, 2, 3)) == sorted(item for record in records for item in record["finished"])


RECOVERY_STEPS = {
    "before recovery": Strike(f"{CLOSING}:recover_eval_log"),
    "recovered aside": Strike(f"{CLOSING}:recover_eval_log", "after"),
    "recovered in place": Strike(f"{CLOSING}:sync_folder"),
    "before the record": Strike(f"{ATTEMPTS}:write_exclusive"),
    "record written": Strike(f"{ATTEMPTS}:settle"),
    "settled": Strike(f"{ATTEMPTS}:settle", "after"),
    "adopted": Strike(f"{EXECUTE}:ingest_run"),
    "ingested": Strike(f"{EXECUTE}:ingest_run", "after"),
    "second attempt reserved": Strike(f"{EXECUTE}:begin"),
}


@pytest.mark.parametrize("step", RECOVERY_STEPS)
def test_a_kill_during_recovery_pays_and_counts_once(tmp_path: Path, forks: Forks, step: str) -> None:
    project = make(tmp_path, items=4)
    first = forks.work_off(project, "execute", Strike(COUNT, "after", 3))
    assert [one.code for one in first] == [0, -9]
    second = forks.work_off(project, "execute", RECOVERY_STEPS[step])
    assert second[-1].code == -9, second[-1].err
    finish(forks, project)
    assert_complete(project, 4)
    assert once(4, 3) == asked(project)
    assert_money_known(project, calls=4, in_flight=1)
    assert [names(1, 2), names(3, 4)] == [record["finished"] for record in attempts(project.eval)]


# --- a full disk -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("stage", "nth"), [("freeze", 1), *(("execute", n) for n in (1, 3, 4, 5, 6, 7))])
def test_a_write_that_finds_the_disk_full_ends_in_one_line(tmp_path: Path, forks: Forks, stage: str, nth: int) -> None:
    project = make(tmp_path, items=3, budget_usd=5.0)
    strike = Strike("tamesu.edge.store.files:os.fsync", nth=nth, action="full", always=True)
    done = forks.work_off(project, stage, strike)
    assert done[-1].code == 2, done[-1].err
    (line,) = done[-1].err.splitlines()
    assert "the disk is full; free space and run again, nothing that was finished is lost" in line
    before = asked(project)
    finish(forks, project)
    assert_complete(project, 3)
    assert once(3) == asked(project), f"asked before the disk was full: {before}"
    assert_money_known(project, calls=3)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 48 MiB of its own, where mounting is allowed."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.xfail("no disk can be mounted here; the injected tests above stand for it")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path, leave: int) -> Path:
    """Write a file that leaves so many bytes free."""
    ballast = folder / "ballast"
    with ballast.open("wb") as stream:
        free = shutil.disk_usage(folder).free - leave
        try:
            while free > 0:
                free -= stream.write(b"\0" * min(free, 1 << 20))
        except OSError as error:
            assert error.errno == errno.ENOSPC
    return ballast


@pytest.mark.parametrize("leave", [0, 64 << 10, 400 << 10])
def test_a_run_on_a_full_disk_ends_in_one_line_and_goes_on_when_there_is_space(small_disk: Path, leave: int) -> None:
    project = make(small_disk, items=4)
    ballast = fill(small_disk, leave)
    done = project.tamesu("run")
    assert_goes_on(project, ballast)
    assert_full_disk(done.code, done.err)


def test_a_disk_that_fills_while_models_are_asked(small_disk: Path, launcher: Launcher) -> None:
    project = make(small_disk, items=12, latency_seconds=0.3)
    run = launcher.tamesu(project, "run")
    wait_until(lambda: len(project.calls()) >= 4, "four calls")
    ballast = fill(small_disk, 0)
    code = run.wait()
    finished = {item for record in attempts(project.eval) for item in record["finished"]}
    assert_goes_on(project, ballast)
    repeated = {item for item, count in asked(project).items() if count > 1}
    assert set() == repeated & finished
    assert len(repeated) <= 1
    assert_full_disk(code, run.err)


def assert_full_disk(code: int, err: str) -> None:
    assert "Traceback" not in err
    told = [line for line in err.splitlines() if "disk is full" in line]
    assert len(told) == 1, err
    assert code == 2, err


def assert_goes_on(project: CountingProject, ballast: Path) -> None:
    ballast.unlink()
    again = project.tamesu("run")
    assert again.code == 0, again.out + again.err
    assert project.states() == {"banked": 1}
    assert {"complete"} == {fact["state"] for fact in item_facts(project.eval).values()}
    ledger = project.ledger()
    assert reserved(ledger) == settled(ledger)


# --- a torn line -----------------------------------------------------------------------------------------


def test_a_ledger_line_torn_anywhere_loses_no_other_line(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    first = LedgerEntry("reserved", "2026-01-01T00:00:00.000+00:00", "run", 1, "one", usd=0.5, samples=2)
    second = LedgerEntry("settled", "2026-01-01T00:00:01.000+00:00", "run", 1, "one", spent_usd=0.25)
    third = LedgerEntry("reserved", "2026-01-01T00:00:02.000+00:00", "run", 2, "two", usd=0.5, samples=2)
    append_entry(path, first)
    begun = path.stat().st_size
    append_entry(path, second)
    whole = path.read_bytes()
    for cut in range(begun, len(whole)):
        path.write_bytes(whole[:cut])
        assert (first,) == read_ledger(path)
        append_entry(path, third)
        torn_away = cut < len(whole) - 1
        assert ((first, third) if torn_away else (first, second, third)) == read_ledger(path), cut
    assert [one.name for one in tmp_path.iterdir()] == ["ledger.jsonl"]
