"""Signals over real HTTP: at seeded moments, to each process, the next run goes on and the books say what it cost.

A moment is what the model server has seen: so many replies were let through, so many more requests are held.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tests.live import Backend, LiveProject
from tests.resilience.evidence import assert_books_balance, attempts, item_facts, reserved, settled, total
from tests.resilience.gate import Gate
from tests.resilience.processes import Launcher
from tests.resilience.strikes import CONCURRENCY, ITEMS, TARGETS, WAYS, Arena, Strike, Struck, Way, live_project
from tests.resilience.test_kills import leaderboard
from tests.servers import ModelServer
from tests.shared import made_once

PROJECTS = 10
NATIVE_PROJECTS = 3  # what strikes it is the same; what keeps its answers is not
KILLS = 5
CALL_USD = 0.1
LAST = ("int", "term", "int twice")  # to Snakemake alone: its job finishes all that is owed
CODES = {"int": 130, "int twice": 130, "term": 143, "kill": -9}


def strikes(project: int) -> list[Strike]:
    """Deal each project its five strikes from one seeded deck; a signal to Snakemake alone comes last."""
    chance = random.Random(project)
    kinds = [(target, way) for target in TARGETS for way in WAYS if target != "snakemake" or way == "kill"]
    deck = kinds * 4
    random.Random(0).shuffle(deck)
    hand = deck[project * (KILLS - 1) : (project + 1) * (KILLS - 1)]
    dealt = [_strike(target, way, chance) for target, way in hand]
    return [*dealt, _strike("snakemake", LAST[project % 3], chance)]  # type: ignore[arg-type]


def _strike(target: str, way: str, chance: random.Random) -> Strike:
    """After at most two replies, so that five strikes leave something to ask; with none to all calls in flight."""
    answered = chance.randint(0, 2)
    in_flight = chance.randint(0 if answered else 1, min(CONCURRENCY, ITEMS - (KILLS - 1) * 2 - answered))
    return Strike(target, way, answered, in_flight, chance.uniform(0, 0.3))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Undisturbed:
    """What a run ends with when nobody kills it."""

    facts: dict[str, object]
    leaderboard: list[str]


@pytest.fixture(scope="module")
def backend(request: pytest.FixtureRequest) -> Backend:
    return request.param


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, backend: Backend) -> Undisturbed:
    made = made_once(tmp_path_factory, f"undisturbed-{backend}", partial(_work_off, backend=backend))
    project = LiveProject(made / "live")
    return Undisturbed(facts(project), leaderboard(project))


def _work_off(folder: Path, backend: Backend) -> None:
    with ModelServer(Gate(), models=("adder",)) as server:
        done = live_project(folder / "live", server.url, backend=backend).live("run")
    assert done.code == 0, done.out + done.err
    assert len(server.asked) == ITEMS


def facts(project: LiveProject) -> dict[str, object]:
    return {item: fact for (_, item), fact in item_facts(project.eval).items()}


def struck_by(tmp_path: Path, launcher: Launcher, plan: Sequence[Strike], backend: Backend) -> Arena:
    """Make a project, strike it again and again, and finish it with one undisturbed run."""
    gate = Gate()
    with ModelServer(gate, models=("adder",)) as server:
        arena = Arena(live_project(tmp_path / "live", server.url, backend=backend), server, gate, launcher)
        for strike in plan:
            arena.strike(strike)
        arena.finish()
    return arena


@pytest.mark.long
@pytest.mark.parametrize(
    ("backend", "project"),
    [*(("inspect", one) for one in range(PROJECTS)), *(("native", one) for one in range(NATIVE_PROJECTS))],
    indirect=["backend"],
)
def test_struck_runs_end_as_if_nobody_had_struck_them(
    tmp_path: Path, launcher: Launcher, undisturbed: Undisturbed, backend: Backend, project: int
) -> None:
    arena = struck_by(tmp_path, launcher, strikes(project), backend)
    assert len(arena.struck) == KILLS + 1
    assert_all_holds(arena, undisturbed)
    if backend == "native":
        assert_calls_are_told(arena)


@pytest.mark.parametrize("backend", ["inspect", "native"], indirect=True)
@pytest.mark.parametrize("way", [pytest.param("int", marks=pytest.mark.long), "term", "kill"])
def test_a_run_struck_once_goes_on(tmp_path: Path, launcher: Launcher, way: Way, backend: Backend) -> None:
    strike = Strike("all" if way == "kill" else "run", way, 2, CONCURRENCY)
    arena = struck_by(tmp_path, launcher, [strike], backend)
    assert_each_strike_is_told(arena)
    assert_money(arena)
    if backend == "native":
        assert_calls_are_told(arena)


def assert_all_holds(arena: Arena, undisturbed: Undisturbed) -> None:
    for struck, again in zip(arena.struck, asked_again(arena), strict=True):
        print(f"{struck.strike}: {struck.code}, asked again {again}")
    assert undisturbed.facts == facts(arena.project)
    assert undisturbed.leaderboard == leaderboard(arena.project)
    assert_each_strike_is_told(arena)
    assert_money(arena)
    assert_wire_is_whole(arena)


def asked_again(arena: Arena) -> list[int]:
    """Return for each strike how many of the items it asked were asked again later."""
    counts = []
    for number, struck in enumerate(arena.struck):
        later: set[str] = set().union(*(one.asked for one in arena.struck[number + 1 :]))
        counts.append(len(set(struck.asked) & later))
    return counts


def assert_each_strike_is_told(arena: Arena) -> None:
    """Each invocation left one attempt, whose state and tries say how it ended; nothing logged is asked again."""
    records = attempts(arena.project.eval)
    working = [struck for struck in arena.struck if struck.asked]
    assert len(working) == len(records)
    for number, (struck, record) in enumerate(zip(working, records, strict=True)):
        what = f"{struck.strike}: {record}"
        assert set(struck.asked.values()) == {1}, what
        finished, asked = set(record["finished"]), set(struck.asked)
        later = Counter[str]()
        for one in working[number + 1 :]:
            later.update(one.asked)
        assert later.keys() & finished == set(), what
        assert finished <= asked <= set(record["asked"]), what
        assert len(asked - finished) <= CONCURRENCY, what
        last = struck is arena.struck[-1]
        assert record["state"] in ({"finished"} if last else states(struck)), what
        if not last:
            assert struck.code in codes(struck), f"{what}: {struck.err}"
        assert "Traceback" not in struck.err
        if record["state"] == "interrupted":
            assert record["used"] == record["finished"], what
        if struck.strike.way == "kill" and not last:
            assert asked <= set(record["used"]), what
        assert len(record["used"]) - len(finished) <= CONCURRENCY or record["state"] == "finished", what
    assert max(asked_again(arena)) <= CONCURRENCY


def states(struck: Struck) -> set[str]:
    """A second SIGINT may end a job before it has closed its attempt; one to all comes twice, since it is passed on."""
    strike = struck.strike
    if strike.target == "all" and strike.way != "kill":
        return {"interrupted", "died"}
    if strike.target == "snakemake" and strike.way != "kill":
        return {"finished"}
    return {"int": {"interrupted"}, "term": {"interrupted"}, "kill": {"died"}}.get(strike.way, {"interrupted", "died"})


def codes(struck: Struck) -> set[int]:
    """The command's own code where it got the signal; 1 where a part of it did."""
    return {CODES[struck.strike.way]} if struck.strike.target in {"run", "all"} else {1}


