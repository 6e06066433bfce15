"""Digests of files, remembered by what the file system says about the file.

An entry counts only while inode, size, mtime and ctime are what they were, and only when the ctime was
well before the digest was taken, so that a write within the clock's grain cannot hide.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from pathlib import Path

import msgspec

from tamesu.base.canonical import StreamDigest
from tamesu.base.errors import StorageFull
from tamesu.edge.store.files import write_atomic
from tamesu.edge.store.unfollowed import open_unfollowed

_PIECE = 1 << 20
_GRAIN_NS = 2_000_000_000


class _Entry(msgspec.Struct, array_like=True):
    signature: tuple[int, int, int, int]
    sha256: str


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a regular file's bytes, read in pieces; symlinks are not followed."""
    handle = open_unfollowed(path)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "is not a regular file", str(path))
    with os.fdopen(handle, "rb") as stream:
        digest = StreamDigest()
        while piece := stream.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()


class DigestCache:
    """Digests of a project's files; `save` keeps them for the next process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = _load(path)
        self._changed = False

    def digest(self, path: Path) -> str:
        """Return the SHA-256 of a file. Raises OSError when it cannot be read."""
        found = path.lstat()
        signature = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        key = str(path)
        entry = self._known.get(key)
        if entry is not None and entry.signature == signature:
            return entry.sha256
        now = time.time_ns()
        sha256 = file_digest(path)
        if found.st_ctime_ns < now - _GRAIN_NS:
            self._known[key] = _Entry(signature, sha256)
            self._changed = True
        return sha256

    def save(self) -> None:
        """Keep what was learned; a cache that cannot be written is no failure."""
        if not self._changed:
            return
        try:
            write_atomic(self._path, msgspec.msgpack.encode(self._known))
        except (OSError, StorageFull):
            return
        self._changed = False


def _load(path: Path) -> dict[str, _Entry]:
    try:
        return msgspec.msgpack.decode(path.read_bytes(), type=dict[str, _Entry])
    except (OSError, msgspec.DecodeError):
        return {}
