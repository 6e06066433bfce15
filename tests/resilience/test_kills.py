"""Seeded kills at random moments; however often, the end is what it would have been, and the books say the rest.

Four ways to die: everything at once, the execute job alone, the command and later the jobs that outlived it,
the command alone (its jobs work off everything, so this comes last).
"""

from __future__ import annotations

import random
import re
import subprocess
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.cli.calling import Caller
from tests.projects import EXPERIMENT, ShapesProject, fresh
from tests.resilience.evidence import (
    assert_books_balance,
    attempts,
    calls_by_item,
    item_facts,
    reserved,
    settled,
    total,
)
from tests.resilience.processes import Command, Launcher, is_alive, is_job, kill, wait_until
from tests.shared import made_once

pytestmark = pytest.mark.long

SEEDS = (11, 23, 37, 53)
KILLS = 5
CALLS = 96
CONCURRENCY = 4
WAYS = ("tree", "job", "orphans")


def paid_project(folder: Path) -> ShapesProject:
    """Eight runs of twelve items, slow enough to be killed in the middle, with tries to spare for the kills."""
    project = fresh(folder, items=None, paid=True)
    project.edit_eval("max_attempts: 3", "max_attempts: 20")
    recordings = project.path(EXPERIMENT / "recordings" / "answers.jsonl")
    delays = random.Random(0)
    lines = [
        re.sub(r'\{"text"', f'{{"latency_seconds": {delays.uniform(0.05, 0.25):.3f}, "text"', line, count=1)
        for line in recordings.read_text().splitlines()
    ]
    recordings.write_text("\n".join(lines) + "\n")
    assert sum("latency_seconds" in line for line in lines) == CALLS
    return project


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Caller:
    return Caller(monkeypatch, capsys)


@dataclass(frozen=True)
class Undisturbed:
    """What a run ends with when nobody kills it."""

    facts: dict[tuple[str, str], object]
    leaderboard: list[str]
    spent_usd: float


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    project = ShapesProject(made_once(tmp_path_factory, "undisturbed", _work_off))
    assert len(project.calls()) == CALLS
    return Undisturbed(item_facts(project.eval), leaderboard(project), project.spent())


def _work_off(folder: Path) -> None:
    done = paid_project(folder).tamesu("run")
    assert done.code == 0, done.out + done.err


def leaderboard(project: ShapesProject) -> list[str]:
    """Return leaderboard.md without what tells of attempts: the evidence's digest and first-attempt columns."""
    lines = (project.eval / "leaderboard.md").read_text().splitlines()
    header = next(line for line in lines if line.startswith("| model |")).split("|")
    kept = [number for number, name in enumerate(header) if "first_attempt" not in name]
    return [
        "|".join(line.split("|")[number] for number in kept) if line.startswith("|") else line
        for line in lines
        if not line.startswith("Evidence: sha256:")
    ]


def _run_of(call: Mapping[str, object]) -> tuple[object, ...]:
    return call["model"], call["arm"], call["rep"]


@dataclass
class Torture:
    """One project that is killed again and again."""

    project: ShapesProject
    launcher: Launcher
    call: Caller
    chance: random.Random
    kills: Counter[str] = field(default_factory=Counter)

    def strike(self, way: str) -> None:
        """Start a run, kill part of it at a random moment, and wait until the survivors have ended."""
        run = self.launcher.tamesu(self.project, "run")
        self._await_moment(run, way)
        tree = run.tree()
        if not tree or run.process.poll() is not None:
            return
        victims = tree
        if way in {"command", "orphans"}:
            victims = tree[:1]
        elif way == "job":
            victims = [one for one in tree if is_job(one, "execute")]
            if not victims:
                return
        kill(victims)
        self.kills[way] += 1
        if way in {"command", "orphans"}:
            self._assert_survivors_named(run)
        if way == "orphans":
            kill(run.survivors())
        if way == "job":
            run.wait()
        wait_until(lambda: not run.survivors(), f"what survived a kill of the {way} to end")

    def _await_moment(self, run: Command, way: str) -> None:
        """Half of the kills wait for a number of calls, the others for a moment anywhere."""
        if way != "tree" or self.chance.random() < 0.6:
            goal = len(self.project.calls()) + self.chance.randint(1, 13)
            wait_until(
                lambda: len(self.project.calls()) >= goal or run.process.poll() is not None, "calls to be made", 240
            )
            return
        moment = self.chance.uniform(0.1, 5.0)  # in a run of eight seconds or more, so that something is left
        with suppress(subprocess.TimeoutExpired):
            run.process.wait(timeout=moment)

    def _assert_survivors_named(self, run: Command) -> None:
        """While an orphaned job asks models, `tamesu status` names it."""
        while orphans := [one for one in run.survivors() if is_job(one, "execute")]:
            orphan = orphans[0]
            earlier = self.project.calls()
            # in this process, as one that starts gives the orphan time to finish what others were to be killed at
            status = self.call(self.project, "status")
            assert status.code == 0, status.err
            named = {int(pid) for pid in re.findall(r"is held by process (\d+) on ", status.out)}
            assert named <= set(run.seen) | {one.pid for one in run.survivors()}
            if orphan.pid in named:
                return
            later = len(self.project.calls())
            wait_until(lambda: not is_alive(orphan) or len(self.project.calls()) > later, "a call or the end")  # noqa: B023
            further = self.project.calls()[later:]
            held_throughout = earlier and further and _run_of(earlier[-1]) == _run_of(further[0])
            assert not held_throughout, f"process {orphan.pid} held a run all the while: {status.out}"

    def complete(self) -> None:
        """One run with nobody in the way completes everything."""
        done = self.project.tamesu("run")
        assert done.code == 0, done.out + done.err
        assert "unlock" not in done.err


