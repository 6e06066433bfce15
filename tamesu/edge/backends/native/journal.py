"""The journal of one attempt: a line before an item is asked, a line when its answer is kept, a line at the end.

It is what an `.eval` log is for Inspect: what lies in it is final, what was begun and never ended was in flight. Texts
are not in it; they lie in the staging area, and the journal names their digests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from tamesu.base.canonical import Json
from tamesu.base.errors import FrameworkFault
from tamesu.base.model.evidence import Fault, Usage
from tamesu.edge.store.files import append_line, append_unsynced, whole_lines

Status = Literal["success", "cancelled", "started"]


class Opened(msgspec.Struct, frozen=True, tag_field="event", tag="opened"):
    """Whose journal it is; `generation` is the whole map behind the run's identity."""

    run_id: str
    attempt: int
    identity_version: int
    generation: dict[str, Json]
    recorded: bool


class Begun(msgspec.Struct, frozen=True, tag_field="event", tag="begun"):
    """An item is about to be asked; `prompt` is the digest of its record in the frozen dataset.

    All times are seconds since the epoch, UTC. `messages` is the digest of the messages as they are handed over, None
    in journals of before it was noted.
    """

    item: str
    prompt: str
    time: float
    messages: str | None = None


class Ended(msgspec.Struct, frozen=True, tag_field="event", tag="ended"):
    """What came of an item; `outputs` are the SHA-256 of what was staged, in order.

    `usage_problem` is a line about token counts that cannot be. `limit` names the limit that was hit. `refused` says
    that the answer was an error of the provider's, so that no answer was served.
    """

    item: str
    time: float
    started: float
    answered: bool
    no_content: bool
    stop_reason: str | None
    usage: Usage | None
    usage_problem: str | None
    error: Fault | None
    limit: str | None
    outputs: tuple[str, ...] = ()
    served: str | None = None
    request_id: str | None = None
    refused: bool = False


class Closed(msgspec.Struct, frozen=True, tag_field="event", tag="closed"):
    status: Literal["success", "cancelled"]


Line = Opened | Begun | Ended | Closed


@dataclass(frozen=True, slots=True)
class Journal:
    """A journal as read: the last line of each item, and how the attempt ended; `started` when nobody closed it."""

    opened: Opened
    begun: Mapping[str, Begun]
    ended: Mapping[str, Ended]
    status: Status

    @property
    def in_flight(self) -> tuple[str, ...]:
        """Items that were begun and never ended."""
        return tuple(item for item in self.begun if item not in self.ended)


def write_line(path: Path, line: Line) -> None:
    """Append one line, durable on return. Raises StorageFull."""
    append_line(path, msgspec.json.encode(line))


def begin_line(path: Path, line: Begun) -> None:
    """Append the line of an item that is about to be asked, without waiting for the disk: it survives a kill."""
    append_unsynced(path, msgspec.json.encode(line))


def read_journal(path: Path) -> Journal:
    """Return a journal; a torn last line was never acted upon. Raises FrameworkFault for a file that is none."""
    lines = list(_lines(path))
    if not lines or not isinstance(lines[0], Opened):
        raise FrameworkFault(f"{path.name}: does not begin as a journal of calls does")
    begun = {line.item: line for line in lines if isinstance(line, Begun)}
    ended: dict[str, Ended] = {}
    for line in lines:
        if isinstance(line, Ended):
            if line.item in ended:
                raise FrameworkFault(f"the journal holds item '{line.item}' more than once")
            ended[line.item] = line
    closed = [line for line in lines if isinstance(line, Closed)]
    return Journal(lines[0], begun, ended, closed[-1].status if closed else "started")


def _lines(path: Path) -> Iterator[Line]:
    for number, line in enumerate(whole_lines(path.read_bytes()), 1):
        try:
            yield msgspec.json.decode(line, type=Line)
        except msgspec.ValidationError as error:
            raise FrameworkFault(f"{path.name}, line {number}: {error}") from None
        except msgspec.DecodeError as error:
            if line.startswith(b"{") and not line.rstrip().endswith(b"}"):
                continue  # torn by a death, and followed by what came after it
            raise FrameworkFault(f"{path.name}, line {number}: {error}") from None
