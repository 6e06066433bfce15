"""Which items a pack holds, in which order and under which names: all from a seed that stays in the key."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tamesu.base.canonical import Json, canonical_bytes
from tamesu.core.rows import ItemRow


class Content(StrEnum):
    """What a pack is made of."""

    OWED = "owed"  # what this reviewer has not answered and somebody has to
    ALL = "all"  # and what this reviewer has answered before
    DISPUTED = "disputed"  # what reviewers disagree about


@dataclass(frozen=True, slots=True)
class Lot:
    """Draws from a seed: without the seed nobody can tell what a name stands for, or what an order says."""

    seed: str
    reviewer: str

    def entry_id(self, row: ItemRow) -> str:
        """Return the opaque ID of an entry: hex digits, so that no word can stand in it by chance."""
        return f"e-{self.draw('entry', row.run_id, row.item)[:12]}"

    def shuffled(self, rows: Iterable[ItemRow]) -> tuple[ItemRow, ...]:
        return tuple(sorted(rows, key=lambda row: self.draw("order", row.run_id, row.item)))

    def draw(self, *what: str) -> str:
        """Return 64 hex digits that only the seed explains."""
        message: list[Json] = [self.reviewer, *what]
        return hmac.new(self.seed.encode(), canonical_bytes(message), hashlib.sha256).hexdigest()


def chosen_rows(rows: Sequence[ItemRow], reviewer: str, content: Content, run: str | None) -> tuple[ItemRow, ...]:
    """Return the rows that a pack for a reviewer holds, in the order of the plan."""
    return tuple(row for row in rows if run in (None, row.run_id) and _fits(row, reviewer, content))


def _fits(row: ItemRow, reviewer: str, content: Content) -> bool:
    answered = any(one.reviewer == reviewer for one in row.human.counted)
    match content:
        case Content.DISPUTED:
            return row.review == "disagreement"
        case Content.ALL:
            return answered or row.review == "owed"
    return row.review == "owed" and not answered
