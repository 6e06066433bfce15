"""Money: nothing starts above a bound, everything spent or lost stands in the ledger, nothing is paid twice."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.projects import Done, ShapesProject
from tests.resilience import counting
from tests.resilience.counting import CountingProject, Numbers
from tests.resilience.evidence import (
    assert_books_balance,
    attempts,
    calls_by_item,
    highest_commitment,
    reserved,
    settled,
    total,
)
from tests.resilience.forks import Forks, Strike
from tests.resilience.processes import Launcher

pytestmark = pytest.mark.long  # real runs, paid and paid again

COUNT = "tamesu.edge.providers.replay:ReplayAPI._count"
LARGEST_CALL_USD = 0.0013  # `Repeat: <10>` and less: at most 13 bytes at 100 USD per million tokens


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def assert_refused(done: Done, words: str) -> None:
    assert done.code == 2, done.out + done.err
    (line,) = lines(done.err)
    assert line.startswith("tamesu: ")
    assert words in line


def make(tmp_path: Path, **values: object) -> CountingProject:
    return counting.make(tmp_path / "counting", Numbers(**values))  # type: ignore[arg-type]


def set_budget(project: CountingProject, before: float, after: float) -> None:
    manifest = project.manifest.relative_to(project.root)
    project.edit(manifest, f"budget_usd: {before}", f"budget_usd: {after}")


# --- before anything starts ------------------------------------------------------------------------------


def test_exposure_above_the_budget_starts_nothing(paid_shapes: ShapesProject) -> None:
    paid_shapes.edit_eval("budget_usd: 20.00", "budget_usd: 1.20")
    assert_refused(paid_shapes.tamesu("run"), "budget_usd 1.2000")
    assert paid_shapes.calls() == []
    assert paid_shapes.ledger() == []
    assert set() == paid_shapes.run_ids()


def test_the_spend_of_stale_runs_counts_against_the_budget(tmp_path: Path, forks: Forks) -> None:
    project = make(tmp_path, items=4, budget_usd=1.15)
    assert [done.code for done in forks.work_off(project)] == [0, 0, 0]
    assert project.spent() == 0.4
    project.edit(counting.EXPERIMENT / "prompts" / "user.md.j2", "Repeat:", "Say:")
    assert_refused(project.tamesu("run"), "0.4000 USD spent or reserved")
    assert len(project.calls()) == 4
    set_budget(project, 1.15, 1.25)
    assert [done.code for done in forks.work_off(project)] == [0, 0, 0]
    assert project.spent() == 0.8


# --- the ceiling of an invocation ------------------------------------------------------------------------


def test_a_bare_snakemake_never_commits_more_than_its_ceiling(tmp_path: Path) -> None:
    project = make(tmp_path, items=4, repetitions=3)
    done = project.snakemake("--config", "pay_usd=1.25")
    assert done.code == 1
    refusals = [line for line in lines(done.err) if line.startswith("tamesu: ") and "pay_usd 1.2500" in line]
    assert len(refusals) == 1, done.err
    assert "Traceback" not in done.err
    ledger = project.ledger()
    assert len({entry["invocation"] for entry in ledger}) == 1
    assert highest_commitment(ledger) <= 1.25
    assert sum(reserved(ledger).values()) == 2
    assert project.spent() == 0.8
    assert Counter({"banked": 2, "owed": 1}) == Counter(project.states())
    assert len(project.calls()) == 8
    again = project.snakemake("--config", "pay_usd=0.9")
    assert again.code == 0, again.err
    assert project.states() == {"banked": 3}
    assert project.spent() == 1.2
    assert_books_balance(project)


def test_a_ceiling_below_one_run_asks_nothing(tmp_path: Path) -> None:
    project = make(tmp_path, items=4)
    done = project.tamesu("run", "--pay-usd", "0.50")
    assert done.code in {1, 2}
    refusals = [line for line in lines(done.err) if "0.5000" in line]
    assert len(refusals) == 1, done.err
    assert project.calls() == []
    assert project.spent() == 0.0
    assert reserved(project.ledger()) == settled(project.ledger())


# --- after a death ---------------------------------------------------------------------------------------


@pytest.fixture
def killed_in_call_seven(tmp_path: Path, forks: Forks) -> CountingProject:
    """Ten items at 0.10 each; killed when six were finished and the seventh was being asked."""
    project = make(tmp_path, items=10, budget_usd=2.5)
    done = forks.work_off(project, "execute", Strike(COUNT, "after", 7))
    assert [one.code for one in done] == [0, -9]
    assert len(project.calls()) == 7
    return project


def test_a_resume_adds_to_what_was_spent_before(killed_in_call_seven: CountingProject) -> None:
    project = killed_in_call_seven
    set_budget(project, 2.5, 25.0)
    done = project.tamesu("run")
    assert done.code == 0, done.out + done.err
    asked = Counter(str(call["item"]) for call in project.calls())
    assert Counter({counting.item_id(n): 2 if n == 7 else 1 for n in range(1, 11)}) == asked
    first, second = attempts(project.eval)
    assert (first["spent_usd"], second["spent_usd"]) == (0.6, 0.4)
    assert total(project.ledger(), "spent_usd") == 1.0
    assert_books_balance(project)


def test_one_call_in_flight_is_charged_once(killed_in_call_seven: CountingProject, forks: Forks) -> None:
    """The bound per lost item: 1.00 for ten items, and the largest possible call for the one that was cut."""
    project = killed_in_call_seven
    set_budget(project, 2.5, 25.0)
    assert [done.code for done in forks.work_off(project)] == [0, 0, 0]
    first, second = attempts(project.eval)
    assert (first["calls_lost"], second["calls_lost"]) == (1, 0)
    assert total(project.ledger(), "lost_usd") == LARGEST_CALL_USD
    assert round(1.0 + LARGEST_CALL_USD, 9) == project.spent()


def test_a_budget_spent_before_the_death_refuses_the_resume(killed_in_call_seven: CountingProject) -> None:
    project = killed_in_call_seven
    set_budget(project, 2.5, 0.8)
    assert_refused(project.tamesu("run"), "budget_usd 0.8000")
    assert len(project.calls()) == 7


def test_a_reservation_of_the_dead_does_not_block_the_resume(killed_in_call_seven: CountingProject) -> None:
    """0.60 spent, 0.81 still exposed, 2.50 allowed: the next run goes on without a manual step."""
    done = killed_in_call_seven.tamesu("run")
    assert done.code == 0, done.out + done.err
    assert total(killed_in_call_seven.ledger(), "spent_usd") == 1.0
    assert_books_balance(killed_in_call_seven)


# --- what replies cost -----------------------------------------------------------------------------------


def test_replies_without_usage_are_charged_at_their_bound_and_fail(tmp_path: Path, forks: Forks) -> None:
    project = make(tmp_path, items=3, input_tokens=None)
    assert [done.code for done in forks.work_off(project)] == [0, 0, 0]
    (record,) = attempts(project.eval)
    assert (record["spent_usd"], record["calls_lost"]) == (0.0, 3)
    bound = 0.0012  # `Repeat: <3>` and a line end is 12 bytes
    assert round(3 * bound, 9) == record["lost_usd"] == project.spent()
    run = project.record(project.run_folder.name)
    assert run["state"] == "failed"
    assert {"failed"} == {entry["state"] for entry in run["items"].values()}
    assert {False} == {entry["retryable"] for entry in run["items"].values()}
    done = project.tamesu("run")
    assert done.code == 1
    assert len(project.calls()) == 3


def test_evals_have_ledgers_and_budgets_of_their_own(tmp_path: Path) -> None:
    project = make(tmp_path, items=4, budget_usd=0.81, evals=("first", "second"))
    done = project.tamesu("run", "second")
    assert done.code == 0, done.out + done.err
    assert project.ledger() == []
    assert (project.eval_named("second") / "ledger.jsonl").exists()
    done = project.tamesu("run", "first")
    assert done.code == 0, done.out + done.err
    assert project.spent() == 0.4
    assert len(project.calls()) == 8


def test_recorded_answers_without_a_price_cost_nothing(banked_shapes: ShapesProject) -> None:
    ledger = banked_shapes.ledger()
    assert sum(reserved(ledger).values()) == 8
    assert settled(ledger) == reserved(ledger)
    assert {0} == {entry[field] for entry in ledger for field in ("usd", "spent_usd", "lost_usd")}


def test_no_reservation_stays_open(banked_paid_shapes: ShapesProject) -> None:
    assert_books_balance(banked_paid_shapes)
    assert banked_paid_shapes.plan()["reserved_usd"] == 0


# --- two at once -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [(), ("--nolock",)], ids=["locked", "nolock"])
def test_two_snakemakes_at_once_pay_once(tmp_path: Path, launcher: Launcher, options: tuple[str, ...]) -> None:
    project = make(tmp_path, items=4, repetitions=2, latency_seconds=0.05)
    command = (*options, "--config", "pay_usd=20")
    both = [launcher.snakemake(project, *command) for _ in range(2)]
    codes = [one.wait() for one in both]
    assert 0 in codes, both[0].err + both[1].err
    assert {1} == set(calls_by_item(project).values())
    assert len(project.calls()) == 8
    assert {1} == set(reserved(project.ledger()).values())
    assert_books_balance(project)
    done = project.run_command(sys.executable, "-m", "tamesu", "run")
    assert done.code == 0, done.out + done.err
    assert len(project.calls()) == 8
    assert project.spent() == 0.8
