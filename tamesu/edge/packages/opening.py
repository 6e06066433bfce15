"""Looking into files by content, never by name: archives, compressed files, the texts that pictures carry.

What is known to hold more than its bytes show and cannot be opened here is said to be so, never passed over.
"""

from __future__ import annotations

import bz2
import io
import lzma
import re
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from tamesu.core.packages.spellings import zlib_like

MOST_BYTES = 256 * 2**20  # that one file may expand to, all that is nested in it together


@dataclass(frozen=True, slots=True)
class Part:
    """What lies in a file: a name for people, and its bytes."""

    name: str
    content: bytes


class Closed(Exception):
    """Something that holds more than its bytes show and could not be opened; the message says what."""


_PNG = b"\x89PNG\r\n\x1a\n"
_PIXELS = frozenset({b"IHDR", b"PLTE", b"IDAT", b"IEND", b"fdAT"})
_PIECE = 1 << 16
_LEAST_CHUNK = 8  # bytes; no secret is shorter
# Compressed forms that nothing here opens, by how they begin.
_UNKNOWN = {
    b"7z\xbc\xaf\x27\x1c": "a 7-Zip archive",
    b"Rar!\x1a\x07": "a RAR archive",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"\x04\x22\x4d\x18": "LZ4",
    b"\x1f\x9d": "a file of compress",
    b"MSCF": "a cabinet",
    b"wOF2": "a WOFF2 font",
    b"\x89HDF\r\n\x1a\n": "HDF5",
    b"Obj\x01": "Avro",
    b"ORC": "ORC",
}
_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)


def opened(content: bytes, most: int = MOST_BYTES) -> Iterator[Part]:
    """Yield what lies in a file, `most` bytes of each part at most; nothing for one that hides nothing.

    Raises Closed when something in it cannot be opened, after what could be.
    """
    for begin, what in _UNKNOWN.items():
        if content.startswith(begin):
            raise Closed(f"is {what}, which cannot be looked into")
    for begins, look in _KNOWN:
        if content.startswith(begins):
            yield from look(content, most)
            break
    else:
        if tarfile_like(content):
            yield from _tar(content, most)
        elif zlib_like(content):
            yield from _maybe_zlib(content, most)
    if zipfile.is_zipfile(io.BytesIO(content)):
        yield from _zip(content, most)


def tarfile_like(content: bytes) -> bool:
    """Return whether bytes begin as a tar archive does."""
    return content[257:262] == b"ustar"


def _bounded(stream: BinaryIO, most: int, what: str) -> bytes:
    content = stream.read(most + 1)
    if len(content) > most:
        raise Closed(f"{what} expands to more than {most:,} bytes")
    return content


def _compressed(content: bytes, most: int) -> Iterator[Part]:
    yield Part("content", _decompressed(content, most))


def _decompressed(content: bytes, most: int) -> bytes:
    opener = {b"\x1f\x8b": None, b"BZ": bz2.BZ2File}.get(content[:2], lzma.LZMAFile)
    try:
        if opener is None:
            return gunzipped(content, most)[0]
        with opener(io.BytesIO(content)) as stream:
            return _bounded(stream, most, "it")  # type: ignore[arg-type]
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise Closed(f"is compressed and damaged ({error})") from None


def gunzipped(content: bytes, most: int) -> tuple[bytes, int]:
    """Return all members of a gzip file, one after another, and where they end.

    Raises Closed for more than `most` bytes and for one that is cut off, zlib.error for a damaged one.
    """
    whole = bytearray()
    at = 0
    while content[at : at + 2] == b"\x1f\x8b":
        member = zlib.decompressobj(31)
        while not member.eof:
            # in pieces, as what is left of the input is copied at each end of a member
            piece = content[at : at + _PIECE]
            whole += member.decompress(piece, most + 1 - len(whole))
            if len(whole) > most or not piece:
                raise Closed(f"is cut off, or expands to more than {most:,} bytes")
            at += len(piece) - len(member.unused_data) - len(member.unconsumed_tail)
    return bytes(whole), at


def _maybe_zlib(content: bytes, most: int) -> Iterator[Part]:
    """Yield what a zlib stream holds; a text may begin like one."""
    try:
        yield Part("content", zlib.decompressobj().decompress(content, most))
    except zlib.error:
        return


