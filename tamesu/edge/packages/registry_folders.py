"""Where the versions of a registry lie: folders of its own, no links, and none that lost its entry is passed over."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from tamesu.base.errors import InvalidDocument
from tamesu.core.packages.publisher_names import PUBLISHERS

ENTRY = "entry.yml"
PAYLOAD_FOLDER = "payload"
_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9a-z.-]+)?")
_LEVELS = 3  # publisher, name, version


def version_folders(root: Path) -> Iterator[Path]:
    """Yield the folder of every version, in no order; what is hidden or no part of a registry is none.

    Raises InvalidDocument for a link in the place of a folder and for a version without its entry.
    """
    for folder in _below(root, _LEVELS):
        if os.path.lexists(folder / ENTRY):
            yield folder
        elif os.path.lexists(folder / PAYLOAD_FOLDER) or _VERSION.fullmatch(folder.name):
            raise InvalidDocument(f"{folder}: holds no {ENTRY}; restore it, or remove the folder")


def refuse_links(*paths: Path) -> None:
    """Raise InvalidDocument when one of the paths is a link, whose content is not the registry's own."""
    for path in paths:
        if path.is_symlink():
            raise InvalidDocument(f"{path}: is a link; put what it leads to in its place, or remove it")


def _below(folder: Path, levels: int) -> Iterator[Path]:
    if levels == 0:
        yield folder
        return
    for entry in _entries(folder):
        if levels == _LEVELS and entry.name == PUBLISHERS:
            continue
        path = Path(entry.path)
        if entry.is_symlink() and not path.is_file():
            refuse_links(path)
        if entry.is_dir(follow_symlinks=False):
            yield from _below(path, levels - 1)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted((entry for entry in found if not entry.name.startswith(".")), key=lambda entry: entry.name)
    except OSError as error:
        raise InvalidDocument(f"{folder}: cannot be listed: {error.strerror}; correct its permissions") from None
