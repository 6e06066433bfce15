"""YAML as people may write it here: YAML 1.2 core, strict, with the place of every value.

Spellings that other parsers read otherwise (`no`, `on`, `012`, `1:30`, `1_000`, dates) stay text and are noted, so
that they can be refused with a line. The parser delivers events only; no tag ever constructs anything.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import yaml

from tamesu.base.canonical import Json
from tamesu.edge.documents.decoding import decode_text, position_at, shortened
from tamesu.edge.documents.document import START, Document, DocumentFault, NodePath, Position, fault
from tamesu.edge.documents.yaml_nodes import Node, ScalarContent
from tamesu.edge.documents.yaml_scalars import other_reading
from tamesu.edge.documents.yaml_spaces import is_other_space, space_fault
from tamesu.edge.documents.yaml_tree import MergeKeys, TreeBuilder

__all__ = ["MAX_BYTES", "Document", "DocumentFault", "MergeKeys", "Position", "read_yaml"]

MAX_BYTES = 8 * 1024 * 1024

_PARSER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
_TAB_INDENT = re.compile(r"^ *\t[ \t]*(?=[^ \t\n#])", re.MULTILINE)
# Line breaks to YAML 1.1 and so to the parser, ordinary characters to YAML 1.2.
_OLD_BREAKS = "\x85\u2028\u2029"
_SYNTAX_FIXES = {
    "mapping values are not allowed": "quote the text if the colon belongs to it, or correct the indentation",
    "cannot start any token": "quote the text that begins here",
    "expected ',' or ']'": "close the bracket; quote texts that hold brackets or commas",
    "expected ',' or '}'": "close the brace; quote texts that hold braces or commas",
    "did not find expected key": "indent the fields of a mapping equally, and quote the whole of a text or nothing",
    "unexpected end of stream": "close the quote",
}
_PRIVATE_USE = (range(0xE000, 0xF900), range(0xF0000, 0xFFFFE), range(0x100000, 0x10FFFE))


def read_yaml(label: str, content: bytes, *, merges: MergeKeys = MergeKeys.REFUSE) -> Document:
    """Read one YAML document of at most 8 MiB; an empty file holds None.

    `label` names the file in messages. Raises DocumentFault, and nothing else, whatever the bytes.
    """
    if len(content) > MAX_BYTES:
        message = f"the file is larger than {MAX_BYTES} bytes"
        raise fault(label, START, "yaml/size", message, "keep large data in JSONL files")
    text = decode_text(label, "yaml", content).replace("\r", "\n")
    control = _CONTROL.search(text)
    if control is not None:
        message = f"the file holds the control character {shortened(control.group())}"
        place = position_at(text, control.start())
        raise fault(label, place, "yaml/encoding", message, "remove it, or escape it in double quotes")
    root = _parsed(label, text, merges)
    if root is None:
        return Document(label, None, {(): START})
    unfolding = _Unfolding()
    value = unfolding.unfold(root, ())
    return Document(
        label,
        value,
        {(): root.position, **unfolding.positions},
        unfolding.literals,
        unfolding.ambiguous,
        frozenset(unfolding.ambiguous_keys),
    )


@dataclass(frozen=True, slots=True)
class _Veil:
    """Stand-ins for the characters that the parser would take for line breaks."""

    hide: Mapping[int, int]
    show: Mapping[int, int]


def _veil(label: str, text: str) -> _Veil:
    present = [ord(c) for c in _OLD_BREAKS if c in text]
    unused = (code for codes in _PRIVATE_USE for code in codes if chr(code) not in text)
    hide = dict(zip(present, unused, strict=False))
    if len(hide) < len(present):
        message = "the file uses every private-use character there is"
        raise fault(label, START, "yaml/encoding", message, "remove some of them")
    return _Veil(hide, {stand_in: original for original, stand_in in hide.items()})


def _parsed(label: str, text: str, merges: MergeKeys) -> Node | None:
    veil = _veil(label, text)
    veiled = text.translate(veil.hide) if veil.hide else text
    builder = TreeBuilder(label, merges)
    quoted = _QuotedLines()
    for event in _events(label, veiled):
        value = event.value if isinstance(event, yaml.ScalarEvent) else ""
        builder.take(event, value.translate(veil.show) if veil.show else value)
        quoted.take(event)
    _check_tabs(label, veiled, quoted)
    return builder.root


def _events(label: str, text: str) -> Iterator[yaml.Event]:
    try:
        yield from yaml.parse(text, Loader=_PARSER)
    except yaml.MarkedYAMLError as error:
        raise _syntax_fault(label, text, error) from None
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        message = f"not YAML: {shortened(str(error), 200)}"
        raise fault(label, START, "yaml/syntax", message, "correct the file") from None


def _syntax_fault(label: str, text: str, error: yaml.MarkedYAMLError) -> DocumentFault:
    mark = error.problem_mark or error.context_mark
    place = START if mark is None else Position(mark.line + 1, mark.column + 1)
    lines = text.split("\n")
    if place.line > len(lines):
        place = position_at(text, len(text))
    problem = error.problem or "it cannot be parsed"
    if "tab character" in problem or lines[place.line - 1][place.column - 1 :].startswith("\t"):
        return fault(label, place, "yaml/tab", "a tab is used as indentation", "indent with spaces")
    here = lines[place.line - 1][place.column - 1 : place.column]
    if is_other_space(here):
        return space_fault(label, place, here)
    if "nesting depth" in problem:
        return fault(label, place, "yaml/depth", "values are nested too deep", "flatten the structure")
    context = f" {error.context}" if error.context else ""
    message = f"not YAML: {shortened(problem + context, 200)}"
    fixes = (fix for words, fix in _SYNTAX_FIXES.items() if words in problem)
    fix = next(fixes, "check the indentation, quotes, brackets and colons here")
    return fault(label, place, "yaml/syntax", message, fix)


@dataclass(slots=True)
class _QuotedLines:
    """Lines that continue a quoted or block scalar, where a leading tab is content; numbers from 1."""

    firsts: list[int] = field(default_factory=list)
    lasts: list[int] = field(default_factory=list)

    def take(self, event: yaml.Event) -> None:
        start, end = event.start_mark, event.end_mark
        if not isinstance(event, yaml.ScalarEvent) or not event.style or start is None or end is None:
            return
        first = start.line + 2
        last = end.line if end.column == 0 else end.line + 1
        if last >= first:
            self.firsts.append(first)
            self.lasts.append(last)

    def holds(self, line: int) -> bool:
        index = bisect.bisect_right(self.firsts, line) - 1
        return index >= 0 and line <= self.lasts[index]


def _check_tabs(label: str, text: str, quoted: _QuotedLines) -> None:
    line, counted = 1, 0
    for indent in _TAB_INDENT.finditer(text):
        line += text.count("\n", counted, indent.start())
        counted = indent.start()
        if not quoted.holds(line):
            place = Position(line, indent.group().index("\t") + 1)
            raise fault(label, place, "yaml/tab", "a tab is used as indentation", "indent with spaces")


@dataclass(slots=True)
class _Unfolding:
    """Turns a tree into a plain value; depth and size were bounded before."""

    positions: dict[NodePath, Position] = field(default_factory=dict)
    literals: dict[NodePath, str] = field(default_factory=dict)
    ambiguous: dict[NodePath, str] = field(default_factory=dict)
    ambiguous_keys: set[NodePath] = field(default_factory=set)

    def unfold(self, node: Node, path: NodePath) -> Json:
        content = node.content
        if isinstance(content, ScalarContent):
            self._note_spelling(content, path)
            return content.value
        if isinstance(content, tuple):
            return [self._child(item.position, item, (*path, index)) for index, item in enumerate(content)]
        self.ambiguous_keys.update(
            (*path, name) for name, entry in content.items() if entry.plain and other_reading(name)
        )
        return {name: self._child(entry.key, entry.value, (*path, name)) for name, entry in content.items()}

    def _note_spelling(self, content: ScalarContent, path: NodePath) -> None:
        if content.plain is None:
            return
        if not isinstance(content.value, str):
            self.literals[path] = content.plain
        elif other_reading(content.plain):
            self.ambiguous[path] = content.plain

    def _child(self, position: Position, node: Node, path: NodePath) -> Json:
        self.positions[path] = position
        return self.unfold(node, path)
