"""What an attempt asks: the lines of its frozen dataset, as messages."""

from __future__ import annotations

import json
from dataclasses import dataclass

from tamesu.edge.backends.protocol import AttemptRequest
from tamesu.edge.providers.calls import TextPart, Turn


@dataclass(frozen=True, slots=True)
class Question:
    """One item as the model sees it; `digest` is that of its record and assets, as identity counts it."""

    item: str
    digest: str
    turns: tuple[Turn, ...]


def questions(request: AttemptRequest) -> tuple[Question, ...]:
    """Return what an attempt asks, in the order of its dataset."""
    content = request.paths.attempt_dataset(request.attempt).read_bytes()
    records = [json.loads(line) for line in content.split(b"\n") if line.strip()]
    digests = request.spec.sample_digests
    return tuple(
        Question(
            item=record["id"],
            digest=digests[record["id"]],
            turns=tuple(Turn(turn["role"], (TextPart(turn["content"]),)) for turn in record["input"]),
        )
        for record in records
    )
