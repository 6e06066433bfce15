"""Which staged files become artifacts, as far as that shows without opening them.

Reasons are stable words that programs compare. Entries are rejected one by one; no content of a manifest
fails an item.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from tamesu.base.model.evidence import Artifact, RejectedArtifact, StagedEntry
from tamesu.base.model.manifest import ArtifactPolicy

MAX_ARTIFACTS = 200
MAX_PATH_BYTES = 1024
MAX_SEGMENT_BYTES = 255
MAX_SEGMENTS = 32

EMPTY_PATH = "empty_path"
ABSOLUTE_PATH = "absolute_path"
TRAVERSING_PATH = "traversing_path"
BACKSLASH = "backslash"
CONTROL_CHARACTER = "control_character"
RESERVED_NAME = "reserved_name"
PATH_TOO_LONG = "path_too_long"
NOT_NORMALISED = "not_normalised"
UNDECLARED_ROLE = "undeclared_role"
BAD_MEDIA_TYPE = "bad_media_type"
DUPLICATE_PATH = "duplicate_path"
PATH_CONFLICT = "path_conflict"
TOO_LARGE = "too_large"
TOO_MANY_ARTIFACTS = "too_many_artifacts"
NOT_A_REGULAR_FILE = "not_a_regular_file"
OUTSIDE_STAGING = "outside_staging"
MISSING_FILE = "missing_file"
UNREADABLE = "unreadable"
MALFORMED_MANIFEST = "malformed_manifest"
NOT_OF_THE_REPLY = "not_of_the_reply"
MANIFEST_TOO_LARGE = "manifest_too_large"

_SHOWN = 200
_DRIVE = re.compile(r"[A-Za-z]:")
_RESERVED_CHARACTERS = frozenset('<>:"|?*')
RESERVED_STEM = re.compile(r"(CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(COM|LPT)[0-9¹²³])", re.IGNORECASE)
# A folder of this name would be a repository of its own, whose configuration git obeys.
_REPOSITORY_NAMES = frozenset({".git", "git~1"})
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_BLOB = re.compile(r"blobs/[0-9]{4,9}", re.ASCII)
_NAME = r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}"
_MEDIA_TYPE = re.compile(rf'{_NAME}/{_NAME}([ \t]*;[ \t]*{_NAME}=({_NAME}|"[ !#-\[\]-~]*"))*', re.ASCII)
_MEDIA_TYPE_LENGTH = 255


@dataclass(frozen=True, slots=True)
class PathFault:
    """Why a path cannot be the path of an artifact."""

    reason: str


@dataclass(frozen=True, slots=True)
class MalformedEntry:
    """A part of a staging manifest that is no entry: `manifest.jsonl` or `manifest.jsonl:<line>`, and why."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class Judged:
    """Entries whose files may be taken, with paths in normal form, and those refused; each is in one."""

    accepted: tuple[StagedEntry, ...]
    rejected: tuple[RejectedArtifact, ...]


@dataclass(slots=True)
class _Taken:
    """Paths given out so far, as a file system that ignores case would compare them."""

    files: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)

    def conflict(self, path: str) -> str | None:
        key = _fold(path)
        if key in self.files:
            return DUPLICATE_PATH
        if key in self.folders or not self.files.isdisjoint(_parents(key)):
            return PATH_CONFLICT
        return None

    def add(self, path: str) -> None:
        key = _fold(path)
        self.files.add(key)
        self.folders.update(_parents(key))


def judge_entries(
    entries: Sequence[StagedEntry | MalformedEntry],
    policy: ArtifactPolicy,
    reply: Collection[StagedEntry] | None = None,
) -> Judged:
    """Decide on every entry of a manifest, in order; of two entries with one path the first is kept.

    With `reply`, the entries that Tamesu made of a model's reply, no other one is accepted.
    """
    accepted: list[StagedEntry] = []
    rejected: list[RejectedArtifact] = []
    taken = _Taken()
    for entry in entries:
        if isinstance(entry, MalformedEntry):
            rejected.append(RejectedArtifact("", entry.place, entry.reason))
            continue
        path = normalise_path(entry.path)
        reason = path.reason if isinstance(path, PathFault) else _refusal(entry, path, policy, taken)
        if reason is None and len(accepted) >= MAX_ARTIFACTS:
            reason = TOO_MANY_ARTIFACTS
        if reason is None and reply is not None and entry not in reply:
            reason = NOT_OF_THE_REPLY
        if reason is not None or isinstance(path, PathFault):
            rejected.append(rejection(entry, reason or UNREADABLE))
            continue
        taken.add(path)
        accepted.append(replace(entry, path=path))
    return Judged(tuple(accepted), tuple(rejected))


