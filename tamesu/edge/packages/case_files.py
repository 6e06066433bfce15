"""What lies in the folder of a case, found without following anything."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class CaseFile:
    """A regular file: its path relative to the case, and its size in bytes as it was found."""

    path: str
    size: int


@dataclass(slots=True)
class CaseFiles:
    """The files of a case, sorted, and the paths of what is none: links, pipes and devices, folders that do not open.

    What lies below a hidden folder is not looked at.
    """

    files: list[CaseFile] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    special: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)


def find_case_files(case: Path) -> CaseFiles:
    """Return what lies in the folder of a case."""
    found = CaseFiles()
    _look(case, "", found)
    found.files.sort(key=lambda file: file.path)
    return found


def _look(folder: Path, above: str, found: CaseFiles) -> None:
    for entry in _entries(folder, above, found):
        path = above + entry.name
        if entry.is_symlink():
            found.links.append(path)
        elif entry.is_dir(follow_symlinks=False):
            if not entry.name.startswith("."):
                _look(folder / entry.name, f"{path}/", found)
        elif entry.is_file(follow_symlinks=False):
            found.files.append(CaseFile(path, entry.stat(follow_symlinks=False).st_size))
        else:
            found.special.append(path)


def _entries(folder: Path, above: str, found: CaseFiles) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from sorted(entries, key=lambda entry: entry.name)
    except OSError:
        found.closed.append(above.rstrip("/"))
