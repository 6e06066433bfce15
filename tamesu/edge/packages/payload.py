"""The payload of a package: the files of a case as an archive holds them."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

from tamesu.base.canonical import digest_bytes
from tamesu.base.model.manifest import FileDigest
from tamesu.base.model.package import LIMITS, VIEW_ONLY, Profile
from tamesu.core.packages.allowlist import is_log
from tamesu.core.packages.scrub import scrubbed
from tamesu.edge.store.unfollowed import open_unfollowed

_VIEW_ONLY = b"schema_version: 1\nreason: packed with the profile report-only, which holds no datasets and no code\n"


class Payload:
    """The files that a package of a case holds, read anew each time: whole, logs without home folders."""

    def __init__(self, case: Path, files: tuple[str, ...], profile: Profile) -> None:
        self._case = case
        marked = profile is Profile.REPORT_ONLY
        self.paths = tuple(sorted({*files, *([VIEW_ONLY] if marked else [])}, key=str.encode))

    def content(self, path: str) -> bytes:
        """Return a file's bytes as the archive holds them. Raises OSError, also for what is no regular file."""
        if path == VIEW_ONLY:
            return _VIEW_ONLY
        content = _read(self._case / path)
        return scrubbed(content) if is_log(path) else content

    def digest(self, path: str) -> FileDigest:
        return file_digest(path, self.content(path))

    def digests(self, known: Callable[[Path], str]) -> tuple[FileDigest, ...]:
        """Return all files by content, with the digests that are `known` of files that are packed as they lie there."""
        return tuple(
            self.digest(path)
            if path == VIEW_ONLY or is_log(path)
            else FileDigest(path, known(self._case / path), (self._case / path).stat().st_size)
            for path in self.paths
        )


def file_digest(path: str, content: bytes) -> FileDigest:
    """Return a file of the payload by its content."""
    return FileDigest(path, digest_bytes(content), len(content))


def _read(path: Path) -> bytes:
    handle = open_unfollowed(path)
    with os.fdopen(handle, "rb") as stream:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "is no regular file", str(path))
        content = stream.read(LIMITS.file_bytes + 1)
    if len(content) > LIMITS.file_bytes:
        raise OSError(errno.EFBIG, f"has more than {LIMITS.file_bytes:,} bytes", str(path))
    return content
