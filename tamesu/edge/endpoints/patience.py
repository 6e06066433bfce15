"""Waiting for something to become so, with a clock and a wait that are handed over."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")
_FIRST_SECONDS = 1.0
_LONGEST_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait at most, in seconds; `clock` tells seconds, `wait` lets some pass."""

    seconds: float
    clock: Callable[[], float] = time.monotonic
    wait: Callable[[float], None] = time.sleep

    def until(self, look: Callable[[], T], done: Callable[[T], bool]) -> tuple[T, float]:
        """Look until it is done or patience ends; return the last look and the seconds waited. Looks at least once."""
        start, pause = self.clock(), _FIRST_SECONDS
        while True:
            found = look()
            passed = self.clock() - start
            if done(found) or passed >= self.seconds:
                return found, passed
            self.wait(min(pause, self.seconds - passed))
            pause = min(2 * pause, _LONGEST_SECONDS)
