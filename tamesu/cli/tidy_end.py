"""SIGTERM for commands that write beside what they make: they end as after Ctrl-C, and nothing half-made stays."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from tamesu.cli.session import INTERRUPTED, warn


class _Ended(SystemExit):
    """SIGTERM, as it unwinds."""


@contextmanager
def ended_tidily() -> Iterator[None]:
    """Let SIGTERM unwind as an interruption does: one line, exit 143, and whatever cleans up has cleaned up."""

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        signal.signal(number, signal.SIG_IGN)  # a second one would cut off what cleans up
        raise _Ended(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except _Ended:
        warn(INTERRUPTED)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)