def assert_money(arena: Arena) -> None:
    """Each call costs 0.10 and is bounded by 0.10: what was asked stands in the ledger, spent or lost, and once."""
    ledger = arena.project.ledger()
    assert_books_balance(arena.project)
    assert reserved(ledger) == settled(ledger)
    records = attempts(arena.project.eval)
    spent, lost = total(ledger, "spent_usd"), total(ledger, "lost_usd")
    calls_lost = sum(record["calls_lost"] for record in records)
    assert lost == pytest.approx(CALL_USD * calls_lost)
    asked = sum(sum(struck.asked.values()) for struck in arena.struck)
    unsent = CONCURRENCY * sum(record["state"] != "finished" for record in records)
    assert CALL_USD * asked <= spent + lost + 1e-9 <= CALL_USD * (asked + unsent) + 2e-9
    working = [struck for struck in arena.struck if struck.asked]
    for struck, record in zip(working, records, strict=True):
        paid = record["spent_usd"] + record["lost_usd"]
        assert paid >= CALL_USD * len(struck.asked) - 1e-9, f"{struck.strike}: {record}"
        assert record["calls_lost"] <= CONCURRENCY, f"{struck.strike}: {record}"
    plan = arena.project.plan()
    assert plan["reserved_usd"] == 0
    assert float(str(plan["spent_usd"])) == pytest.approx(spent + lost)


def assert_calls_are_told(arena: Arena) -> None:
    """The call log holds each call of a native run once, whatever ended it, with the state that its attempt gave it."""
    folder = arena.project.eval
    events = [json.loads(line) for path in folder.glob("logs/*.jsonl") for line in path.read_text().splitlines()]
    told = [(event["attempt"], event["item"]) for event in events if event["event"] == "provider_attempt"]
    journals = sorted(folder.glob("runs/*/inspect/calls-*.jsonl"))
    begun = [
        (number, line["item"])
        for number, path in enumerate(journals, 1)
        for line in map(json.loads, path.read_text().splitlines())
        if line["event"] == "begun"
    ]
    assert sorted(told) == sorted(begun)
    states = Counter(event["state"] for event in events if event["event"] == "provider_attempt")
    assert states["answered"] == sum(len(record["finished"]) for record in attempts(folder))
    assert states["lost"] + states["interrupted"] == len(told) - states["answered"]


def assert_wire_is_whole(arena: Arena) -> None:
    """wire.jsonl holds every request that the server counted, and a reply for each call that a log holds."""
    lines = arena.project.wire()
    working = [struck for struck in arena.struck if struck.asked]
    records = attempts(arena.project.eval)
    for number, (struck, record) in enumerate(zip(working, records, strict=True), 1):
        own = [line for line in lines if line["attempt"] == number]
        sent = Counter(str(line["item"]) for line in own if line["event"] == "sent")
        assert struck.asked - sent == Counter(), f"{struck.strike}: left without a record"
        assert sum((sent - struck.asked).values()) <= CONCURRENCY
        answered = sum(line["event"] != "sent" and line["status"] == 200 for line in own)
        assert answered >= len(record["finished"])
        assert record["wire"]["requests"] == sum(sent.values())