def normalise_path(path: str) -> str | PathFault:
    """Return a relative POSIX path without `.` and empty segments, or why it is refused.

    Refused is what leaves the folder, what some file system cannot hold or would rename, and what hides from
    the eye. At most 1024 bytes of UTF-8, 255 a segment, 32 segments.
    """
    reason = _text_fault(path)
    if reason is not None:
        return PathFault(reason)
    segments = [segment for segment in path.split("/") if segment not in ("", ".")]
    if not segments:
        return PathFault(EMPTY_PATH)
    if len(segments) > MAX_SEGMENTS:
        return PathFault(PATH_TOO_LONG)
    for segment in segments:
        reason = _segment_fault(segment)
        if reason is not None:
            return PathFault(reason)
    return "/".join(segments)


def is_blob_name(blob: str) -> bool:
    """Say whether a manifest's `blob` is a name that the staging helper gives: `blobs/0001`."""
    return _BLOB.fullmatch(blob) is not None


def is_media_type(text: str) -> bool:
    """Say whether text is `type/subtype` with optional parameters; RFC 6838 names, at most 255 characters."""
    return len(text) <= _MEDIA_TYPE_LENGTH and _MEDIA_TYPE.fullmatch(text) is not None


def missing_roles(policy: ArtifactPolicy, artifacts: Iterable[Artifact]) -> tuple[str, ...]:
    """Return the required roles that no artifact carries, in the order of the policy."""
    present = {artifact.role for artifact in artifacts}
    return tuple(role for role in policy.required if role not in present)


def rejection(entry: StagedEntry, reason: str) -> RejectedArtifact:
    """Return the record of a refused entry; role and path are shortened and escaped, safe to show."""
    return RejectedArtifact(_shown(entry.role), _shown(entry.path), reason)


def _refusal(entry: StagedEntry, path: str, policy: ArtifactPolicy, taken: _Taken) -> str | None:
    if entry.role not in policy.roles:
        return UNDECLARED_ROLE
    if not is_media_type(entry.media_type):
        return BAD_MEDIA_TYPE
    if not is_blob_name(entry.blob):
        return OUTSIDE_STAGING
    return taken.conflict(path)


def _text_fault(path: str) -> str | None:
    if not path:
        return EMPTY_PATH
    if len(path) > MAX_PATH_BYTES:
        return PATH_TOO_LONG
    if any(unicodedata.category(character) in _UNSEEN for character in path):
        return CONTROL_CHARACTER
    if "\\" in path:
        return BACKSLASH
    if path.startswith("/") or _DRIVE.match(path):
        return ABSOLUTE_PATH
    if len(path.encode()) > MAX_PATH_BYTES:
        return PATH_TOO_LONG
    if path.endswith("/") or not unicodedata.is_normalized("NFC", path):
        return NOT_NORMALISED
    return None


def _segment_fault(segment: str) -> str | None:
    if segment == "..":
        return TRAVERSING_PATH
    if len(segment.encode()) > MAX_SEGMENT_BYTES:
        return PATH_TOO_LONG
    stem = segment.split(".")[0].rstrip(" ")
    reserved = (
        segment[-1] in ". "
        or segment.casefold() in _REPOSITORY_NAMES
        or not _RESERVED_CHARACTERS.isdisjoint(segment)
        or RESERVED_STEM.fullmatch(stem) is not None
    )
    return RESERVED_NAME if reserved else None


def _fold(path: str) -> str:
    return unicodedata.normalize("NFC", path.casefold())


def _parents(path: str) -> list[str]:
    segments = path.split("/")
    return ["/".join(segments[:depth]) for depth in range(1, len(segments))]


def _shown(text: str) -> str:
    shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in shown)
