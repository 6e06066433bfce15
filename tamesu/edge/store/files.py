"""Writing so that a crash at any moment leaves either the old content or the new, never a part."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tamesu.base.errors import StorageFull

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_FORBIDDEN = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


@contextmanager
def full_disk_named(path: Path) -> Iterator[None]:
    """Turn 'no space left' into StorageFull with the file that could not be written.

    What may not be written names that file too, and no temporary one beside it.
    """
    try:
        yield
    except OSError as error:
        if error.errno in _FORBIDDEN:
            raise OSError(error.errno, error.strerror, str(path)) from None
        if error.errno not in _FULL:
            raise
        raise StorageFull(
            f"{path}: the disk is full; free space and run again, nothing that was finished is lost"
        ) from None


def write_atomic(path: Path, content: bytes) -> None:
    """Replace a file by rename, durable on return. Raises StorageFull when the disk is."""
    _write(path, content, Path.replace)


def write_verified(path: Path, content: bytes) -> None:
    """Replace a file by rename without waiting for the disk; for what an inventory verifies and a log can rebuild."""
    with full_disk_named(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            temporary.write_bytes(content)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def write_durable(path: Path, content: bytes) -> None:
    """Write a file that nobody reads before it is told of; its bytes are durable on return, `sync_folder` its name."""
    with full_disk_named(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())


def write_exclusive(path: Path, content: bytes) -> None:
    """Create a file that must not exist yet, complete or not at all. Raises FileExistsError."""
    _write(path, content, lambda temporary, target: os.link(temporary, target))


def _write(path: Path, content: bytes, place: object) -> None:
    with full_disk_named(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            temporary.chmod(0o644)
            place(temporary, path)  # type: ignore[operator]
            sync_folder(path.parent)
        finally:
            with suppress(FileNotFoundError):
                temporary.unlink()


def sync_folder(folder: Path) -> None:
    """Make renames inside a folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def append_line(path: Path, line: bytes) -> None:
    """Append one line, or several joined by LF, durable on return; a line torn by an earlier crash is ended first."""
    with full_disk_named(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            size = os.fstat(handle).st_size
            torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
            before = size
            content = (b"\n" if torn else b"") + line + b"\n"
            try:
                written = os.write(handle, content)
                if written != len(content):
                    raise OSError(errno.ENOSPC, "short write")
                os.fsync(handle)
            except OSError:
                os.ftruncate(handle, before)
                raise
        finally:
            os.close(handle)


def whole_lines(content: bytes) -> list[bytes]:
    """Return the lines of an append-only file, split on LF alone; a torn last line is left out."""
    lines = content.split(b"\n")
    return [line for line in lines[:-1] if line.strip()]


def drop_torn_line(path: Path) -> None:
    """Cut off what a death left behind the last line break, so that the next line does not join it."""
    if path.exists():
        content = path.read_bytes()
        if content and not content.endswith(b"\n"):
            os.truncate(path, content.rfind(b"\n") + 1)


def append_unsynced(path: Path, line: bytes) -> None:
    """Append one line in a single write, without waiting for the disk. Raises StorageFull."""
    with full_disk_named(path):
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            if os.write(handle, line + b"\n") != len(line) + 1:
                raise OSError(errno.ENOSPC, "short write")
        finally:
            os.close(handle)
