"""Path patterns with `*`, `?`, `[…]` and `**`, matched in time proportional to pattern times path."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias


class Wild(enum.Enum):
    """A part of a pattern that stands for more than one text."""

    CHARACTER = enum.auto()  # `?`
    STEP = enum.auto()  # `*`, nothing of another folder
    REST = enum.auto()  # `**` at the end or inside a name
    FOLDERS = enum.auto()  # `**/`, none or several


Part: TypeAlias = "str | re.Pattern[str] | Wild"


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A pattern by its parts; a text part is one character."""

    parts: tuple[Part, ...]

    def matches(self, path: str) -> bool:
        """Return whether the whole path is matched."""
        states = self._reached([0])
        for character in path:
            states = self._reached(state for before in states for state in self._step(before, character))
        return len(self.parts) in states

    # A state is the number of parts that are done; `-n - 1` is 'inside the folders of part n'.
    def _reached(self, states: Iterable[int]) -> set[int]:
        reached: set[int] = set()
        for start in states:
            state = start
            while state not in reached:
                reached.add(state)
                if not 0 <= state < len(self.parts) or not isinstance(self.parts[state], Wild):
                    break
                if self.parts[state] is Wild.CHARACTER:
                    break
                if self.parts[state] is Wild.FOLDERS:
                    reached.add(-state - 1)
                state += 1
        return reached

    def _step(self, state: int, character: str) -> tuple[int, ...]:
        if state < 0:
            return (state, -state) if character == "/" else (state,)
        part = self.parts[state] if state < len(self.parts) else None
        if part is Wild.REST:
            return (state,)
        if part is Wild.STEP:
            return (state,) if character != "/" else ()
        if part is Wild.CHARACTER:
            matched = character != "/"
        elif isinstance(part, re.Pattern):
            matched = character != "/" and part.fullmatch(character) is not None
        else:
            matched = part == character
        return (state + 1,) if matched else ()


def compile_pattern(written: str) -> PathPattern | None:
    """Return a pattern; None when a class in it is malformed."""
    parts: list[Part] = []
    at = 0
    while at < len(written):
        part, at = _part(written, at)
        if part is None:
            return None
        # twice the same wildcard stands for what one of them does
        if part is Wild.CHARACTER or not isinstance(part, Wild) or parts[-1:] != [part]:
            parts.append(part)
    return PathPattern(tuple(parts))


def _part(written: str, at: int) -> tuple[Part | None, int]:
    """Return the next part of a pattern, and where the pattern goes on."""
    for text, wild in (("**/", Wild.FOLDERS), ("**", Wild.REST), ("*", Wild.STEP), ("?", Wild.CHARACTER)):
        if written.startswith(text, at):
            return wild, at + len(text)
    if written[at] == "[":
        end = written.find("]", at + 2)
        return (_class(written[at + 1 : end]) if end > 0 else None), end + 1
    if written[at] == "\\" and at + 1 < len(written):
        return written[at + 1], at + 2
    return written[at], at + 1


def _class(inside: str) -> re.Pattern[str] | None:
    try:
        return re.compile("[" + inside.replace("[", "\\[") + "]")
    except re.error:
        return None
