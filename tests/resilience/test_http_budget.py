"""Budget: C25 over real HTTP with a kill in the middle, and payers that reserve and settle at the same time."""

from __future__ import annotations

import json
import multiprocessing
import random
import time
from collections import Counter
from dataclasses import replace
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from tamesu.base.errors import BudgetRefused
from tamesu.edge.store.paths import Project
from tamesu.stages.attempts import settle
from tamesu.stages.payment import Invocation, reserve
from tests.factories import make_spec
from tests.live import EVAL
from tests.projects import ShapesProject
from tests.resilience.evidence import assert_books_balance, attempts, highest_commitment, total
from tests.resilience.gate import Gate
from tests.resilience.processes import Launcher
from tests.resilience.strikes import PROBE_USD, Arena, Strike, live_project
from tests.run_factories import attempt
from tests.servers import ModelServer

CALL_USD = 0.1
MANIFEST = EVAL / "eval.yml"


# --- C25 -------------------------------------------------------------------------------------------------


def ten_items(tmp_path: Path, url: str) -> ShapesProject:
    """Ten items at 0.10 USD each, one at a time; each call goes beyond the limit of 0.08, which is seen after it."""
    return live_project(
        tmp_path / "live",
        url,
        items=10,
        limits="{cost_limit: 0.08, time_limit: 300}",
        defaults={"concurrency": 1, "budget_usd": 2.0},
    )


@pytest.mark.long
@pytest.mark.parametrize(("budget", "goes_on"), [("2.0", True), ("0.8", False)])
def test_c25_a_resume_adds_up_and_stays_within_the_budget(
    tmp_path: Path, launcher: Launcher, budget: str, goes_on: bool
) -> None:
    """Six items are spent and the seventh is lost: 0.70, so a budget of 0.80 starts none of the four that are left."""
    gate = Gate()
    with ModelServer(gate, models=("adder",)) as server:
        project = ten_items(tmp_path, server.url)
        arena = Arena(project, server, gate, launcher)  # type: ignore[arg-type]
        arena.strike(Strike("all", "kill", 6, 1))
        project.edit(MANIFEST, '"budget_usd": 2.0', f'"budget_usd": {budget}')
        done = arena.project.live("run")
    (first, *more) = attempts(project.eval)
    assert (first["spent_usd"], first["lost_usd"], first["calls_lost"]) == (0.6, 0.1, 1)
    if goes_on:
        assert done.code == 0, done.out + done.err
        assert len(server.asked) == 11
        assert len(server.probes) == 2
        assert total(project.ledger(), "spent_usd") == pytest.approx(1.0 + 2 * PROBE_USD)
        assert project.spent() == pytest.approx(1.0 + CALL_USD + 2 * PROBE_USD)
    else:
        assert done.code == 2
        (line,) = [line for line in done.err.splitlines() if line.startswith("tamesu: ")]
        assert "budget_usd 0.8000" in line
        assert more == []
        assert len(server.asked) == 7
        assert len(server.probes) == 1
        assert project.spent() == pytest.approx(0.7 + PROBE_USD)
    assert highest_commitment(project.ledger()) <= 2.0, "what the first run was allowed"
    assert_books_balance(project)


# --- payers at the same time -----------------------------------------------------------------------------

BUDGET_USD = 1.2  # room for one exposure of 0.70 and what was spent before, never for two at first
ATTEMPTS = 4


def pay(root: Path, seed: int, payer: int, together: Barrier) -> None:
    """Reserve and settle the attempts of one run, as two processes of two invocations would."""
    chance = random.Random(100 * seed + payer)
    project = Project(root)
    spec = make_spec(["a", "b"], repetition=payer)
    together.wait(30)
    for number in range(1, ATTEMPTS + 1):
        time.sleep(chance.uniform(0, 0.01))  # the interleaving, not a synchronisation
        try:
            reserve(project, spec, number, 2, Invocation(f"payer-{payer}", 1e12, BUDGET_USD))
        except BudgetRefused:
            continue
        time.sleep(chance.uniform(0, 0.01))
        spent = round(chance.uniform(0, spec.exposure_usd(2)), 4)
        settle(project, spec, replace(attempt(number), spent_usd=spent))


@pytest.mark.parametrize("seed", range(20))
def test_two_payers_together_never_commit_more_than_the_budget(tmp_path: Path, seed: int) -> None:
    spec = make_spec(["a", "b"])
    root = tmp_path / "project"
    folder = Project(root).eval(spec.ref).folder
    folder.mkdir(parents=True)
    (folder / "eval.yml").touch()
    context = multiprocessing.get_context("fork")
    together = context.Barrier(2)
    payers = [context.Process(target=pay, args=(root, seed, number, together)) for number in (1, 2)]
    for one in payers:
        one.start()
    for one in payers:
        one.join(60)
    assert [one.exitcode for one in payers] == [0, 0]
    ledger = [_entry(line) for line in (folder / "ledger.jsonl").read_text().splitlines()]
    assert highest_commitment(ledger) <= BUDGET_USD
    events = Counter((entry["invocation"], entry["event"]) for entry in ledger)
    assert sum(count for (_, event), count in events.items() if event == "reserved") > 0
    assert all(events[f"payer-{n}", "reserved"] == events[f"payer-{n}", "settled"] for n in (1, 2))


def _entry(line: str) -> dict[str, object]:
    return json.loads(line)  # type: ignore[no-any-return]
