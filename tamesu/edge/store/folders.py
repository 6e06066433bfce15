"""A folder that appears as a whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path

from tamesu.edge.store.files import full_disk_named, sync_folder

_UNFINISHED = ".unfinished-"
_THERE = frozenset({errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR})


def publish_folder(target: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Write files into a new folder, which gets its name when all of it is durable; whatever raises leaves nothing.

    `files` are relative POSIX paths with their content, asked for one by one. What earlier deaths left unfinished
    beside it is cleared, so the caller holds a lock. Raises FileExistsError when anything of that name is there.
    """
    with full_disk_named(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        for left in target.parent.glob(f"{_UNFINISHED}*"):
            shutil.rmtree(left, ignore_errors=True)
        temporary = target.with_name(f"{_UNFINISHED}{secrets.token_hex(8)}")
        temporary.mkdir()
        try:
            _fill(temporary, files)
            _place(temporary, target)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        sync_folder(target.parent)


def _fill(folder: Path, files: Iterable[tuple[str, bytes]]) -> None:
    made = {folder}
    for name, content in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        made.add(path.parent)
        with path.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
    for one in sorted(made, reverse=True):
        sync_folder(one)


def _place(temporary: Path, target: Path) -> None:
    there = FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    if os.path.lexists(target):  # a rename would replace an empty folder
        raise there
    try:
        temporary.rename(target)
    except OSError as error:
        if error.errno in _THERE:
            raise there from None
        raise
