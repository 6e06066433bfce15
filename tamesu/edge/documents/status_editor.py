"""Replacing the `status` of a manifest in place: the bytes of one scalar change, all others stay."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from tamesu.base.errors import InvalidDocument
from tamesu.base.model.manifest import Status
from tamesu.edge.documents.yaml_reader import read_yaml

_FIELD = "status"
# Line breaks to the parser, ordinary characters to our reader; hidden, so that both see the same lines.
_OLD_BREAKS = str.maketrans(dict.fromkeys("\x85\u2028\u2029", "_"))


@dataclass(frozen=True, slots=True)
class _Scalar:
    """Where a scalar stands, in characters from 0; `value` is None for an alias."""

    start: int
    end: int
    value: str | None


def replace_status(label: str, content: bytes, status: Status) -> bytes:
    """Return a manifest with another `status`; byte-order mark, line ends, comments and quotes stay as they are.

    The manifest must read and hold the field. Raises InvalidDocument when it does not, or when the change would
    reach other fields through an anchor.
    """
    before = read_yaml(label, content).value
    if not isinstance(before, dict) or _FIELD not in before:
        raise InvalidDocument(f"{label}: holds no `status`; write `status: {status}` by hand")
    mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    text = content.removeprefix(mark).decode()
    place = _status_scalar(text.translate(_OLD_BREAKS))
    written = text[place.start : place.end]
    changed = text[: place.start] + _respelled(written, place.value, status) + text[place.end :]
    result = mark + changed.encode()
    if read_yaml(label, result).value != {**before, _FIELD: status}:
        raise InvalidDocument(f"{label}: `status` is tied to other fields; write `status: {status}` by hand")
    return result


def set_status(label: str, content: bytes, status: Status) -> bytes:
    """Return a manifest with this `status`, replaced in place or, where it was left out, added as the last line.

    Raises InvalidDocument when the change would reach other fields, or a line cannot be added.
    """
    before = read_yaml(label, content).value
    if isinstance(before, dict) and _FIELD in before:
        return replace_status(label, content, status)
    line_end = b"\r\n" if b"\r\n" in content else b"\n"
    result = content + (b"" if content.endswith(b"\n") else line_end) + f"{_FIELD}: {status}".encode() + line_end
    try:
        same = isinstance(before, dict) and read_yaml(label, result).value == {**before, _FIELD: status}
    except InvalidDocument:
        same = False
    if not same:
        raise InvalidDocument(f"{label}: holds no `status`; write `status: {status}` by hand")
    return result


def _respelled(written: str, value: str | None, status: Status) -> str:
    """Return the scalar in its own style: the word is replaced where it stands literally."""
    at = written.rfind(value) if value else -1
    if value and at >= 0:
        return written[:at] + status + written[at + len(value) :]
    return f'"{status}"' if written.startswith('"') else status


def _status_scalar(text: str) -> _Scalar:
    """Return the value of the top-level `status`."""
    depth, is_key, key = 0, True, ""
    for event in _events(text):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            continue
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth == 1 and isinstance(event, (yaml.ScalarEvent, yaml.AliasEvent, yaml.CollectionEndEvent)):
            value = event.value if isinstance(event, yaml.ScalarEvent) else None
            if not is_key and key == _FIELD:
                return _Scalar(_index(event.start_mark), _index(event.end_mark), value)
            key = value or "" if is_key else ""
            is_key = not is_key
    raise AssertionError("a document that holds `status` has a scalar there")


def _index(mark: Any) -> int:
    return int(mark.index)


def _events(text: str) -> Iterator[yaml.Event]:
    # The parser in Python: its marks count characters, also after CRLF and beyond the basic plane.
    return yaml.parse(text, Loader=yaml.SafeLoader)