def _tar(content: bytes, most: int) -> Iterator[Part]:
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as tar:
            for member in tar:
                yield Part(member.name, b"")
                stream = tar.extractfile(member) if member.isfile() else None
                if stream is not None:
                    yield Part(member.name, _bounded(stream, most, member.name))  # type: ignore[arg-type]
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:
        raise Closed(f"is a damaged tar archive ({error})") from None


def _zip(content: bytes, most: int) -> Iterator[Part]:
    closed: list[str] = []
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            yield Part("comment", archive.comment)
            for member in archive.infolist():
                try:
                    with archive.open(member) as stream:
                        yield Part(member.filename, _bounded(stream, most, member.filename))  # type: ignore[arg-type]
                except (RuntimeError, NotImplementedError, Closed) as error:
                    closed.append(str(error))
    except (zipfile.BadZipFile, OSError, EOFError, zlib.error, lzma.LZMAError, ValueError, struct.error) as error:
        closed.append(f"is damaged ({error})")
    if closed:
        raise Closed(f"is a ZIP archive of which something cannot be opened: {closed[0]}")


def _png(content: bytes, most: int) -> Iterator[Part]:
    """Yield the compressed texts of a PNG; plain ones show in its bytes."""
    at = len(_PNG)
    while at + 12 <= len(content):
        (length,) = struct.unpack_from(">I", content, at)
        kind, body = content[at + 4 : at + 8], content[at + 8 : at + 8 + length]
        if kind in (b"zTXt", b"iTXt", b"iCCP"):
            yield from _png_text(kind, body, most)
        elif kind == b"tEXt":
            yield from _raw_profile(body.partition(b"\0")[0], body.partition(b"\0")[2])
        elif kind not in _PIXELS and len(body) > _LEAST_CHUNK:
            yield Part(kind.decode("latin-1"), body)
        at += 12 + length


def _png_text(kind: bytes, body: bytes, most: int) -> Iterator[Part]:
    word, _, rest = body.partition(b"\0")
    if kind == b"iTXt":
        packed, text = rest[:1] == b"\x01", rest[2:].split(b"\0", 2)[-1]
    else:
        packed, text = True, rest[1:]
    if packed:
        try:
            text = zlib.decompressobj().decompress(text, most)
        except zlib.error:
            raise Closed("has a compressed text that is damaged") from None
    yield Part(word.decode("latin-1"), text)
    yield from _raw_profile(word, text)


def _raw_profile(word: bytes, text: bytes) -> Iterator[Part]:
    """Yield the metadata that ImageMagick writes in hexadecimal digits, after a name and a length."""
    if word.startswith(b"Raw profile type "):
        digits = b"".join(text.split()[2:])
        try:
            yield Part(word.decode("latin-1"), bytes.fromhex(digits.decode("ascii")))
        except ValueError:
            raise Closed("has a profile that is damaged") from None


def _gif(content: bytes, _: int) -> Iterator[Part]:
    """Yield the comments of a GIF, which lie in pieces of at most 255 bytes."""
    comments = []
    for match in re.finditer(rb"\x21\xfe", content):
        at = match.end()
        while at < len(content) and content[at]:
            comments.append(content[at + 1 : at + 1 + content[at]])
            at += 1 + content[at]
        comments.append(b"\n")
    yield Part("comments", b"".join(comments))


def _pdf(content: bytes, most: int) -> Iterator[Part]:
    if b"/Encrypt" in content:
        raise Closed("is an encrypted PDF")
    for number, match in enumerate(_STREAM.finditer(content), 1):
        if zlib_like(match[1]):
            yield from (Part(f"stream {number}", part.content) for part in _maybe_zlib(match[1], most))


def _parquet(content: bytes, _: int) -> Iterator[Part]:
    """Yield the texts of a Parquet table, a column each."""
    import pyarrow
    from pyarrow import parquet

    try:
        table = parquet.read_table(io.BytesIO(content))
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise Closed(f"is a damaged Parquet file ({type(error).__name__})") from None
    for name in table.column_names:
        values = (str(value) for value in table[name].to_pylist() if value is not None)
        yield Part(name, "\n".join(values).encode("utf-8", "surrogateescape"))


_KNOWN: tuple[tuple[bytes | tuple[bytes, ...], Callable[[bytes, int], Iterator[Part]]], ...] = (
    (_PNG, _png),
    ((b"GIF87a", b"GIF89a"), _gif),
    (b"%PDF-", _pdf),
    (b"PAR1", _parquet),
    ((b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x5d\x00\x00"), _compressed),
)
