"""The file of recorded answers: its format, and which line answers which call.

Line 1 is a header object with `tamesu_recording: 1` and a `label`. Every further line holds `item`, optional
filters `model`, `arm`, `repetition`, and `turns`: what the model said each time it was called. The answers of a
judge may be told apart by `judge` (its ID) and `judged` (the model whose output it judges) as well. The line with
the most filters that match wins.

A turn may hold `pictures`, each a `file` below the folder of the recordings and the `sha256` of its bytes, so that the
digest of the recordings covers them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Annotated, TypeVar

import msgspec

from tamesu.base.canonical import Json, digest
from tamesu.edge.documents.document import DocumentFault, Position, fault

T = TypeVar("T")


class RecordedUsage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Tokens of one reply; `input` does not contain what was read from or written to a cache."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0


class RecordedToolCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    function: str
    arguments: dict[str, Json] = {}


class RecordedPicture(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A picture of a reply: its file below the folder of the recordings, and the SHA-256 of its bytes in hex."""

    file: str
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]

    def __post_init__(self) -> None:
        parts = PurePosixPath(self.file).parts
        if not parts or self.file.startswith("/") or ".." in parts or "\\" in self.file or ":" in self.file:
            raise ValueError(f"'{self.file}' is no path of a file below the folder of the recordings")


class RecordedTurn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One reply. `error` is raised instead of answering; a missing `usage` states none."""

    text: str = ""
    tool_calls: tuple[RecordedToolCall, ...] = ()
    usage: RecordedUsage | None = None
    stop_reason: str = "stop"
    latency_seconds: float = 0.0
    error: str | None = None
    pictures: tuple[RecordedPicture, ...] = ()


class RecordedAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    item: str
    turns: tuple[RecordedTurn, ...]
    model: str | None = None
    arm: str | None = None
    repetition: int | None = None
    judge: str | None = None
    judged: str | None = None


class _Header(msgspec.Struct, frozen=True):
    tamesu_recording: int
    label: str


@dataclass(frozen=True, slots=True)
class Cell:
    """The run that asks: model, arm and repetition; or a judge, about an output of that arm and repetition.

    Of a judge `model` is its own, `judge` its ID, and `judged` the model whose output it is.
    """

    model: str
    arm: str
    repetition: int
    judge: str | None = None
    judged: str | None = None

    @property
    def label(self) -> str:
        """What it is called in messages."""
        if self.judge is None:
            return f"{self.model} x {self.arm} rep {self.repetition}"
        return f"judge '{self.judge}' on {self.judged} x {self.arm} rep {self.repetition}"


@dataclass(frozen=True, slots=True)
class Recordings:
    """Recorded answers by item; `shown` are all their pictures, each with the line that holds it."""

    label: str
    by_item: Mapping[str, Sequence[RecordedAnswer]] = field(default_factory=dict)
    shown: tuple[tuple[int, RecordedPicture], ...] = ()

    def answer(self, item: str, cell: Cell) -> RecordedAnswer | None:
        """Return the most specific answer recorded for an item in a run."""
        fitting = [answer for answer in self.by_item.get(item, ()) if _fits(answer, cell)]
        return max(fitting, key=_filters, default=None)

    def pictures(self, items: Iterable[str], cell: Cell) -> Iterator[RecordedPicture]:
        """Yield the pictures of the answers that items get in a run."""
        answers = filter(None, (self.answer(item, cell) for item in items))
        return (picture for answer in answers for turn in answer.turns for picture in turn.pictures)


def _fits(answer: RecordedAnswer, cell: Cell) -> bool:
    return (
        answer.model in {None, cell.model}
        and answer.arm in {None, cell.arm}
        and answer.repetition in {None, cell.repetition}
        and answer.judge in {None, cell.judge}
        and answer.judged in {None, cell.judged}
    )


def _filters(answer: RecordedAnswer) -> int:
    filters = (answer.model, answer.arm, answer.repetition, answer.judge, answer.judged)
    return sum(value is not None for value in filters)


def no_answer(item: str, number: int, cell: Cell) -> str:
    """Return in one line that the call of an item with a number, from 0, has no recorded answer."""
    return f"no answer is recorded for item '{item}', turn {number + 1}, in {cell.label}"


def parse_recordings(content: bytes, label: str) -> Recordings:
    """Return the recorded answers of a file. Raises DocumentFault with the line that is wrong."""
    lines = [(number, line) for number, line in enumerate(content.split(b"\n"), 1) if line.strip()]
    if not lines:
        raise _fault(label, 1, "holds no recordings", "write a header line and one line an answer")
    header = _decode(lines[0][1], _Header, label, lines[0][0])
    if header.tamesu_recording != 1:
        raise _fault(label, lines[0][0], f"tamesu_recording is {header.tamesu_recording}", "this version reads 1")
    by_item: dict[str, list[RecordedAnswer]] = {}
    shown: list[tuple[int, RecordedPicture]] = []
    for number, line in lines[1:]:
        answer = _decode(line, RecordedAnswer, label, number)
        by_item.setdefault(answer.item, []).append(answer)
        shown += [(number, picture) for turn in answer.turns for picture in turn.pictures]
    return Recordings(header.label, by_item, tuple(shown))


def _decode(line: bytes, kind: type[T], label: str, number: int) -> T:
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _fault(label, number, str(error), "correct this line of the recordings") from None


def _fault(label: str, line: int, message: str, fix: str) -> DocumentFault:
    return fault(label, Position(line, 1), "replay/recordings", message, fix)


def prompt_key(messages: Iterable[tuple[str, str]]) -> str:
    """Return the key by which a call is matched to its item: the digest of (role, text) pairs."""
    return digest([[role, text] for role, text in messages])
