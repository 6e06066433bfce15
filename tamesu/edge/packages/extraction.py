"""Extracting the payload of a package: into a new folder first, which becomes the case by one rename or goes away."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tamesu.base.model.manifest import FileDigest
from tamesu.core.packages.roll import Member
from tamesu.edge.store.digests import file_digest
from tamesu.edge.store.files import sync_folder

# Below it lies `payload`, one folder deeper than a case, so that no command takes what lies there for one.
_STAGING = re.compile(r"\.unpacking-[0-9a-f]{16}")
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class PayloadFolder:
    """Receives the members of an archive and writes those of the payload below a folder that was empty.

    Modes, owners and times of the archive are left behind. Every file must be new: FileExistsError says that this
    file system takes two names for one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: int | None = None

    def folder(self, member: Member) -> None:
        """Make a folder of the payload."""
        if member.payload_path is not None:
            self._place(member.payload_path).mkdir(parents=True, exist_ok=True)

    def file(self, member: Member) -> Callable[[bytes], object]:
        """Begin a file of the payload; what lies elsewhere is not written."""
        if member.payload_path is None:
            return len
        place = self._place(member.payload_path)
        place.parent.mkdir(parents=True, exist_ok=True)
        self._open = handle = os.open(place, _NEW_FILE, 0o644)
        return lambda piece: _write_all(handle, piece)

    def done(self) -> None:
        """End the file that was begun last."""
        if self._open is not None:
            os.close(self._open)
            self._open = None

    def _place(self, payload_path: str) -> Path:
        return self._folder / payload_path


@contextmanager
def staging(beside: Path) -> Iterator[Path]:
    """Yield a new empty folder in the folder `beside`; whatever is left of it at the end is removed."""
    outer = beside / f".unpacking-{secrets.token_hex(8)}"
    outer.mkdir(mode=0o700)
    try:
        inner = outer / "payload"
        inner.mkdir()
        yield inner
    finally:
        shutil.rmtree(outer)


def remove_leftovers(beside: Path) -> int:
    """Remove what interrupted extractions left in a folder and return how many; only while none is under way."""
    left = [path for path in beside.iterdir() if _STAGING.fullmatch(path.name) and _is_folder(path)]
    for path in left:
        shutil.rmtree(path)
    return len(left)


def written_files(folder: Path) -> tuple[FileDigest, ...]:
    """Return all files below a folder by content, paths relative to it. Raises OSError for what is no regular file."""
    found = []
    for place, _, names in os.walk(folder, onerror=_raise):
        for path in (Path(place) / name for name in names):
            found.append(FileDigest(path.relative_to(folder).as_posix(), file_digest(path), path.lstat().st_size))
    return tuple(found)


def move_into_place(folder: Path, target: Path) -> None:
    """Make everything below a folder durable, then rename it. Raises OSError when something lies at the target."""
    os.sync()
    folder.rename(target)
    sync_folder(target.parent)


def _write_all(handle: int, piece: bytes) -> None:
    left = memoryview(piece)
    while left:
        left = left[os.write(handle, left) :]


def _is_folder(path: Path) -> bool:
    return stat.S_ISDIR(path.lstat().st_mode)


def _raise(error: OSError) -> None:
    raise error
