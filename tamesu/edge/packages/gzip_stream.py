"""One gzip stream, expanded piece by piece within bounds, and the digest of what it was expanded from.

Not `gzip.GzipFile`: that reads on into further gzip streams, takes zeros behind the last one for nothing, and checks
length and checksum only for those who read to the very end.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

from tamesu.base.canonical import StreamDigest

_PIECE = 64 * 1024
_ONE_GZIP_STREAM = 16 + zlib.MAX_WBITS


class BadStream(Exception):
    """What is wrong with the bytes of an archive, in words that fit behind its name."""


class GzipStream:
    """Reads the content of one gzip stream that `source` yields; `most` bounds the content in bytes.

    `source` takes a number of bytes and returns at most so many, none at the end.
    """

    def __init__(self, source: Callable[[int], bytes], most: int, too_much: str) -> None:
        self._source = source
        self._left = most
        self._too_much = too_much
        self._expander = zlib.decompressobj(_ONE_GZIP_STREAM)
        self._packed = b""
        self._digest = StreamDigest()

    def read(self, size: int) -> bytes:
        """Return exactly so many bytes. Raises BadStream where there are fewer."""
        content = b""
        while len(content) < size:
            more = self.read_some(size - len(content))
            if not more:
                raise BadStream("ends in the middle of a member")
            content += more
        return content

    def read_some(self, most: int) -> bytes:
        """Return one to `most` bytes, `most` being at least 1; none at the end of the content. Raises BadStream."""
        piece = b""
        while not piece and not self._expander.eof:
            piece = self._expand(min(most, _PIECE))
        self._left -= len(piece)
        if self._left < 0:
            raise BadStream(self._too_much)
        return piece

    def close(self) -> str:
        """Return the SHA-256 of the packed bytes. Raises BadStream for whatever lies behind the stream."""
        if self._expander.unused_data or self._take():
            raise BadStream("goes on behind its end")
        return self._digest.hexdigest()

    def _expand(self, most: int) -> bytes:
        if not self._packed:
            self._packed = self._take()
        ended = not self._packed
        try:
            piece = self._expander.decompress(self._packed, most)
        except zlib.error:
            raise BadStream("is no sound gzip stream: its bytes or its checksum are wrong") from None
        self._packed = self._expander.unconsumed_tail
        if ended and not piece and not self._expander.eof:
            raise BadStream("is cut off")
        return piece

    def _take(self) -> bytes:
        packed = self._source(_PIECE)
        self._digest.update(packed)
        return packed
