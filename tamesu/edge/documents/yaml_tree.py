"""Parser events to a tree of nodes, refusing what a document may not hold before anything is expanded."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

import yaml

from tamesu.edge.documents.decoding import UNCARRIED_CHARACTER, shortened
from tamesu.edge.documents.document import MAX_DEPTH, START, DocumentFault, Position, fault
from tamesu.edge.documents.yaml_nodes import (
    Entry,
    Node,
    ScalarContent,
    mapping_node,
    scalar_node,
    sequence_node,
)
from tamesu.edge.documents.yaml_scalars import UncarriedNumber, resolve_plain
from tamesu.edge.documents.yaml_spaces import is_other_space, space_fault

MAX_NODES = 150_000
MAX_EXPANDED_NODES = 10_000
MAX_EXPANDED_CHARACTERS = 8 * 1024 * 1024

_MERGE = "<<"
_CORE_TAGS = "tag:yaml.org,2002:"


class MergeKeys(enum.Enum):
    """Whether `<<` is resolved (compose files) or refused (manifests)."""

    ALLOW = "allow"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class _Key:
    text: str
    position: Position
    plain: bool
    merges: bool


@dataclass(slots=True)
class _Sequence:
    """A sequence whose end was not reached yet."""

    position: Position
    anchor: str | None
    items: list[Node] = field(default_factory=list)

    def finish(self) -> Node:
        return sequence_node(self.position, self.items)


@dataclass(slots=True)
class _Mapping:
    """A mapping whose end was not reached yet; `key` waits for its value."""

    position: Position
    anchor: str | None
    entries: dict[str, Entry] = field(default_factory=dict)
    merged: dict[str, Entry] = field(default_factory=dict)
    merge_at: Position | None = None
    key: _Key | None = None

    def finish(self) -> Node:
        return mapping_node(self.position, {**self.merged, **self.entries})


class TreeBuilder:
    """Takes the events of one document in order; afterwards `root` is its tree, or None for an empty file."""

    def __init__(self, label: str, merges: MergeKeys) -> None:
        self.root: Node | None = None
        self._label = label
        self._merges = merges
        self._open: list[_Sequence | _Mapping] = []
        self._anchors: dict[str, Node | _Sequence | _Mapping] = {}
        self._documents = 0
        self._nodes = 0
        self._expanded_nodes = 0
        self._expanded_characters = 0

    def take(self, event: yaml.Event, text: str) -> None:
        """Add one event; `text` is the content if it is a scalar. Raises DocumentFault."""
        position = event_position(event)
        if isinstance(event, yaml.ScalarEvent):
            self._count(position)
            self._check_tag(event.tag, position)
            self._add(self._scalar(event, text, position), event.anchor, position)
        elif isinstance(event, yaml.AliasEvent):
            self._count(position)
            self._add(self._aliased(event.anchor, position), None, position)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._count(position)
            self._check_tag(event.tag, position)
            self._start(event, position)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end()
        elif isinstance(event, yaml.DocumentStartEvent):
            self._start_document(position)

    def _fault(self, position: Position, rule: str, message: str, fix: str) -> DocumentFault:
        return fault(self._label, position, f"yaml/{rule}", message, fix)

    def _start_document(self, position: Position) -> None:
        self._documents += 1
        if self._documents > 1:
            message, fix = "a second document starts here", "keep one document per file"
            raise self._fault(position, "multiple-documents", message, fix)

    def _count(self, position: Position) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            message = f"the file holds more than {MAX_NODES} values"
            raise self._fault(position, "size", message, "keep large data in JSONL files")

    def _check_tag(self, tag: str | None, position: Position) -> None:
        if tag is not None:
            message = f"the tag {shortened(tag.replace(_CORE_TAGS, '!!'))} is not supported"
            raise self._fault(position, "tag", message, "remove the tag; quote a value to make it text")

    def _scalar(self, event: yaml.ScalarEvent, text: str, position: Position) -> Node:
        if not event.style:
            try:
                return scalar_node(position, text, resolve_plain(text), text)
            except UncarriedNumber as error:
                fix = f"if it is text, quote it: '{shortened(text)}'"
                raise self._fault(position, "number", str(error), fix) from None
        uncarried = UNCARRIED_CHARACTER.search(text)
        if uncarried is not None:
            message = f"the text holds the character {shortened(uncarried.group())}"
            raise self._fault(position, "encoding", message, "remove it; JSON files cannot carry it")
        return scalar_node(position, text, text, None)

    def _aliased(self, anchor: str | None, position: Position) -> Node:
        name = anchor or ""
        target = self._anchors.get(name)
        shown = shortened(name)
        if target is None:
            message = f"no anchor &{shown} stands before this alias"
            fix = "define the anchor first, or quote the text if * belongs to it"
            raise self._fault(position, "alias", message, fix)
        if not isinstance(target, Node):
            message = f"the alias *{shown} refers to a value that contains it"
            raise self._fault(position, "self-reference", message, "write the value out")
        self._count_expansion(target, position)
        self._check_depth(len(self._open) + target.height, position)
        return target

    def _count_expansion(self, target: Node, position: Position) -> None:
        self._expanded_nodes += target.nodes - 1
        self._expanded_characters += target.characters
        if self._expanded_nodes > MAX_EXPANDED_NODES:
            bound = f"{MAX_EXPANDED_NODES} values"
        elif self._expanded_characters > MAX_EXPANDED_CHARACTERS:
            bound = f"{MAX_EXPANDED_CHARACTERS} characters"
        else:
            return
        message = f"aliases expand to more than {bound} beyond the file"
        raise self._fault(position, "alias-bomb", message, "use fewer aliases, or write the values out")

    def _check_depth(self, depth: int, position: Position) -> None:
        if depth > MAX_DEPTH:
            message = f"values are nested more than {MAX_DEPTH} deep"
            raise self._fault(position, "depth", message, "flatten the structure")

    def _start(self, event: yaml.CollectionStartEvent, position: Position) -> None:
        if self._awaiting_key() is not None:
            raise self._key_fault(position, "a list or a mapping")
        self._check_depth(len(self._open) + 1, position)
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        frame = (_Mapping if is_mapping else _Sequence)(position, event.anchor)
        if event.anchor is not None:
            self._anchors[event.anchor] = frame
        self._open.append(frame)

    def _end(self) -> None:
        frame = self._open.pop()
        node = frame.finish()
        # An anchor that was used again inside the collection belongs to that later node.
        if frame.anchor is not None and self._anchors[frame.anchor] is frame:
            self._anchors[frame.anchor] = node
        self._attach(node)

    def _add(self, node: Node, anchor: str | None, position: Position) -> None:
        if anchor is not None:
            self._anchors[anchor] = node
        mapping = self._awaiting_key()
        if mapping is None:
            self._attach(node)
        else:
            mapping.key = self._checked_key(mapping, node, position)

    def _awaiting_key(self) -> _Mapping | None:
        frame = self._open[-1] if self._open else None
        return frame if isinstance(frame, _Mapping) and frame.key is None else None

    def _attach(self, node: Node) -> None:
        frame = self._open[-1] if self._open else None
        if frame is None:
            self.root = node
        elif isinstance(frame, _Sequence):
            frame.items.append(node)
        elif frame.key is not None:
            key, frame.key = frame.key, None
            if key.merges:
                self._merge(frame, node, key.position)
            else:
                frame.entries[key.text] = Entry(key.position, key.plain, node)

    def _checked_key(self, mapping: _Mapping, node: Node, position: Position) -> _Key:
        content = node.content
        if not isinstance(content, ScalarContent):
            raise self._key_fault(position, "a list or a mapping")
        if not isinstance(content.value, str):
            raise self._key_fault(position, shortened(content.plain or "nothing"))
        key = _Key(content.value, position, content.plain is not None, content.plain == _MERGE)
        if key.merges and self._merges is MergeKeys.REFUSE:
            message = "merge keys (<<) are not supported in manifests"
            raise self._fault(key.position, "merge", message, "write the fields out")
        if key.plain and is_other_space(key.text[:1]):
            raise space_fault(self._label, key.position, key.text[0])
        self._check_duplicate(mapping, key)
        return key

    def _check_duplicate(self, mapping: _Mapping, key: _Key) -> None:
        earlier = mapping.entries.get(key.text)
        first = None if earlier is None else earlier.key
        if key.merges:
            first = mapping.merge_at
        if first is not None:
            message = f"the key '{shortened(key.text)}' appears twice, first in line {first.line}"
            raise self._fault(key.position, "duplicate-key", message, "keep one of the two")

    def _key_fault(self, position: Position, found: str) -> DocumentFault:
        fix = "quote the key; a template such as {{ … }} is quoted as a whole"
        return self._fault(position, "non-string-key", f"a key must be text, found {found}", fix)

    def _merge(self, mapping: _Mapping, node: Node, position: Position) -> None:
        mapping.merge_at = position
        sources = node.content if isinstance(node.content, tuple) else (node,)
        for source in sources:
            if not isinstance(source.content, Mapping):
                message = "the merge key << takes a mapping or a list of mappings"
                raise self._fault(position, "merge", message, "refer to mappings")
            for name, entry in source.content.items():
                mapping.merged.setdefault(name, entry)


def event_position(event: yaml.Event) -> Position:
    """Return where an event starts."""
    mark = event.start_mark
    return START if mark is None else Position(mark.line + 1, mark.column + 1)
