"""Staged files become an item's artifacts: read the manifest, copy what is accepted, swap it into place.

The staging area is hostile. Every open below it follows no link at any component and never blocks, every
size is bounded, and nothing is written but new files in a fresh folder inside the item's own. What the
content causes is a rejection; a full disk and the like is an OSError, because the item is not at fault.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tamesu.base.canonical import StreamDigest
from tamesu.base.model.evidence import Artifact, RejectedArtifact, StagedEntry
from tamesu.base.model.manifest import ArtifactPolicy
from tamesu.core import artifacts as rules
from tamesu.core.artifacts import MalformedEntry

MANIFEST = "manifest.jsonl"
KEPT = "kept.jsonl"
ARTIFACTS = "artifacts"
MAX_MANIFEST_BYTES = 4 * 1024 * 1024
MAX_MANIFEST_LINES = 10_000

_PIECE = 1024 * 1024
_FIELDS = frozenset({"role", "path", "media_type", "blob"})
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FRESH = ".artifacts.new"
_REPLACED = ".artifacts.old"

# Errors of opening and reading that a staged file can cause by what it is; every other one is the machine's.
_SOURCE_REASONS = {
    errno.ENOENT: rules.MISSING_FILE,
    errno.ELOOP: rules.NOT_A_REGULAR_FILE,
    errno.ENOTDIR: rules.NOT_A_REGULAR_FILE,
    errno.EISDIR: rules.NOT_A_REGULAR_FILE,
    errno.ENXIO: rules.NOT_A_REGULAR_FILE,
    errno.ENODEV: rules.NOT_A_REGULAR_FILE,
    errno.EACCES: rules.UNREADABLE,
    errno.EPERM: rules.UNREADABLE,
    errno.EIO: rules.UNREADABLE,
    errno.EINVAL: rules.UNREADABLE,
    errno.EAGAIN: rules.UNREADABLE,
}
# Errors of creating a file that its name can cause on this file system.
_TARGET_REASONS = {
    errno.EEXIST: rules.DUPLICATE_PATH,
    errno.ENOTDIR: rules.PATH_CONFLICT,
    errno.EISDIR: rules.PATH_CONFLICT,
    errno.ELOOP: rules.PATH_CONFLICT,
    errno.ENAMETOOLONG: rules.PATH_TOO_LONG,
    errno.EINVAL: rules.RESERVED_NAME,
    errno.EILSEQ: rules.RESERVED_NAME,
}


@dataclass(frozen=True, slots=True)
class Collected:
    """An item's artifacts, what was refused, and the required roles that did not arrive."""

    artifacts: tuple[Artifact, ...]
    rejected: tuple[RejectedArtifact, ...]
    missing: tuple[str, ...]


class _Refused(Exception):
    """Carries the reason for which one staged file is rejected."""


class _TooLarge(_Refused):
    """Says that a staged file has more bytes than any may have."""

    def __init__(self, size: int) -> None:
        super().__init__(rules.TOO_LARGE)
        self.size = size


def read_staging(root: Path, item: str) -> tuple[StagedEntry | MalformedEntry, ...]:
    """Return the entries of an item's staging manifest in order; nothing when it staged nothing.

    At most 4 MiB and 10,000 lines are read; what lies beyond is one malformed entry.
    """
    try:
        with _source(_area(root, item), MANIFEST) as file:
            content = _read_up_to(file, MAX_MANIFEST_BYTES + 1)
    except _Refused as refused:
        reason = str(refused)
        return () if reason == rules.MISSING_FILE else (MalformedEntry(MANIFEST, reason),)
    return _parse_manifest(content)


def read_kept(root: Path, item: str) -> frozenset[StagedEntry]:
    """Return the entries of an item's staging manifest that Tamesu itself made of the reply.

    Without a list of them, or with one that cannot be read, nothing was kept.
    """
    try:
        with _source(_area(root, item), KEPT) as file:
            content = _read_up_to(file, MAX_MANIFEST_BYTES)
    except _Refused:
        return frozenset()
    return frozenset(entry for entry in _parse_manifest(content) if isinstance(entry, StagedEntry))


