"""What an attempt asks: the lines of its frozen dataset, as messages, with the pictures that were frozen beside it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tamesu.edge.backends.protocol import AttemptRequest
from tamesu.edge.backends.sent_pictures import sent_picture
from tamesu.edge.providers.calls import TextPart, Turn, turns_digest


@dataclass(frozen=True, slots=True)
class Question:
    """One item as the model sees it; `digest` is that of its record and assets, as identity counts it.

    `texts` are its messages without pictures, `pictures` the SHA-256 of those that the user's message ends with, which
    lie in `folder`.
    """

    item: str
    digest: str
    texts: tuple[Turn, ...]
    pictures: tuple[str, ...]
    folder: Path

    @property
    def messages_digest(self) -> str:
        """The SHA-256 of the messages, equal to that of what is sent."""
        return turns_digest(self.texts, self.pictures)

    def turns(self) -> tuple[Turn, ...]:
        """Return the messages with their pictures, read now. Raises EvidenceError for one that is not as frozen."""
        if not self.pictures:
            return self.texts
        *before, last = self.texts
        pictures = (sent_picture(self.folder, sha256) for sha256 in self.pictures)
        return (*before, Turn(last.role, (*last.parts, *pictures)))


def questions(request: AttemptRequest) -> tuple[Question, ...]:
    """Return what an attempt asks, in the order of its dataset."""
    content = request.paths.attempt_dataset(request.attempt).read_bytes()
    records = [json.loads(line) for line in content.split(b"\n") if line.strip()]
    return tuple(_question(request, record) for record in records)


def _question(request: AttemptRequest, record: dict[str, Any]) -> Question:
    return Question(
        item=record["id"],
        digest=request.spec.sample_digests[record["id"]],
        texts=tuple(Turn(turn["role"], (TextPart(turn["content"]),)) for turn in record["input"]),
        pictures=tuple(record.get("pictures", ())),
        folder=request.paths.sent_pictures,
    )
