"""Archives whose bytes depend on their content alone: no user, time, locale, order of creation or library counts.

The compressed stream consists of stored blocks (RFC 1951, 3.2.4): what a compressor makes of the same bytes differs
between its versions, and the library that Python is built with is nobody's choice here.
"""

from __future__ import annotations

import struct
import zlib
from typing import BinaryIO

_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"  # deflate, no name, no time, unknown system (RFC 1952)
_LARGEST_BLOCK = 0xFFFF
_TAR_BLOCK = 512
_NAME = 100  # bytes of a name that the header itself holds


class StoredGzip:
    """A gzip member of stored blocks; `close` ends the member, not the stream below."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._pending = bytearray()
        self._crc = 0
        self._size = 0
        stream.write(_HEADER)

    def write(self, content: bytes) -> None:
        self._crc = zlib.crc32(content, self._crc)
        self._size += len(content)
        self._pending += content
        while len(self._pending) > _LARGEST_BLOCK:
            self._block(bytes(self._pending[:_LARGEST_BLOCK]), 0)
            del self._pending[:_LARGEST_BLOCK]

    def close(self) -> None:
        self._block(bytes(self._pending), 1)
        self._stream.write(struct.pack("<II", self._crc, self._size & 0xFFFFFFFF))

    def _block(self, content: bytes, last: int) -> None:
        self._stream.write(struct.pack("<BHH", last, len(content), len(content) ^ 0xFFFF) + content)


class ArchiveWriter:
    """A gzipped tar of regular files (POSIX.1-2001), each of mode 0644, owner 0, time 0; the caller keeps the order."""

    def __init__(self, stream: BinaryIO) -> None:
        self._gzip = StoredGzip(stream)

    def add(self, path: str, content: bytes) -> None:
        """Add a file under a path of UTF-8 with forward slashes."""
        name = path.encode()
        if len(name) > _NAME or not path.isascii():
            record = _pax_record(name)
            self._put(_header(b"././@PaxHeader", len(record), b"x") + _padded(record))
        self._put(_header(name[:_NAME], len(content), b"0") + _padded(content))

    def close(self) -> None:
        self._put(bytes(2 * _TAR_BLOCK))
        self._gzip.close()

    def _put(self, content: bytes) -> None:
        self._gzip.write(content)


def _header(name: bytes, size: int, kind: bytes) -> bytes:
    fields = (
        name.ljust(_NAME, b"\0"),
        b"0000644\0" + b"0000000\0" * 2,  # mode, user, group
        b"%011o\0" % size,
        b"00000000000\0",  # time
        b" " * 8,  # the checksum, counted as blanks
        kind + bytes(100),
        b"ustar\00000" + bytes(64),
        b"0000000\0" * 2 + bytes(167),
    )
    block = b"".join(fields)
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]


def _pax_record(name: bytes) -> bytes:
    """Return `<length> path=<name>` with LF, where the length counts its own digits."""
    rest = b" path=" + name + b"\n"
    length = len(rest)
    while len(str(length)) + len(rest) != length:
        length = len(str(length)) + len(rest)
    return str(length).encode() + rest


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % _TAR_BLOCK)