def collect(
    root: Path, item: str, destination: Path, policy: ArtifactPolicy, reply: Collection[StagedEntry] | None = None
) -> Collected:
    """Copy an item's accepted files to `<destination>/artifacts/` and replace what lay there.

    With `reply`, no entry is accepted but those in it.

    `destination` is the item's folder; paths in the result are relative to it. Without an accepted file there
    is no `artifacts` folder afterwards. Raises OSError when the disk fails; old artifacts then stay.
    """
    judged = rules.judge_entries(read_staging(root, item), policy, reply)
    fresh = _fresh_folder(destination)
    try:
        taken = [_take(_area(root, item), fresh, entry, policy.max_bytes) for entry in judged.accepted]
        _remove_empty_folders(fresh)
        _swap(fresh, destination)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    artifacts = tuple(result for result in taken if isinstance(result, Artifact))
    refused = tuple(result for result in taken if isinstance(result, RejectedArtifact))
    return Collected(artifacts, judged.rejected + refused, rules.missing_roles(policy, artifacts))


def contained(base: Path, relative: str) -> bool:
    """Say whether a relative path, taken as text, names something strictly below `base`."""
    inside = os.path.normpath(base)
    target = os.path.normpath(base / relative)
    return target != inside and Path(target).is_relative_to(inside)


def _area(root: Path, item: str) -> Path:
    if "/" in item or not contained(root, item):
        raise ValueError(f"item ID {item!r} cannot name a folder; use lowercase kebab-case")
    return root / item


def _take(area: Path, fresh: Path, entry: StagedEntry, max_bytes: int) -> Artifact | RejectedArtifact:
    try:
        if not contained(area, entry.blob):
            raise _Refused(rules.OUTSIDE_STAGING)
        if not contained(fresh, entry.path):
            raise _Refused(rules.TRAVERSING_PATH)
        with _source(area, entry.blob) as source:
            if (found := os.fstat(source).st_size) > max_bytes:
                raise _TooLarge(found)
            with _target(fresh, entry.path) as target:
                sha256, size = _copy(source, target, max_bytes)
    except _TooLarge as refused:
        return replace(rules.rejection(entry, str(refused)), size=refused.size, limit=max_bytes)
    except _Refused as refused:
        return rules.rejection(entry, str(refused))
    return Artifact(entry.role, f"{ARTIFACTS}/{entry.path}", sha256, size, entry.media_type)


@contextlib.contextmanager
def _source(area: Path, relative: str) -> Iterator[int]:
    """Open a regular file below a staging area for reading, with no other name anywhere."""
    with contextlib.ExitStack() as opened:
        with _refusing(_SOURCE_REASONS):
            folder = _open_folder(area.parent, opened)
            *parents, name = area.name, *relative.split("/")
            for parent in parents:
                folder = _kept(os.open(parent, _FOLDER, dir_fd=folder), opened)
            file = _kept(os.open(name, _READ, dir_fd=folder), opened)
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            raise _Refused(rules.NOT_A_REGULAR_FILE)
        yield file


@contextlib.contextmanager
def _target(fresh: Path, relative: str) -> Iterator[int]:
    """Create a new file below the fresh folder; it is removed again when the copy is given up."""
    *parents, name = relative.split("/")
    with contextlib.ExitStack() as opened:
        folder = _open_folder(fresh, opened)
        with _refusing(_TARGET_REASONS):
            for parent in parents:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(parent, dir_fd=folder)
                folder = _kept(os.open(parent, _FOLDER, dir_fd=folder), opened)
            file = _kept(os.open(name, _CREATE, 0o666, dir_fd=folder), opened)
        try:
            yield file
        except BaseException:
            os.unlink(name, dir_fd=folder)
            raise


