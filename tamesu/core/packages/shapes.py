"""The shapes of issued keys: patterns, each behind what every match holds, so that most texts need no pattern."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a key that somebody issues.

    Every match of `pattern` holds, in small letters, one of `literals` or a match of `sign`; neither: unknown.
    """

    kind: str
    pattern: re.Pattern[str]
    literals: tuple[bytes, ...] = ()
    sign: re.Pattern[bytes] | None = None

    def may_be_in(self, small: bytes) -> bool:
        """Return whether a text in small letters may hold a match; false is certain."""
        if self.sign is not None:
            return self.sign.search(small) is not None
        return not self.literals or any(literal in small for literal in self.literals)