@pytest.mark.parametrize("seed", SEEDS)
def test_killed_runs_end_as_if_nobody_had_killed_them(
    tmp_path: Path, launcher: Launcher, call: Caller, undisturbed: Undisturbed, seed: int
) -> None:
    torture = Torture(paid_project(tmp_path / "shapes"), launcher, call, random.Random(seed))
    for way in [*torture.chance.choices(WAYS, k=KILLS), "command"]:
        torture.strike(way)
    torture.complete()
    print(f"seed {seed}: {dict(torture.kills)}, {len(torture.project.calls())} calls")
    assert sum(torture.kills.values()) >= 5
    assert_same_end(torture.project, undisturbed)
    assert_nothing_finished_was_repeated(torture.project, sum(torture.kills.values()))
    assert_books_add_up(torture.project, undisturbed)


def assert_same_end(project: ShapesProject, undisturbed: Undisturbed) -> None:
    facts = item_facts(project.eval)
    assert undisturbed.facts.keys() == facts.keys()
    differing = {key: (undisturbed.facts[key], facts[key]) for key in facts if undisturbed.facts[key] != facts[key]}
    assert differing == {}
    assert undisturbed.leaderboard == leaderboard(project)


def assert_nothing_finished_was_repeated(project: ShapesProject, kills: int) -> None:
    """A sample is finished in one attempt only, and asked once more only by a kill that caught it in flight."""
    caught: Counter[tuple[object, ...]] = Counter()
    finished: Counter[tuple[object, ...]] = Counter()
    for record in attempts(project.eval):
        model, arm, repetition = str(record["run_id"]).split("--")[:3]
        cell = (model, arm, int(repetition.removeprefix("rep")))
        finished.update((*cell, item) for item in record["finished"])
        if record["state"] == "died":
            caught.update((*cell, item) for item in record["used"] if item not in record["finished"])
    calls = calls_by_item(project)
    assert {1} == set(finished.values())
    assert len(finished) == CALLS
    assert {key: count for key, count in calls.items() if count > 1 + caught[key]} == {}
    assert sum(calls.values()) <= CALLS + CONCURRENCY * kills


def assert_books_add_up(project: ShapesProject, undisturbed: Undisturbed) -> None:
    ledger = project.ledger()
    assert reserved(ledger) == settled(ledger)
    assert_books_balance(project)
    costs = sum(float(str(fact["cost_usd"])) for fact in item_facts(project.eval).values())  # type: ignore[index]
    assert round(costs, 9) == undisturbed.spent_usd
    records = attempts(project.eval)
    bounds = {path.parents[1].name: _largest_call(path) for path in project.eval.glob("runs/*/inspect/spec.json")}
    lost = round(sum(record["calls_lost"] * bounds[record["run_id"]] for record in records), 9)
    assert lost == pytest.approx(total(ledger, "lost_usd"), abs=1e-8)
    assert undisturbed.spent_usd == pytest.approx(total(ledger, "spent_usd"), abs=1e-8)
    extra = len(project.calls()) - CALLS
    assert extra <= sum(record["calls_lost"] for record in records)
    plan = project.plan()
    assert plan["reserved_usd"] == 0
    assert project.spent() == pytest.approx(float(str(plan["spent_usd"])), abs=1e-8)


def _largest_call(spec: Path) -> float:
    (found,) = re.findall(r'"largest_call_usd":([0-9.e-]+)', spec.read_text())
    return float(found)
