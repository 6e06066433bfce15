"""Reading the archive of a package: every member is checked as it passes, whatever is done with its content."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from tamesu.base.canonical import StreamDigest
from tamesu.base.model.manifest import FileDigest
from tamesu.base.model.package import MANIFEST, PAYLOAD, PUBLICATION, Limits
from tamesu.core.packages.refusal import Refusal
from tamesu.core.packages.roll import Member, Roll
from tamesu.core.packages.tar_header import BLOCK, END_BLOCK, Header, Kind, padding, read_extended, read_header
from tamesu.edge.documents.yaml_reader import MAX_BYTES
from tamesu.edge.packages.gzip_stream import BadStream, GzipStream

T = TypeVar("T")

_PIECE = 256 * 1024
_MOST_EXTENDED = 4096  # bytes of pax records; a path is at most 1024
_MOST_MANIFEST = 1024 * 1024
_KEPT = {MANIFEST: _MOST_MANIFEST, PAYLOAD + PUBLICATION: MAX_BYTES}  # whose content is read, with the most bytes
_MOST_TRAILING = 1024 * 1024  # zeros that fill the last record of a tape


class Receiver(Protocol):
    """What takes the content of members as they pass."""

    def folder(self, member: Member) -> None: ...
    def file(self, member: Member) -> Callable[[bytes], object]:
        """Begin a file and return what takes its pieces."""

    def done(self) -> None:
        """End the file that was begun last."""


class Nobody:
    """Takes no content: the archive is only looked at."""

    def folder(self, member: Member) -> None:
        """Pass by."""

    def file(self, member: Member) -> Callable[[bytes], object]:  # noqa: ARG002
        return len

    def done(self) -> None:
        """Pass by."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What an archive holds: files of the payload and others by path and content, and the bytes of package.yml.

    `publication` are the bytes of the payload's publication.yml, None when it holds none.
    `archive_sha256` is that of the archive itself, so two readings of one descriptor are equal or something changed it.
    """

    payload: tuple[FileDigest, ...]
    others: tuple[FileDigest, ...]
    manifest: bytes
    archive_sha256: str
    publication: bytes | None = None


@dataclass(slots=True)
class _Gathering:
    payload: list[FileDigest] = field(default_factory=list)
    others: list[FileDigest] = field(default_factory=list)
    kept: dict[str, bytes] = field(default_factory=dict)


def read_archive(descriptor: int, limits: Limits, receiver: Receiver) -> Contents | Refusal:
    """Read an archive from its beginning to its very end through an open descriptor, handing on each member.

    Content is handed on before the end is known: to write only what was accepted as a whole, read once before.
    """
    size = os.fstat(descriptor).st_size
    if size > limits.total_bytes + limits.files * 2 * (_MOST_EXTENDED + BLOCK):
        return Refusal(f"is larger than what {limits.total_bytes} bytes of content take")
    too_much = f"expands to more than {limits.ratio} times its size"
    stream = GzipStream(_source(descriptor), limits.ratio * size, too_much)
    found = _Gathering()
    try:
        for member in _members(stream, Roll(limits)):
            _pass(stream, member, receiver, found)
        _check_end(stream)
        digest = stream.close()
    except BadStream as error:
        return Refusal(str(error))
    except _Refused as refused:
        return refused.refusal
    manifest = found.kept.get(MANIFEST)
    if manifest is None:
        return Refusal(f"holds no {MANIFEST}")
    publication = found.kept.get(PAYLOAD + PUBLICATION)
    return Contents(tuple(found.payload), tuple(found.others), manifest, digest, publication)


class _Refused(Exception):
    def __init__(self, refusal: Refusal) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


def _source(descriptor: int) -> Callable[[int], bytes]:
    """Return a reader from the first byte on, which minds neither the position of the descriptor nor its name."""
    at = 0

    def read(most: int) -> bytes:
        nonlocal at
        piece = os.pread(descriptor, most, at)
        at += len(piece)
        return piece

    return read


def _members(stream: GzipStream, roll: Roll) -> Iterator[Member]:
    """Yield each member; its content follows in the stream and must be read before the next."""
    while (header := _next_header(stream)) is not None:
        longer = None
        if header.kind is Kind.EXTENDED:
            longer = _extended_path(stream, header)
            header = _next_header(stream)
            if header is None or header.kind is Kind.EXTENDED:
                raise BadStream("holds pax records that belong to no member")
        yield _valid(roll.admit(header.path if longer is None else longer, header.kind, header.size))


def _next_header(stream: GzipStream) -> Header | None:
    """Return the next header, None at the mark of the end: two blocks of zeros."""
    block = stream.read(BLOCK)
    if block != END_BLOCK:
        return _valid(read_header(block))
    if stream.read(BLOCK) != END_BLOCK:
        raise BadStream("goes on behind the mark of its end")
    return None


def _extended_path(stream: GzipStream, header: Header) -> str | None:
    if header.size > _MOST_EXTENDED:
        raise BadStream(f"holds pax records of more than {_MOST_EXTENDED} bytes")
    content = stream.read(header.size)
    _check_padding(stream, header.size)
    found = read_extended(content)
    return found if found is None else _valid(found)


def _pass(stream: GzipStream, member: Member, receiver: Receiver, found: _Gathering) -> None:
    if member.kind is Kind.FOLDER:
        receiver.folder(member)
        return
    take, digest = receiver.file(member), StreamDigest()
    kept = bytearray() if member.path in _KEPT else None
    most = _KEPT.get(member.path, member.size)
    if member.size > most:
        raise _Refused(Refusal(f"is larger than {most} bytes", member.path))
    try:
        for piece in _pieces(stream, member.size):
            digest.update(piece)
            take(piece)
            if kept is not None:
                kept += piece
    finally:
        receiver.done()
    _check_padding(stream, member.size)
    place = found.others if member.payload_path is None else found.payload
    place.append(FileDigest(member.payload_path or member.path, digest.hexdigest(), member.size))
    if kept is not None:
        found.kept[member.path] = bytes(kept)


def _pieces(stream: GzipStream, size: int) -> Iterator[bytes]:
    while size:
        piece = stream.read(min(size, _PIECE))
        size -= len(piece)
        yield piece


def _check_padding(stream: GzipStream, size: int) -> None:
    if any(stream.read(padding(size))):
        raise BadStream("holds content behind the end of a member")


def _check_end(stream: GzipStream) -> None:
    left = _MOST_TRAILING
    while piece := stream.read_some(_PIECE):
        left -= len(piece)
        if any(piece) or left < 0:
            raise BadStream("goes on behind the mark of its end")


def _valid(value: T | Refusal) -> T:
    if isinstance(value, Refusal):
        raise _Refused(value)
    return value
