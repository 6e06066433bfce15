"""Variables in compose files and Dockerfiles: `$VAR`, `${VAR}`, defaults, alternatives, nested ones.

Pure: what a name stands for is looked up by the caller, and no environment is ever read.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

MAX_CHARACTERS = 65_536
MAX_NESTING = 32

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPERATOR = re.compile(r":?[-+?]")


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Why a text cannot be known before the execution; a clause that follows a colon."""

    why: str


Resolved: TypeAlias = str | Unresolved
# None: the variable is unset.
Lookup: TypeAlias = Callable[[str], "str | Unresolved | None"]


class Missing(enum.Enum):
    """What an unset variable without default yields: nothing that can be known, or an empty text."""

    UNRESOLVED = enum.auto()
    BLANK = enum.auto()


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a literal dollar sign is written: `mark` before the character it protects."""

    mark: str


COMPOSE = Dialect("$")
BACKSLASH = Dialect("\\")
BACKTICK = Dialect("`")


def interpolate(
    text: str, lookup: Lookup, dialect: Dialect = COMPOSE, missing: Missing = Missing.UNRESOLVED
) -> Resolved:
    """Return the text with its variables replaced, or why that cannot be done; at most 65,536 characters.

    Forms and their meaning: Compose file reference, "Interpolation"; Dockerfile reference, "Environment
    replacement".
    """
    return _Interpolation(lookup, dialect, missing).expand(text, 0)


@dataclass(frozen=True, slots=True)
class _Interpolation:
    lookup: Lookup
    dialect: Dialect
    missing: Missing

    def expand(self, text: str, nesting: int) -> Resolved:
        if nesting > MAX_NESTING or len(text) > MAX_CHARACTERS:
            return Unresolved("its variables are nested too deep or its text is too long")
        parts: list[str] = []
        at, size = 0, 0
        while at < len(text):
            part, at = self._next(text, at, nesting)
            if isinstance(part, Unresolved):
                return part
            parts.append(part)
            size += len(part)
            if size > MAX_CHARACTERS:
                return Unresolved(f"it resolves to more than {MAX_CHARACTERS} characters")
        return "".join(parts)

    def _next(self, text: str, at: int, nesting: int) -> tuple[Resolved, int]:
        """Return the next piece of the result and where the text goes on."""
        if self._escaped(text, at):
            return text[at + 1 : at + 2], at + 2
        if text[at] != "$":
            return text[at], at + 1
        if text[at + 1 : at + 2] == "{":
            end = self._closing(text, at + 2)
            if end is None:
                return Unresolved("a '${' is not closed"), len(text)
            return self._braced(text[at + 2 : end], nesting), end + 1
        name = _NAME.match(text, at + 1)
        if name is None:
            return Unresolved(f"'{text[at : at + 2]}' is no variable"), len(text)
        return self._value(name.group()), name.end()

    def _escaped(self, text: str, at: int) -> bool:
        if text[at] != self.dialect.mark or at + 1 == len(text):
            return False
        return self.dialect is not COMPOSE or text[at + 1] == "$"

    def _closing(self, text: str, at: int) -> int | None:
        """Return where the brace that is open at `at` closes."""
        depth = 1
        while at < len(text):
            if self._escaped(text, at):
                at += 2
                continue
            if text.startswith("${", at):
                depth += 1
                at += 1
            elif text[at] == "}":
                depth -= 1
                if depth == 0:
                    return at
            at += 1
        return None

    def _braced(self, inside: str, nesting: int) -> Resolved:
        name = _NAME.match(inside)
        if name is None:
            return Unresolved(f"'${{{inside[:20]}}}' is no variable")
        if name.end() == len(inside):
            return self._value(name.group())
        operator = _OPERATOR.match(inside, name.end())
        if operator is None:
            return Unresolved(f"'${{{inside[:20]}}}' has a form that is not understood")
        return self._operated(name.group(), operator.group(), inside[operator.end() :], nesting)

    def _operated(self, name: str, operator: str, word: str, nesting: int) -> Resolved:
        value = self.lookup(name)
        if isinstance(value, Unresolved):
            return value
        # a colon makes an empty value count as unset
        present = value if value or ":" not in operator else None
        if operator.endswith("+"):
            return "" if present is None else self.expand(word, nesting + 1)
        if present is not None:
            return present
        if operator.endswith("?"):
            return Unresolved(f"the variable '{name}' is required and has no value")
        return self.expand(word, nesting + 1)

    def _value(self, name: str) -> Resolved:
        value = self.lookup(name)
        if value is None:
            blank = self.missing is Missing.BLANK
            return "" if blank else Unresolved(f"the variable '{name}' has no value")
        return value
