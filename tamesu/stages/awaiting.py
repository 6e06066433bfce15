"""Waiting that is told: at once, and again every half minute, so that nobody takes it for a hang."""

from __future__ import annotations

import time
from collections.abc import Callable

from tamesu.edge.endpoints.patience import Patience

_SECONDS_BETWEEN_LINES = 30.0


def told_patience(
    seconds: float,
    tell: Callable[[], None],
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
) -> Patience:
    """Return a patience of so many seconds that calls `tell` before its first wait and then every half minute."""
    last: list[float] = []

    def told_wait(pause: float) -> None:
        if not last or clock() - last[-1] >= _SECONDS_BETWEEN_LINES:
            last.append(clock())
            tell()
        wait(pause)

    return Patience(seconds, clock, told_wait)
