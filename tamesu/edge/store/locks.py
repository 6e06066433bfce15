"""Locks that die with their process, and who holds them.

The kernel releases a flock when its last holder ends, however it ends, so no lock is ever stale. The lock
file names the holder for people; what it says counts only while the lock is held.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from tamesu.base.errors import RunHeld
from tamesu.base.model.plan import Holder
from tamesu.core.aftermath import describe

_POLL_SECONDS = 0.05
_NO_LOCKS = frozenset({errno.EBADF, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP})  # of folders, as on some NFS


def _open(path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)


def _try(handle: int, mode: int) -> bool:
    try:
        fcntl.flock(handle, mode | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _note_holder(handle: int, pid: int) -> None:
    holder = {
        "pid": pid,
        "host": socket.gethostname(),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    os.ftruncate(handle, 0)
    os.pwrite(handle, json.dumps(holder).encode(), 0)


@contextmanager
def held(path: Path, what: str, patience_seconds: float) -> Iterator[None]:
    """Hold a lock alone. Raises RunHeld, naming the holder, when patience ends first."""
    handle = _open(path)
    try:
        deadline = time.monotonic() + patience_seconds
        while not _try(handle, fcntl.LOCK_EX):
            if time.monotonic() >= deadline:
                raise RunHeld(f"{what} is held by {describe(_read_holder(path))}; wait for it or stop it")
            time.sleep(_POLL_SECONDS)
        _note_holder(handle, os.getpid())
        yield
    finally:
        os.close(handle)


@contextmanager
def folder_held(folder: Path, what: str, patience_seconds: float) -> Iterator[bool]:
    """Hold a folder alone without a file in it; yield False where its file system has no such locks.

    Raises RunHeld when patience ends first; who holds a folder is written nowhere.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        deadline = time.monotonic() + patience_seconds
        while (taken := _try_folder(handle)) is None:
            if time.monotonic() >= deadline:
                raise RunHeld(f"{what} is held by another process; wait for it or stop it")
            time.sleep(_POLL_SECONDS)
        yield taken
    finally:
        os.close(handle)


def _try_folder(handle: int) -> bool | None:
    """Return whether a folder could be locked, None while somebody else holds it."""
    try:
        return True if _try(handle, fcntl.LOCK_EX) else None
    except OSError as error:
        if error.errno in _NO_LOCKS:
            return False
        raise


def holder(path: Path) -> Holder | None:
    """Return who holds a lock now, None when nobody does. Nothing is written: the folder may be read-only."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        return None if _try(handle, fcntl.LOCK_SH) else _read_holder(path)
    finally:
        os.close(handle)


def _read_holder(path: Path) -> Holder:
    try:
        found = json.loads(path.read_bytes())
        return Holder(int(found["pid"]), str(found["host"]), str(found["since"]))
    except (ValueError, KeyError, TypeError):
        return Holder(0, "unknown", "unknown")


class Presence:
    """A shared lock that says 'an invocation is alive'; inheritable, so that a child can keep it up."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle = _open(path)

    def alone(self) -> bool:
        """Return whether no other invocation is alive, and be present from now on either way."""
        alone = _try(self._handle, fcntl.LOCK_EX)
        fcntl.flock(self._handle, fcntl.LOCK_SH)
        return alone

    def note(self, pid: int) -> None:
        """Name the process that is at work, for those who come meanwhile."""
        _note_holder(self._handle, pid)

    def noted(self) -> Holder:
        """Return the process that was named last."""
        return _read_holder(self._path)

    def fileno(self) -> int:
        return self._handle

    def close(self) -> None:
        os.close(self._handle)
