"""The nodes of a YAML document, each with its place and its size once aliases are expanded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tamesu.edge.documents.document import Position
from tamesu.edge.documents.yaml_scalars import Scalar


@dataclass(frozen=True, slots=True)
class ScalarContent:
    """A scalar; `plain` is its spelling in the file where it was written without quotes."""

    value: Scalar
    plain: str | None


@dataclass(frozen=True, slots=True)
class Entry:
    """What a key of a mapping refers to, where the key stands, and whether it was written without quotes."""

    key: Position
    plain: bool
    value: Node


Content: TypeAlias = "ScalarContent | tuple[Node, ...] | Mapping[str, Entry]"


@dataclass(frozen=True, slots=True)
class Node:
    """One node; several parents may hold the same one.

    `nodes` and `characters` count what full expansion yields; `height` is the number of nested collections.
    """

    position: Position
    content: Content
    nodes: int = 1
    characters: int = 0
    height: int = 0


def scalar_node(position: Position, text: str, value: Scalar, plain: str | None) -> Node:
    """Return the node of a scalar whose spelling without quotes is `text`."""
    return Node(position, ScalarContent(value, plain), characters=len(text))


def sequence_node(position: Position, items: Sequence[Node]) -> Node:
    """Return the node of a sequence."""
    return _collection(position, tuple(items), items, 0)


def mapping_node(position: Position, entries: Mapping[str, Entry]) -> Node:
    """Return the node of a mapping."""
    values = [entry.value for entry in entries.values()]
    return _collection(position, entries, values, sum(map(len, entries)))


def _collection(position: Position, content: Content, children: Sequence[Node], key_characters: int) -> Node:
    return Node(
        position,
        content,
        nodes=1 + sum(child.nodes for child in children),
        characters=key_characters + sum(child.characters for child in children),
        height=1 + max((child.height for child in children), default=0),
    )