def _open_folder(path: Path, opened: contextlib.ExitStack) -> int:
    # The staging root and the fresh folder are ours: a link on the way to them is the user's own layout.
    return _kept(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), opened)


def _kept(descriptor: int, opened: contextlib.ExitStack) -> int:
    opened.callback(os.close, descriptor)
    return descriptor


@contextlib.contextmanager
def _refusing(reasons: dict[int, str]) -> Iterator[None]:
    """Turn the errors that content can cause into a rejection; every other OSError passes."""
    try:
        yield
    except OSError as error:
        reason = reasons.get(error.errno or 0)
        if reason is None:
            raise
        raise _Refused(reason) from None


def _copy(source: int, target: int, max_bytes: int) -> tuple[str, int]:
    """Copy in pieces; return SHA-256 and size. The file may grow meanwhile, so the bound is checked again."""
    digest, size = StreamDigest(), 0
    with open(target, "wb", closefd=False) as sink:
        while piece := _read(source, _PIECE):
            size += len(piece)
            if size > max_bytes:
                raise _TooLarge(max(size, os.fstat(source).st_size))
            digest.update(piece)
            sink.write(piece)
    return digest.hexdigest(), size


def _read(file: int, size: int) -> bytes:
    with _refusing(_SOURCE_REASONS):
        return os.read(file, size)


def _read_up_to(file: int, size: int) -> bytes:
    pieces: list[bytes] = []
    while size > 0 and (piece := _read(file, min(size, _PIECE))):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _parse_manifest(content: bytes) -> tuple[StagedEntry | MalformedEntry, ...]:
    *lines, rest = content[:MAX_MANIFEST_BYTES].split(b"\n")
    entries = [_parse_line(number, line) for number, line in enumerate(lines[:MAX_MANIFEST_LINES], start=1)]
    if len(content) > MAX_MANIFEST_BYTES or len(lines) > MAX_MANIFEST_LINES:
        entries.append(MalformedEntry(MANIFEST, rules.MANIFEST_TOO_LARGE))
    elif rest:
        # A line without its end was cut while it was written.
        entries.append(MalformedEntry(f"{MANIFEST}:{len(lines) + 1}", rules.MALFORMED_MANIFEST))
    return tuple(entries)


def _parse_line(number: int, line: bytes) -> StagedEntry | MalformedEntry:
    malformed = MalformedEntry(f"{MANIFEST}:{number}", rules.MALFORMED_MANIFEST)
    if b"\r" in line:
        return malformed
    try:
        pairs = json.loads(line.decode("utf-8"), object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        return malformed
    if not isinstance(pairs, _Pairs) or len(pairs) != len(_FIELDS):
        return malformed
    values = {key: value for key, value in pairs if isinstance(value, str)}
    return StagedEntry(**values) if values.keys() == _FIELDS else malformed


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as its pairs, so that a repeated name is seen."""


def _fresh_folder(destination: Path) -> Path:
    """Return a new empty folder beside `artifacts`, after putting right what an interrupted call left."""
    destination.mkdir(parents=True, exist_ok=True)
    current, replaced, fresh = (destination / name for name in (ARTIFACTS, _REPLACED, _FRESH))
    if replaced.is_dir() and not replaced.is_symlink() and not os.path.lexists(current):
        replaced.rename(current)
    _remove(replaced)
    _remove(fresh)
    fresh.mkdir()
    return fresh


def _swap(fresh: Path, destination: Path) -> None:
    current, replaced = destination / ARTIFACTS, destination / _REPLACED
    if os.path.lexists(current):
        current.rename(replaced)
    if any(fresh.iterdir()):
        fresh.rename(current)
    else:
        fresh.rmdir()
    _remove(replaced)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _remove_empty_folders(fresh: Path) -> None:
    for folder, _, _ in os.walk(fresh, topdown=False):
        if Path(folder) != fresh:
            with contextlib.suppress(OSError):
                os.rmdir(folder)  # noqa: PTH106
