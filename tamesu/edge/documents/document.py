"""A document that people wrote, with the place of each part, and the fault of one that cannot be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from tamesu.base.canonical import Json
from tamesu.base.errors import InvalidDocument
from tamesu.base.model.finding import Finding

NodePath: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a text; both count from 1, `column` in characters."""

    line: int
    column: int


START = Position(1, 1)

# What any document may hold: JSON carries no larger integer exactly, and readers recurse.
LARGEST_INTEGER = 2**53 - 1
MAX_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Document:
    """A value as read, with the places it came from.

    `positions` maps a path to the key of a mapping entry, or to the value of a list element; `()` is all.
    `literals` maps a path to the spelling of a plain scalar that was read as something other than text,
    `ambiguous` to one that was read as text although other YAML parsers do not; `ambiguous_keys` are such keys.
    """

    label: str
    value: Json
    positions: Mapping[NodePath, Position]
    literals: Mapping[NodePath, str] = field(default_factory=dict)
    ambiguous: Mapping[NodePath, str] = field(default_factory=dict)
    ambiguous_keys: frozenset[NodePath] = frozenset()

    def position(self, path: NodePath) -> Position:
        """Return the place of a path, or of its nearest parent that has one."""
        for length in range(len(path), -1, -1):
            known = self.positions.get(path[:length])
            if known is not None:
                return known
        return START


class DocumentFault(InvalidDocument):
    """A document that cannot be read; `finding` says where, what and how to fix it."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(str(finding))
        self.finding = finding


def fault(label: str, position: Position, rule: str, message: str, fix: str) -> DocumentFault:
    """Return the error for one place in a document."""
    return DocumentFault(Finding(label, position.line, position.column, "error", rule, message, fix))
