"""Sampling the load of an engine while a run is under way, in a thread that disturbs nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType

from tamesu.base.model.endpoint import EngineLoad
from tamesu.base.model.load import LoadSummary

_END_SECONDS = 30.0


class LoadSampler:
    """Samples every so many seconds as a context manager; what goes wrong is counted and never raised.

    `read` returns a load, or anything else when there is none. `pause` lets the seconds pass and returns True when
    sampling shall end; by default it waits for the end of the context.
    """

    def __init__(
        self, read: Callable[[], object], every_seconds: float = 5.0, pause: Callable[[float], bool] | None = None
    ) -> None:
        self._read = read
        self._every = every_seconds
        self._ended = threading.Event()
        self._pause = pause or self._ended.wait
        self._lock = threading.Lock()
        self._samples = self._errors = 0
        self._sums, self._peaks = [0, 0], [0, 0]
        self._thread = threading.Thread(target=self._run, name="engine load", daemon=True)

    def __enter__(self) -> LoadSampler:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join(_END_SECONDS)

    def summary(self) -> LoadSummary | None:
        """Return what was sampled so far; None without a single load."""
        with self._lock:
            if self._samples == 0:
                return None
            running, waiting = (round(total / self._samples, 2) for total in self._sums)
            return LoadSummary(self._samples, self._errors, self._peaks[0], running, self._peaks[1], waiting)

    @property
    def errors(self) -> int:
        """How many looks yielded no load."""
        with self._lock:
            return self._errors

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                found = self._read()
            except Exception:
                found = None
            self._count(found)
            if self._pause(self._every):
                return

    def _count(self, found: object) -> None:
        with self._lock:
            if not isinstance(found, EngineLoad):
                self._errors += 1
                return
            self._samples += 1
            for place, value in enumerate((found.running, found.waiting)):
                self._sums[place] += value
                self._peaks[place] = max(self._peaks[place], value)
