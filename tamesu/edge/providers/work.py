"""Many calls at a time, a bounded number in flight; what each yields is kept at once, however the work ends.

Nothing here knows what is asked or kept: a desk does. Retries are not made here but where calls are made.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")
Task = TypeVar("Task", contravariant=True)
Result = TypeVar("Result")


class Desk(Protocol[Task, Result]):
    """Who makes calls and keeps what they yield; only `ask` runs beside others."""

    def begin(self, task: Task) -> None:
        """Make durable that a call is about to leave. Raises whatever forbids it: nothing more starts then."""

    async def ask(self, task: Task) -> Result:
        """Make one call; what goes wrong with it is a result, never raised."""

    def ended(self, task: Task, result: Result) -> None:
        """Make the result of a call durable."""

    def cut(self, task: Task) -> None:
        """Account for a call that was in flight when the work ended and whose result nobody will see."""


async def work_off(tasks: Iterable[T], at_once: int, desk: Desk[T, R]) -> int:
    """Work off the tasks in order, and return the number of the signal that ended the work early, or 0.

    At SIGINT and SIGTERM nothing more starts, and calls in flight are cut off. When beginning or keeping fails,
    nothing more starts, calls in flight come to their end and are kept, and the error is raised.
    """
    work = _Work(tasks, at_once, desk)
    with _signals(work.stop):
        try:
            await work.run()
        finally:
            await work.cut_off()
    return work.received


class _Work(Generic[T, R]):
    def __init__(self, tasks: Iterable[T], at_once: int, desk: Desk[T, R]) -> None:
        self._tasks = iter(tasks)
        self._at_once = at_once
        self._desk = desk
        self._in_flight: dict[asyncio.Task[R], T] = {}
        self._stopped = asyncio.Event()
        self.received = 0

    def stop(self, number: int) -> None:
        self.received = self.received or number
        self._stopped.set()

    async def run(self) -> None:
        stopped = asyncio.ensure_future(self._stopped.wait())
        try:
            while not self._stopped.is_set() and await self._filled():
                done, _ = await asyncio.wait({*self._in_flight, stopped}, return_when=asyncio.FIRST_COMPLETED)
                self._keep(done)
        finally:
            stopped.cancel()

    async def _filled(self) -> bool:
        """Begin calls while there is room; return whether any is in flight."""
        while len(self._in_flight) < self._at_once:
            task = next(self._tasks, None)
            if task is None:
                break
            try:
                self._desk.begin(task)
            except Exception:
                await self._drained()
                raise
            self._in_flight[asyncio.ensure_future(self._desk.ask(task))] = task
        return bool(self._in_flight)

    async def _drained(self) -> None:
        """Let what is in flight come to its end, unless a signal comes first."""
        stopped = asyncio.ensure_future(self._stopped.wait())
        try:
            while self._in_flight and not self._stopped.is_set():
                done, _ = await asyncio.wait({*self._in_flight, stopped}, return_when=asyncio.FIRST_COMPLETED)
                self._keep(done)
        finally:
            stopped.cancel()

    def _keep(self, done: Iterable[asyncio.Future[object]]) -> None:
        for one in [one for one in self._in_flight if one in set(done)]:
            task = self._in_flight.pop(one)
            try:
                result = one.result()
            except BaseException:
                self._desk.cut(task)
                raise
            self._desk.ended(task, result)

    async def cut_off(self) -> None:
        """Cut off what is in flight; a call that came to its end meanwhile is kept."""
        for one in self._in_flight:
            one.cancel()
        if self._in_flight:
            await asyncio.wait(self._in_flight)
        for one, task in self._in_flight.items():
            if one.cancelled() or one.exception() is not None:
                self._desk.cut(task)
            else:
                self._desk.ended(task, one.result())
        self._in_flight.clear()


@contextmanager
def _signals(stop: Callable[[int], None]) -> Iterator[None]:
    """Turn SIGINT and SIGTERM into a wish to stop while calls are made; handlers of before come back after."""
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        loop.add_signal_handler(number, stop, number)
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
