"""wire.jsonl read back: what left for the model in one attempt, and what came back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from tamesu.base.canonical import digest_bytes
from tamesu.base.errors import EvidenceError
from tamesu.base.model.wire import WireReply, WireRequest
from tamesu.edge.store.files import whole_lines


@dataclass(frozen=True, slots=True)
class WireLines:
    """The lines of one attempt; `sha256` is over their bytes, None when there are none."""

    requests: tuple[WireRequest, ...]
    replies: tuple[WireReply, ...]
    sha256: str | None


@dataclass(frozen=True, slots=True)
class _Head:
    attempt: int
    event: str


def read_wire(path: Path, attempt: int) -> WireLines:
    """Return the lines of an attempt; one torn by a death at the end of the file does not count.

    Raises EvidenceError for a line that was altered.
    """
    requests: list[WireRequest] = []
    replies: list[WireReply] = []
    own: list[bytes] = []
    for number, line in enumerate(whole_lines(path.read_bytes()) if path.exists() else (), 1):
        try:
            head = msgspec.json.decode(line, type=_Head)
            if head.attempt != attempt:
                continue
            own.append(line)
            if head.event == "sent":
                requests.append(msgspec.json.decode(line, type=WireRequest))
            else:
                replies.append(msgspec.json.decode(line, type=WireReply))
        except (msgspec.ValidationError, msgspec.DecodeError) as error:
            raise EvidenceError(f"{path}:{number}: {error}; restore it from version control") from None
    return WireLines(tuple(requests), tuple(replies), digest_bytes(b"\n".join(own)) if own else None)


def wire_digests(path: Path) -> dict[int, str]:
    """Return the SHA-256 over the lines of each attempt, as `read_wire` states it.

    Raises EvidenceError for a line that names no attempt.
    """
    lines: dict[int, list[bytes]] = {}
    for number, line in enumerate(whole_lines(path.read_bytes()), 1):
        try:
            lines.setdefault(msgspec.json.decode(line, type=_Head).attempt, []).append(line)
        except (msgspec.ValidationError, msgspec.DecodeError) as error:
            raise EvidenceError(f"{path}:{number}: {error}; restore it from version control") from None
    return {attempt: digest_bytes(b"\n".join(own)) for attempt, own in lines.items()}
