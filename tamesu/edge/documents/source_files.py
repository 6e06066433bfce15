"""Which files count as executed sources by their place and name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_SUFFIXES = frozenset({".py", ".yaml", ".yml", ".sh", ".dockerfile"})
_CACHES = frozenset({"__pycache__", "node_modules"})


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the files of a declared folder, caches left out."""
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder).parts
        if path.is_file() and not _CACHES & set(inside):
            yield path


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


def source_like(folder: Path) -> Iterator[Path]:
    """Yield the source-like files below a folder; hidden ones are none."""
    for path in files_below(folder):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if not hidden and is_source_like(path):
            yield path
