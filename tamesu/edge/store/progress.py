"""The progress file of an invocation: many jobs append events, one reader follows.

Whoever wants to see progress creates the file; where it is missing, nothing is written. Nothing here ever fails a
run: what cannot be written or read is left out.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tamesu.base.model.progress import (
    AttemptBegun,
    AttemptClosed,
    CallsEnded,
    EndpointAwaited,
    ItemEnded,
    ProgressEvent,
)

_LARGEST_LINE = 4000  # what one write appends whole, whoever else appends
_KEPT = 50


def open_progress(path: Path) -> None:
    """Create the file, so that jobs write to it, and forget those of long ago."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        files = sorted(path.parent.glob("*.jsonl"), key=lambda file: file.stat().st_mtime)
        for old in files[:-_KEPT]:
            old.unlink(missing_ok=True)


def tell_progress(path: Path | None, event: ProgressEvent) -> None:
    """Append one event if anybody asked for it."""
    if path is None:
        return
    with suppress(OSError, msgspec.MsgspecError):
        line = msgspec.json.encode(event) + b"\n"
        if len(line) > _LARGEST_LINE:
            return
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            os.write(handle, line)
        finally:
            os.close(handle)


@dataclass(frozen=True, slots=True)
class _Head:
    event: str


_DECODERS: dict[str, Callable[[bytes], ProgressEvent]] = {
    "attempt_begun": msgspec.json.Decoder(AttemptBegun).decode,
    "calls_ended": msgspec.json.Decoder(CallsEnded).decode,
    "item_ended": msgspec.json.Decoder(ItemEnded).decode,
    "attempt_closed": msgspec.json.Decoder(AttemptClosed).decode,
    "endpoint_awaited": msgspec.json.Decoder(EndpointAwaited).decode,
}
_HEAD = msgspec.json.Decoder(_Head)


def _event(line: bytes) -> ProgressEvent | None:
    try:
        return _DECODERS[_HEAD.decode(line).event](line)
    except (msgspec.MsgspecError, KeyError, UnicodeDecodeError):
        return None


class ProgressReader:
    """Follows a progress file; each event is returned once, half-written lines when they are whole."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0

    def new(self) -> tuple[ProgressEvent, ...]:
        """Return the events since the last time; none when the file is gone."""
        try:
            with self._path.open("rb") as stream:
                stream.seek(self._offset)
                content = stream.read()
        except OSError:
            return ()
        whole = content[: content.rfind(b"\n") + 1]
        self._offset += len(whole)
        events = (_event(line) for line in whole.split(b"\n") if line)
        return tuple(event for event in events if event is not None)
