"""Streams that no table of contents names: behind a file, before it, or in a ZIP whose directory leaves them out."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from tamesu.edge.packages.opening import Closed, Part, tarfile_like

_LOCAL = re.compile(rb"PK\x03\x04")
_GZIP = re.compile(rb"\x1f\x8b\x08[\x00-\x1f]")
_ZLIB = re.compile(rb"\x78[\x01\x5e\x9c\xda]")
_HEADER = struct.Struct("<8xH16xHH")  # of a member: method, lengths of name and extra
_DEFLATED = 8
_FEWEST = 16  # bytes that a stream must yield; a chance beginning yields none or a few
_MOST_STREAMS = 10_000
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
    begun = (place for place in (*_members(content), *_streams(content)))
    places = [place for place in begun if not any(first <= place.begins < last for first, last in covered)]
    if len(places) > _MOST_STREAMS:
        raise Closed(f"holds more than {_MOST_STREAMS:,} streams that no directory names")
    for place in places:
        found = _expanded(content, place, most)
        if found is not None:
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


def _covered(content: bytes, most: int) -> list[tuple[int, int]]:
    """Return the bytes that are opened as what they are, where streams within show once more when that is done."""
    if content.startswith(_PACKED) or tarfile_like(content):
        return [(0, len(content))]
    if content.startswith(b"\x1f\x8b"):
        return [(0, _end_of_gzip(content, most))]
    return _named(content) if _LOCAL.search(content) else []


def _end_of_gzip(content: bytes, most: int) -> int:
    """Return where the members of a gzip file end, its own end when that is further than `most` expanded bytes."""
    rest, left = content, most
    while rest.startswith(b"\x1f\x8b"):
        member = zlib.decompressobj(31)
        try:
            left -= len(member.decompress(rest, max(1, left)))
        except zlib.error:
            return len(content)
        if not member.eof or left <= 0:
            return len(content)
        rest = member.unused_data
    return len(content) - len(rest)


def _named(content: bytes) -> list[tuple[int, int]]:
    """Return the bytes of the members that a directory names."""
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return []
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return [(one.header_offset, _data_end(content, one)) for one in archive.infolist()]
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
    try:
        found = inflating.decompress(memoryview(content)[place.begins :], most)
    except zlib.error:
        return None
    if place.whole and not inflating.eof:
        return None
    return found if len(found) >= _FEWEST else None
