"""Streams that no table of contents names: behind a file, before it, or in a ZIP whose directory leaves them out."""

from __future__ import annotations

import io
import re
import struct
import sys
import zipfile
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from tamesu.edge.packages.opening import Closed, Part, gunzipped, tarfile_like

_LOCAL = re.compile(rb"PK\x03\x04")
_GZIP = re.compile(rb"\x1f\x8b\x08[\x00-\x1f]")
_ZLIB = re.compile(rb"\x78[\x01\x5e\x9c\xda]")
_HEADER = struct.Struct("<8xH16xHH")  # of a member: method, lengths of name and extra
_DEFLATED = 8
_FEWEST = 16  # bytes that a stream must yield; a chance beginning yields none or a few
_MOST_STREAMS = 10_000
_PIECE = 1 << 16
_PICTURES = (b"\x89PNG", b"GIF8", b"\xff\xd8\xff")  # their streams are pixels
_PACKED = (b"BZh", b"\xfd7zXZ\x00", b"\x5d\x00\x00")
_PNG_END = b"IEND\xaeB`\x82"


def buried(content: bytes, most: int) -> Iterator[Part]:
    """Yield what streams hold that lie in a file without being named, `most` bytes of each at most.

    Raises Closed for a file with more of them than anybody looks through.
    """
    if content.startswith(_PICTURES[0]):
        yield from _behind_picture(content)
        return
    covered = _covered(content, most)
    number = 0
    for place in chain(_members(content), _streams(content)):
        found = None if _is_covered(place.begins, covered) else _expanded(content, place, most)
        if found is None:
            continue
        number += 1
        if number > _MOST_STREAMS:
            raise Closed(f"holds more than {_MOST_STREAMS:,} streams that no directory names")
        yield Part(f"stream at byte {place.begins}", found)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a stream begins, and its window as zlib counts it; a `whole` one counts only with its end and checksum."""

    begins: int
    window: int
    whole: bool


def _behind_picture(content: bytes) -> Iterator[Part]:
    _, end, rest = content.partition(_PNG_END)
    if end and rest:
        yield Part("bytes behind the picture", rest)


def _members(content: bytes) -> Iterator[_Place]:
    """Yield the packed members of ZIP archives that no directory in the file names; stored ones show in its bytes."""
    for at in (match.start() for match in _LOCAL.finditer(content)):
        if at + _HEADER.size > len(content):
            return
        method, name, extra = _HEADER.unpack_from(content, at)
        if method == _DEFLATED:
            yield _Place(at + _HEADER.size + name + extra, -zlib.MAX_WBITS, whole=False)


def _is_covered(at: int, covered: list[tuple[int, int]]) -> bool:
    number = bisect_right(covered, (at, sys.maxsize))
    return number > 0 and at < covered[number - 1][1]


def _covered(content: bytes, most: int) -> list[tuple[int, int]]:
    """Return the bytes, in order, that are opened as what they are, where the streams within show when that is done."""
    if content.startswith(_PACKED) or tarfile_like(content):
        return [(0, len(content))]
    if content.startswith(b"\x1f\x8b"):
        return [(0, _end_of_gzip(content, most))]
    return _named(content) if _LOCAL.search(content) else []


def _end_of_gzip(content: bytes, most: int) -> int:
    """Return where the members of a gzip file end, its own end when that is further than `most` expanded bytes."""
    try:
        return gunzipped(content, most)[1]
    except (Closed, zlib.error):
        return len(content)


def _named(content: bytes) -> list[tuple[int, int]]:
    """Return the bytes of the members that a directory names."""
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return []
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = sorted(archive.infolist(), key=lambda one: one.header_offset)
            return [(one.header_offset, _data_end(content, one)) for one in members]
    except (zipfile.BadZipFile, ValueError, struct.error):
        return []


def _data_end(content: bytes, member: zipfile.ZipInfo) -> int:
    """Return where the packed bytes of a member end."""
    _, name, extra = _HEADER.unpack_from(content, member.header_offset)
    return member.header_offset + _HEADER.size + int(name) + int(extra) + member.compress_size


def _streams(content: bytes) -> Iterator[_Place]:
    """Yield where gzip or zlib may begin behind the first byte, where a file of that kind is opened as a whole."""
    for match in _GZIP.finditer(content, 1):
        yield _Place(match.start(), 31, whole=False)
    if not content.startswith((*_PICTURES, b"%PDF-")):
        for match in _ZLIB.finditer(content, 1):
            yield _Place(match.start(), zlib.MAX_WBITS, whole=True)


def _expanded(content: bytes, place: _Place, most: int) -> bytes | None:
    """Return what a stream yields, None when none begins there."""
    inflating = zlib.decompressobj(place.window)
    found = bytearray()
    at = place.begins
    try:
        # in pieces, as what lies behind its end is copied
        while not inflating.eof and at < len(content) and len(found) < most:
            piece = content[at : at + _PIECE]
            found += inflating.decompress(piece, most - len(found))
            at += len(piece) - len(inflating.unconsumed_tail)
    except zlib.error:
        return None
    if place.whole and not inflating.eof:
        return None
    return bytes(found) if len(found) >= _FEWEST else None
