"""The payload of a package by content: its digest, its order, and the name of the archive."""

from __future__ import annotations

from collections.abc import Iterable

from tamesu.base.canonical import digest_bytes
from tamesu.base.model.manifest import FileDigest
from tamesu.base.model.package import SUFFIX


def content_digest(payload: Iterable[FileDigest]) -> str:
    """Return the SHA-256 of a payload: of the lines `<sha256>  <path>`, LF after each, sorted bytewise by path.

    Paths are relative to the payload. Neither compression nor order nor metadata of an archive counts.
    """
    lines = (f"{file.sha256}  {file.path}\n" for file in in_order(payload))
    return digest_bytes("".join(lines).encode())


def in_order(payload: Iterable[FileDigest]) -> tuple[FileDigest, ...]:
    """Return the files sorted by the bytes of their paths, as the archive holds them."""
    return tuple(sorted(payload, key=lambda file: file.path.encode()))


def archive_name(publisher: str, name: str, version: str) -> str:
    """Return the file name of a package: `<publisher>-<name>-<version>.tamesu.tar.gz`."""
    return f"{publisher}-{name}-{version}{SUFFIX}"
