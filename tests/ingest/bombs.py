"""Members of a log that expand to far more than they say."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import zstandard

_METHOD, _SIZE = 8, 22  # in a local header; two bytes further in the table of contents
_ZSTANDARD = 93


def zeros(gigabytes: int) -> bytes:
    """So many GiB of zeros as frames of zstd, about 32 KB for each."""
    frame = zstandard.ZstdCompressor(level=1).compress(bytes(64 * 2**20))
    return frame * (16 * gigabytes)


def replace_member(log: Path, name: str, packed: bytes, says: int) -> None:
    """Put other packed content under the name of a member, whose headers say that it expands to `says` bytes."""
    held = log.with_suffix(".new")
    with zipfile.ZipFile(log) as source, zipfile.ZipFile(held, "w") as target:
        for member in source.infolist():
            target.writestr(member.filename, packed if member.filename == name else source.read(member))
    content = bytearray(held.read_bytes())
    for mark, shift in ((b"PK\x03\x04", 0), (b"PK\x01\x02", 2)):
        at = _header(bytes(content), mark, name.encode(), 26 + shift + (4 if shift == 0 else 18))
        struct.pack_into("<H", content, at + _METHOD + shift, _ZSTANDARD)
        struct.pack_into("<I", content, at + _SIZE + shift, says)
    held.write_bytes(content)
    held.replace(log)


def _header(content: bytes, mark: bytes, name: bytes, length: int) -> int:
    """Return where the header of a member begins whose name follows so many bytes later."""
    at = content.find(mark)
    while content[at + length : at + length + len(name)] != name:
        at = content.index(mark, at + 1)
    return at


def overlap(log: Path) -> None:
    """Let the last member of a log begin where its first does."""
    content = bytearray(log.read_bytes())
    first, last = content.index(b"PK\x01\x02"), content.rindex(b"PK\x01\x02")
    content[last + 42 : last + 46] = content[first + 42 : first + 46]
    log.write_bytes(content)
