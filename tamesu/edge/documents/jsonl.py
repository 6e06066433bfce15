"""Records, one a line: JSONL and CSV item files, strict, with the line of every record.

Lines end at LF bytes only. U+2028, U+2029 and U+0085 are ordinary characters inside a record.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tamesu.base.canonical import Json
from tamesu.edge.documents.decoding import UNCARRIED_CHARACTER, decode_text, shortened
from tamesu.edge.documents.document import (
    LARGEST_INTEGER,
    MAX_DEPTH,
    Document,
    DocumentFault,
    Position,
    fault,
)

_ITEM_COLUMNS = ("id", "input", "expected")
_REQUIRED_COLUMNS = ("id", "input")
_LONGEST_INTEGER = 17
_OTHER_SEPARATOR = re.compile("[;\t|]")


@dataclass(frozen=True, slots=True)
class Record:
    """One record and the line, from 1, on which it starts."""

    value: Json
    line: int

    def document(self, label: str) -> Document:
        """Return the record as a document, so that a schema can be applied to it."""
        return Document(label, self.value, {(): Position(self.line, 1)})


class _Refusal(ValueError):
    """Why a record is refused; `rule` and `fix` go into the finding."""

    def __init__(self, rule: str, message: str, fix: str) -> None:
        super().__init__(message)
        self.rule = rule
        self.fix = fix


def read_records(label: str, content: bytes) -> tuple[Record, ...]:
    """Read JSONL: one JSON value a line, blank lines skipped, BOM and CRLF normalised.

    Raises DocumentFault for bytes that are not UTF-8, NUL, values that are not strict JSON, duplicate keys,
    and numbers that JSON cannot carry exactly.
    """
    lines = content.removeprefix(codecs.BOM_UTF8).split(b"\n")
    return tuple(
        Record(_parsed(label, number, line), number)
        for number, line in enumerate(lines, start=1)
        if line.strip(b" \t\r")
    )


def read_json(label: str, content: bytes) -> Json:
    """Read one JSON value as strictly as a line of JSONL. Raises DocumentFault."""
    return _parsed(label, 1, content.removeprefix(codecs.BOM_UTF8), "write one JSON value")


def _parsed(label: str, number: int, line: bytes, fix: str = "write one JSON value per line") -> Json:
    text = _decoded(label, number, line.removesuffix(b"\r"))
    try:
        value: Json = _DECODER.decode(text)
        _check(value, text)
    except json.JSONDecodeError as error:
        place = Position(number + error.lineno - 1, error.colno)
        message = f"not JSON: {error.msg.removesuffix(' at')}"
        raise fault(label, place, "jsonl/syntax", message, fix) from None
    except _Refusal as refusal:
        place, rule = Position(number, 1), f"jsonl/{refusal.rule}"
        raise fault(label, place, rule, str(refusal), refusal.fix) from None
    except RecursionError:
        raise _too_deep(label, number) from None
    return value


def _decoded(label: str, number: int, line: bytes) -> str:
    try:
        return decode_text(label, "jsonl", line)
    except DocumentFault as error:
        finding = error.finding
        place = Position(number, finding.column)
        raise fault(label, place, finding.rule, finding.message, finding.fix) from None


def _too_deep(label: str, number: int) -> DocumentFault:
    message = f"values are nested more than {MAX_DEPTH} deep"
    return fault(label, Position(number, 1), "jsonl/depth", message, "flatten the record")


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) < len(pairs):
        twice = _repeated(name for name, _ in pairs)
        message = f"the key '{shortened(twice)}' appears twice"
        raise _Refusal("duplicate-key", message, "keep one of the two")
    return value


def _repeated(names: Iterable[str]) -> str:
    """Return the most frequent name."""
    return Counter(names).most_common(1)[0][0]


def _integer(text: str) -> int:
    if len(text) <= _LONGEST_INTEGER:
        number = int(text)
        if abs(number) <= LARGEST_INTEGER:
            return number
    raise _Refusal("number", f"the integer {shortened(text)} is beyond 2**53", "write it as a string")


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _Refusal("number", f"the number {shortened(text)} is too large", "write it as a string")
    return number


def _constant(text: str) -> float:
    raise _Refusal("number", f"{text} is not JSON", "write null or a string")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_constant)


def _check(value: Json, text: str) -> None:
    """Refuse depth, and the characters that only escapes can bring in."""
    deep = text.count("[") + text.count("{") > MAX_DEPTH
    if not deep and "\\u" not in text:
        return
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        for part in level:
            _check_characters(part)
        level = [child for part in level for child in _children(part)]
        if not level:
            return
    raise _Refusal("depth", f"values are nested more than {MAX_DEPTH} deep", "flatten the record")


def _children(value: Json) -> Iterator[Json]:
    if isinstance(value, list):
        yield from value
    elif isinstance(value, dict):
        yield from value.keys()
        yield from value.values()


def _check_characters(value: Json) -> None:
    found = UNCARRIED_CHARACTER.search(value) if isinstance(value, str) else None
    if found is not None:
        message = f"a text holds the character {shortened(found.group())}"
        raise _Refusal("encoding", message, "remove it; NUL and lone surrogates cannot be carried")


def read_csv_records(label: str, content: bytes) -> tuple[Record, ...]:
    """Read a CSV item file: columns id, input and expected; every other column becomes metadata.

    All cells are text, the header is required. Raises DocumentFault.
    """
    text = decode_text(label, "csv", content)
    rows = _rows(label, text)
    header = next(rows, None)
    if header is None:
        raise _csv_fault(label, 1, "header", "the header line is missing", "start with: id,input,expected")
    _check_header(label, header)
    return tuple(_item(label, header.cells, row) for row in rows)


@dataclass(frozen=True, slots=True)
class _Row:
    cells: tuple[str, ...]
    line: int


def _rows(label: str, text: str) -> Iterator[_Row]:
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))  # a cell may be as long as its file
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    start = 1
    try:
        for cells in reader:
            if cells:
                yield _Row(tuple(cells), start)
            start = reader.line_num + 1
    except csv.Error as error:
        fix = "correct the quotes, or use JSONL"
        raise _csv_fault(label, start, "syntax", f"not CSV: {error}", fix) from None


def _check_header(label: str, header: _Row) -> None:
    names = header.cells
    for name in names:
        if not name.strip():
            raise _csv_fault(label, header.line, "header", "a column has no name", "name every column")
    if len(set(names)) < len(names):
        message = f"the column '{shortened(_repeated(names))}' appears twice"
        raise _csv_fault(label, header.line, "header", message, "keep one of the two")
    for name in _REQUIRED_COLUMNS:
        if name not in names:
            message = f"the column '{name}' is missing"
            fix = "start with: id,input,expected"
            if len(names) == 1 and _OTHER_SEPARATOR.search(names[0]):
                fix = "separate the columns by commas"
            raise _csv_fault(label, header.line, "header", message, fix)


def _item(label: str, names: tuple[str, ...], row: _Row) -> Record:
    if len(row.cells) != len(names):
        message = f"the row has {len(row.cells)} cells, the header {len(names)}"
        raise _csv_fault(label, row.line, "cells", message, "quote cells that hold commas or quotes")
    cells = dict(zip(names, row.cells, strict=True))
    value: dict[str, Json] = {name: cells.pop(name) for name in _ITEM_COLUMNS if name in cells}
    if cells:
        value["metadata"] = {name: cell for name, cell in cells.items()}
    return Record(value, row.line)


def _csv_fault(label: str, line: int, rule: str, message: str, fix: str) -> DocumentFault:
    return fault(label, Position(line, 1), f"csv/{rule}", message, fix)
