"""Which files count as executed sources by their place and name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

_SUFFIXES = frozenset({".py", ".yaml", ".yml", ".sh", ".dockerfile"})
_CACHES = frozenset({"__pycache__", "node_modules"})


def files_below(folder: Path, unreadable: Callable[[OSError], None] | None = None) -> Iterator[Path]:
    """Yield the files of a declared folder, caches left out; a folder that cannot be read goes to `unreadable`."""
    found: list[Path] = []
    for place, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = [name for name in folders if name not in _CACHES]
        found.extend(Path(place, name) for name in names if name not in _CACHES)
    yield from (path for path in sorted(found) if is_file(path))


def present(path: Path) -> bool:
    """Return whether something is there; what may not be looked at counts, for reading tells more."""
    try:
        return path.exists()
    except PermissionError:
        return True
    except OSError:  # a name too long for the disk
        return False


def is_folder(path: Path) -> bool:
    """Return whether a folder is there, whatever the name."""
    try:
        return path.is_dir()
    except OSError:  # a name too long for the disk
        return False


def is_file(path: Path) -> bool:
    """Return whether a file is there, whatever the name."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_source_like(path: Path) -> bool:
    """Return whether a file is code or says how code is run, by its name."""
    name = path.name.lower()
    return path.suffix.lower() in _SUFFIXES or name.startswith(("dockerfile", "containerfile", "requirements"))


def source_like(folder: Path, unreadable: Callable[[OSError], None] | None = None) -> Iterator[Path]:
    """Yield the source-like files below a folder; hidden ones are none."""
    for path in files_below(folder, unreadable):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if not hidden and is_source_like(path):
            yield path
