"""Single calls that are answered from recordings: no network, no cost, and Inspect is not imported."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tamesu.base.model.evidence import Fault, Usage
from tamesu.edge.providers.calls import Called, ReplyPicture
from tamesu.edge.providers.recordings import Cell, RecordedTurn, RecordedUsage, Recordings, no_answer

_LONGEST_ERROR = 500  # as of a live call


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """Which recorded answer a call gets: by item, by who asks about which run, and as the how-manieth (from 0)."""

    item: str
    cell: Cell
    number: int


class ReplayedCalls:
    """Answers calls from recordings; `calls` is a file that gets one line per call served.

    `pictures` is the folder of recorded pictures, each named by its SHA-256.
    """

    def __init__(self, recordings: Recordings, calls: Path, pictures: Path | None = None) -> None:
        self._recordings = recordings
        self._calls = calls
        self._pictures = pictures

    async def call(self, wanted: RecordedCall) -> Called:
        """Return what is recorded; a missing answer and a recorded error are faults."""
        turn = self._turn(wanted)
        if turn is None:
            return Called(None, None, None, 0, Fault("NotRecorded", no_answer(wanted.item, wanted.number, wanted.cell)))
        self._count(wanted)
        if turn.latency_seconds > 0:
            await asyncio.sleep(turn.latency_seconds)
        latency_ms = round(1000 * turn.latency_seconds)
        if turn.error is not None:
            fault = Fault("ProviderUnavailable", " ".join(turn.error.split())[:_LONGEST_ERROR])
            return Called(None, None, None, latency_ms, fault, passing=True)
        usage = _usage(turn.usage)
        pictures = tuple(self._shown(turn))
        return Called(turn.text, turn.stop_reason, usage, latency_ms, unaccounted=int(usage is None), pictures=pictures)

    def _shown(self, turn: RecordedTurn) -> Iterator[ReplyPicture]:
        if self._pictures is not None:
            for picture in turn.pictures:
                yield ReplyPicture((self._pictures / picture.sha256).read_bytes(), "")

    def _turn(self, wanted: RecordedCall) -> RecordedTurn | None:
        answer = self._recordings.answer(wanted.item, wanted.cell)
        return None if answer is None or wanted.number >= len(answer.turns) else answer.turns[wanted.number]

    def _count(self, wanted: RecordedCall) -> None:
        cell = wanted.cell
        line = {"model": cell.model, "arm": cell.arm, "rep": cell.repetition, "item": wanted.item}
        line |= {"turn": wanted.number + 1, "judge": cell.judge, "judged": cell.judged}
        handle = os.open(self._calls, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            os.write(handle, json.dumps(line).encode() + b"\n")
        finally:
            os.close(handle)


def _usage(usage: RecordedUsage | None) -> Usage | None:
    if usage is None:
        return None
    total = usage.input + usage.output + usage.cache_read + usage.cache_write
    return Usage(usage.input, usage.output, usage.cache_read, usage.cache_write, usage.reasoning, total)
