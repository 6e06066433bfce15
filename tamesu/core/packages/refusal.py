"""Why an archive is no package that may be read: one value, so that every reader says it alike."""

from __future__ import annotations

from dataclasses import dataclass

from tamesu.base.errors import shown


@dataclass(frozen=True, slots=True)
class Refusal:
    """What is wrong, in words that fit behind a colon; `member` is the path as the archive spells it."""

    what: str
    member: str | None = None

    def __str__(self) -> str:
        return self.what if self.member is None else f"'{shown(self.member)}' {self.what}"
