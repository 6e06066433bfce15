"""How large the members of a log become, counted while they are expanded: what a ZIP states of itself is no promise."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from io import RawIOBase
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

import zstandard

MOST_SAMPLE_BYTES = 256 * 2**20
_MOST_OTHER_BYTES = 1024 * 2**20  # header and summaries, read whole
_MOST_BYTES = 256 * 2**30
_PIECE = 1 << 20
_PIECE_BYTES, _MOST_PIECE = 64 * 2**20, 1_000  # of samples that are in memory together
Key = TypeVar("Key")
_LOCAL_HEADER = struct.Struct("<26xHH")
_SAMPLES = "samples/"
_STORED, _DEFLATED, _ZSTANDARD = 0, 8, 93


def sample_member(item: str | int, epoch: int) -> str:
    """Return the member of a log that holds a sample."""
    return f"{_SAMPLES}{item}_epoch_{epoch}.json"


def is_too_large(size: int) -> bool:
    """Return whether a sample of so many expanded bytes is left unread."""
    return size > MOST_SAMPLE_BYTES


def in_pieces(keys: Sequence[Key], sizes: Sequence[int]) -> Iterator[list[Key]]:
    """Yield the keys in pieces whose samples fit into memory together, or which are one sample.

    Each piece parses the log's whole table of contents again, so that they should be few.
    """
    piece: list[Key] = []
    held = 0
    for key, size in zip(keys, sizes, strict=True):
        if piece and (held + size > _PIECE_BYTES or len(piece) == _MOST_PIECE):
            yield piece
            piece, held = [], 0
        piece.append(key)
        held += size
    if piece:
        yield piece


def check_header(path: Path) -> None:
    """Raise ValueError when what a log holds beside its samples is too large to be read, and what reading raises."""
    with path.open("rb") as stream:
        for member in _members(stream):
            if not _is_sample(member) and _expanded(stream, member, _MOST_OTHER_BYTES) > _MOST_OTHER_BYTES:
                raise ValueError(f"{member.filename} has more than {_MOST_OTHER_BYTES:,} bytes when it is expanded")


def sample_sizes(path: Path) -> Mapping[str, int]:
    """Return the expanded bytes of each sample's member; one above MOST_SAMPLE_BYTES counts as one byte more.

    Raises ValueError for members that share bytes, expand beyond every log, or are packed in a way that no log is,
    and what reading raises.
    """
    sizes: dict[str, int] = {}
    total = 0
    with path.open("rb") as stream:
        for member in filter(_is_sample, _members(stream)):
            size = _expanded(stream, member, MOST_SAMPLE_BYTES)
            sizes[member.filename] = max(size, sizes.get(member.filename, 0))
            total += size
            if total > _MOST_BYTES:
                raise ValueError(f"its samples have more than {_MOST_BYTES:,} bytes when they are expanded")
    return sizes


def _is_sample(member: zipfile.ZipInfo) -> bool:
    return member.filename.startswith(_SAMPLES)


def _members(stream: BinaryIO) -> list[zipfile.ZipInfo]:
    """Return the members of a log in the order of their bytes, of which no two may share any."""
    members = sorted(zipfile.ZipFile(stream).infolist(), key=lambda member: member.header_offset)
    end = 0
    for member in members:
        if member.header_offset < end:
            raise ValueError(f"{member.filename} shares bytes with another member")
        end = member.header_offset + 30 + member.compress_size
    return members


def _expanded(stream: BinaryIO, member: zipfile.ZipInfo, most: int) -> int:
    """Return how many bytes a member expands to, or `most` and one when there are more."""
    size = 0
    for piece in _pieces(stream, member):
        size += len(piece)
        if size > most:
            return most + 1
    return size


def _pieces(stream: BinaryIO, member: zipfile.ZipInfo) -> Iterator[bytes]:
    stream.seek(member.header_offset)
    name, extra = _LOCAL_HEADER.unpack(stream.read(_LOCAL_HEADER.size))
    stream.seek(name + extra, 1)
    part = _Part(stream, member.compress_size)
    match member.compress_type:
        case value if value == _STORED:
            yield from iter(lambda: part.read(_PIECE), b"")
        case value if value == _DEFLATED:
            yield from _inflated(part)
        case value if value == _ZSTANDARD:
            reader = zstandard.ZstdDecompressor().stream_reader(cast(BinaryIO, part), read_across_frames=True)
            yield from iter(lambda: reader.read(_PIECE), b"")
        case other:
            raise ValueError(f"{member.filename} is packed by method {other}")


def _inflated(part: _Part) -> Iterator[bytes]:
    inflating = zlib.decompressobj(-zlib.MAX_WBITS)
    while packed := inflating.unconsumed_tail or part.read(_PIECE):
        yield inflating.decompress(packed, _PIECE)


class _Part(RawIOBase):
    """The next so many bytes of a stream."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        self._left = size

    def read(self, size: int = -1) -> bytes:
        piece = self._stream.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(piece)
        return piece
