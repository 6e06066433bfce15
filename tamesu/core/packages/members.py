"""Which paths a package may hold, on writing and on reading alike."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping

from tamesu.core.artifacts import (
    ABSOLUTE_PATH,
    BACKSLASH,
    CONTROL_CHARACTER,
    EMPTY_PATH,
    NOT_NORMALISED,
    PATH_TOO_LONG,
    RESERVED_NAME,
    TRAVERSING_PATH,
    PathFault,
    normalise_path,
)

HIDDEN = "hidden"
_SAID: Mapping[str, str] = {
    EMPTY_PATH: "is an empty path",
    ABSOLUTE_PATH: "is an absolute path",
    TRAVERSING_PATH: "leads out of its folder",
    BACKSLASH: "holds a backslash",
    CONTROL_CHARACTER: "holds a character that cannot be seen",
    RESERVED_NAME: "has a name that some systems cannot hold",
    PATH_TOO_LONG: "is too long a path",
    NOT_NORMALISED: "is not written in its plain form (Unicode NFC, no '.', no empty segment)",
    HIDDEN: "is hidden",
}


def member_fault(path: str) -> str | None:
    """Return why no package holds a path (relative to the archive or to the payload); None when one can.

    The answer is a stable word: those of core/artifacts.py, or `hidden` for a segment with a leading dot.
    """
    # what cannot be encoded is no text, so it must not reach the rules for text
    if any("\ud800" <= character <= "\udfff" for character in path):
        return CONTROL_CHARACTER
    plain = normalise_path(path)
    if isinstance(plain, PathFault):
        return plain.reason
    if plain != path:
        return NOT_NORMALISED
    return HIDDEN if any(segment.startswith(".") for segment in path.split("/")) else None


def said(fault: str) -> str:
    """Return a fault as people are told it: what the path does."""
    return _SAID[fault]


def folded(path: str) -> str:
    """Return what a path is on a file system that minds neither case nor the form of Unicode."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", path).casefold())


def collisions(paths: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of files that cannot stand beside each other everywhere, each sorted.

    These are paths that are equal when folded, and a file whose path is a folder of another.
    """
    paths = tuple(paths)
    groups: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        groups[folded(path)].append(path)
    spellings: dict[str, set[str]] = defaultdict(set)
    for path in paths:
        for folder in _folders(path):
            spellings[folded(folder)].add(folder)
    for fold, folders in spellings.items():
        if fold in groups:
            groups[fold].append(min(folders) + "/")
        elif len(folders) > 1:
            groups[fold] = [f"{folder}/" for folder in folders]
    return tuple(tuple(sorted(group)) for _, group in sorted(groups.items()) if len(group) > 1)


def _folders(path: str) -> list[str]:
    segments = path.split("/")
    return ["/".join(segments[:depth]) for depth in range(1, len(segments))]
