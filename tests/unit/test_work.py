"""Many calls at a time: bounded, kept as they end, cut off at a signal, accounted for whatever happens."""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import dataclass, field

import pytest

from tamesu.base.errors import BudgetRefused, StorageFull
from tamesu.edge.providers.work import work_off


@dataclass
class Desk:
    """Notes what happens; `open_gate` lets calls end, tasks in `refused` may not begin."""

    refused: frozenset[int] = frozenset()
    unkept: frozenset[int] = frozenset()
    begun: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    in_flight: int = 0
    peak: int = 0
    hold: frozenset[int] = frozenset()
    signal_at: int | None = None

    def begin(self, task: int) -> None:
        if task in self.refused:
            raise BudgetRefused("no more")
        self.begun.append(task)

    async def ask(self, task: int) -> int:
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            if task == self.signal_at:
                os.kill(os.getpid(), signal.SIGTERM)
            if task in self.hold:
                await asyncio.Event().wait()
            await asyncio.sleep(0)
            return task * 10
        finally:
            self.in_flight -= 1

    def ended(self, task: int, result: int) -> None:
        if task in self.unkept:
            raise StorageFull("full")
        assert result == task * 10
        self.kept.append(task)

    def cut(self, task: int) -> None:
        self.lost.append(task)


def run(desk: Desk, tasks: int, at_once: int) -> int:
    return asyncio.run(work_off(range(tasks), at_once, desk))


@pytest.mark.parametrize("at_once", [1, 3, 50])
def test_everything_is_asked_once_and_kept_with_so_many_in_flight_at_most(at_once: int) -> None:
    desk = Desk()
    assert run(desk, 20, at_once) == 0
    assert (desk.begun, sorted(desk.kept), desk.lost) == (list(range(20)), list(range(20)), [])
    assert desk.peak <= at_once


def test_a_signal_starts_nothing_more_and_cuts_off_what_is_in_flight() -> None:
    before = signal.getsignal(signal.SIGTERM)
    desk = Desk(hold=frozenset({4, 5}), signal_at=6)
    assert run(desk, 100, 3) == signal.SIGTERM
    assert set(desk.kept) | set(desk.lost) == set(desk.begun)
    assert {4, 5} <= set(desk.lost)
    assert len(desk.begun) < 20
    assert signal.getsignal(signal.SIGTERM) == before


def test_when_beginning_is_refused_what_is_in_flight_is_kept() -> None:
    desk = Desk(refused=frozenset({5}))
    with pytest.raises(BudgetRefused):
        run(desk, 100, 3)
    assert (desk.begun, sorted(desk.kept), desk.lost) == ([0, 1, 2, 3, 4], [0, 1, 2, 3, 4], [])


def test_what_cannot_be_kept_ends_the_work_and_is_accounted_for() -> None:
    desk = Desk(unkept=frozenset({2}))
    with pytest.raises(StorageFull):
        run(desk, 100, 1)
    assert desk.kept == [0, 1]
    assert desk.begun == [0, 1, 2]
