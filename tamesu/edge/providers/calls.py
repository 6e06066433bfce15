"""Single model calls, outside of any evaluation: what is sent, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from tamesu.base.canonical import Json, digest, digest_bytes
from tamesu.base.model.evidence import Fault, Usage


@dataclass(frozen=True, slots=True)
class TextPart:
    text: str


@dataclass(frozen=True, slots=True)
class ImagePart:
    """A picture without file name; `media_type` is what its bytes are."""

    media_type: str
    content: bytes


Part: TypeAlias = TextPart | ImagePart


@dataclass(frozen=True, slots=True)
class Turn:
    """One message."""

    role: Literal["system", "user"]
    parts: tuple[Part, ...]


def turns_digest(turns: Sequence[Turn], pictures: Sequence[str] = ()) -> str:
    """Return the SHA-256 of messages, pictures counted by content.

    `pictures` are the SHA-256 of further ones that the last message ends with.
    """
    told: list[Json] = [[turn.role, [_told(part) for part in turn.parts]] for turn in turns]
    if pictures:
        last = turns[-1]
        told[-1] = [last.role, [*map(_told, last.parts), *(f"sha256:{sha256}" for sha256 in pictures)]]
    return digest(told)


def _told(part: Part) -> str:
    return part.text if isinstance(part, TextPart) else f"sha256:{digest_bytes(part.content)}"


@dataclass(frozen=True, slots=True)
class ReplyPicture:
    """A picture of a reply as it came: bytes, and the media type that the provider states, which nothing trusts.

    Of a picture that came as no data, `content` is what stands in its place: the URL, the text that does not decode.
    `interim` says that it is part of the model's thinking, and no answer.
    """

    content: bytes
    media_type: str
    interim: bool = False


@dataclass(frozen=True, slots=True)
class Called:
    """What came of one call, its retries included.

    `text` is the reply as it came, None without one. `fault` says why no reply is here; `passing` that another time
    there may be one. `drift` are lines about requests that were sent otherwise than declared, or served by another
    model. `unaccounted` counts requests that may be billed and of which nothing tells the cost. `no_content` says that
    the message of the reply had no content at all; `usage_problem` is a line about token counts that cannot be.
    `pictures` are those of the reply in its order, interim ones last. `withheld` says that a filter took the reply or
    that the model refused to give one, and `refused` that the provider said so with an error, which is not billed.
    """

    text: str | None
    stop_reason: str | None
    usage: Usage | None
    latency_ms: int
    fault: Fault | None = None
    passing: bool = False
    drift: tuple[str, ...] = ()
    unaccounted: int = 0
    served: str | None = None
    request_id: str | None = None
    no_content: bool = False
    usage_problem: str | None = None
    pictures: tuple[ReplyPicture, ...] = ()
    withheld: bool = False
    refused: bool = False


class Caller(Protocol):
    """One model, ready to be called; one event loop at a time."""

    async def call(self, name: str, turns: Sequence[Turn]) -> Called:
        """Make one call; `name` says in the wire log what it is for. Whatever goes wrong with it is in the result."""
