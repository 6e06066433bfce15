"""Packages read: checked as they are, or made a case that is marked as coming from elsewhere.

An archive is read twice through one open descriptor: all of it is checked before the first byte is written, and checked
again while it is written, so that it does not matter who alters it meanwhile.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import msgspec

from tamesu.base.errors import InvalidPackage, Refused, UsageError, shown
from tamesu.base.model.manifest import FileDigest
from tamesu.base.model.package import LIMITS, MANIFEST, PUBLICATION, UNTRUSTED_ORIGIN, Limits, PackageRecord
from tamesu.core.naming import check_id
from tamesu.core.packages.allowlist import holds_reports_alone
from tamesu.core.packages.fork import forked_publication
from tamesu.core.packages.inventory import archive_name, content_digest
from tamesu.core.packages.refusal import Refusal
from tamesu.edge.documents.document import DocumentFault
from tamesu.edge.documents.schemas import DocumentKind, validate
from tamesu.edge.documents.yaml_reader import read_yaml
from tamesu.edge.packages.archive import Contents, Nobody, Receiver, read_archive
from tamesu.edge.packages.bound_record import unlike_payload
from tamesu.edge.packages.extraction import (
    PayloadFolder,
    move_into_place,
    remove_leftovers,
    staging,
    written_files,
)
from tamesu.edge.store.files import full_disk_named, write_atomic
from tamesu.edge.store.locks import held
from tamesu.edge.store.paths import Project
from tamesu.edge.store.records import dump_record
from tamesu.stages.clock import now
from tamesu.stages.foreign_versions import OtherInspect, other_inspect
from tamesu.stages.new_project import project_made
from tamesu.stages.scaffold import Written

_PATIENCE_SECONDS = 60
_ADVICE = "do not use it; ask its publisher for a sound package"
_CASE = "case.yml"


@dataclass(frozen=True, slots=True)
class Verified:
    """A package that was read to its end and is what its package.yml says; `extra` are files beside the payload."""

    record: PackageRecord
    payload: tuple[FileDigest, ...]
    extra: int
    archive_sha256: str


@dataclass(frozen=True, slots=True)
class Unpacked:
    """The case that a package became, and how many interrupted extractions were cleaned away before.

    `made` is what made the folder a project, None when it was one; `reports_alone` says that nothing of the case can be
    run, `other` that its runs are stale here.
    """

    case: str
    record: PackageRecord
    leftovers: int
    made: Written | None
    reports_alone: bool
    other: OtherInspect | None


@dataclass(frozen=True, slots=True)
class _Target:
    """Where a package goes, and under which identity when it is forked."""

    case: str
    fork: tuple[str, str] | None = None  # publisher and name


def verify_package(path: Path, limits: Limits = LIMITS) -> Verified:
    """Check a package without extracting it. Raises InvalidPackage, and UsageError for a file that cannot be read."""
    with _opened(path) as descriptor:
        return _verified(path, descriptor, Nobody(), limits)


def unpack_package(project: Project, path: Path, case: str | None, limits: Limits = LIMITS) -> Unpacked:
    """Make a package a case of the project, named as the package unless told otherwise, and mark it.

    A folder that is no project yet becomes one.

    Raises Refused when there is such a case, InvalidPackage and UsageError as `verify_package`.
    """
    with _opened(path) as descriptor:
        sound = _verified(path, descriptor, Nobody(), limits)
        target = _Target(sound.record.name if case is None else case)
        return _extracted(project, path, descriptor, sound, target, limits)


def fork_package(
    project: Project, path: Path, publisher: str, name: str | None, case: str | None, limits: Limits = LIMITS
) -> Unpacked:
    """Make a package a case with an identity of its own, whose publication.yml says what it was forked from.

    Raises what `unpack_package` raises, and UsageError for an identity that is no new one.
    """
    check_id("publisher", publisher)
    with _opened(path) as descriptor:
        sound = _verified(path, descriptor, Nobody(), limits)
        record = sound.record
        own = record.name if name is None else name
        check_id("package", own)
        if (publisher, own) == (record.publisher, record.name):
            raise UsageError(f"{publisher}/{own}: is the package itself; give a fork another --publisher or --name")
        target = _Target(own if case is None else case, (publisher, own))
        return _extracted(project, path, descriptor, sound, target, limits)


# --- reading


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Yield a descriptor of a regular file; a pipe without a writer would block when it is opened."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}; name the archive of a package") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UsageError(f"{path}: is no regular file; name the archive of a package")
        yield descriptor
    finally:
        os.close(descriptor)


def _verified(path: Path, descriptor: int, receiver: Receiver, limits: Limits) -> Verified:
    contents = read_archive(descriptor, limits, receiver)
    if isinstance(contents, Refusal):
        _refuse(path, str(contents))
    record = _record(path, contents)
    digest = content_digest(contents.payload)
    size = sum(file.size for file in contents.payload)
    for what, stated, found in (
        ("content digest", record.content_digest, digest),
        ("count of files", record.files, len(contents.payload)),
        ("count of bytes", record.bytes, size),
    ):
        if stated != found:
            _refuse(path, f"the payload was altered: its {what} is {found}, {MANIFEST} states {stated}")
    if _CASE not in {file.path for file in contents.payload}:
        _refuse(path, f"its payload holds no {_CASE}")
    unlike = unlike_payload(record, contents)
    if unlike is not None:
        _refuse(path, unlike)
    return Verified(record, contents.payload, len(contents.others) - 1, contents.archive_sha256)


def _record(path: Path, contents: Contents) -> PackageRecord:
    try:
        document = read_yaml(MANIFEST, contents.manifest)
    except DocumentFault as error:
        _refuse(path, f"{MANIFEST}:{error.finding.line}: {shown(error.finding.message)}")
    for finding in validate(document, DocumentKind.PACKAGE):
        _refuse(path, f"{MANIFEST}:{finding.line}: {shown(finding.message)}")
    value = {"forked_from": None, **document.value} if isinstance(document.value, dict) else document.value
    return msgspec.convert(value, PackageRecord)


def _refuse(path: Path, what: str) -> NoReturn:
    raise InvalidPackage(f"{shown(path.name)}: {what}; {_ADVICE}")


# --- writing


@contextmanager
def extracted_payload(path: Path, beside: Path, sound: Verified, limits: Limits = LIMITS) -> Iterator[Path]:
    """Yield a new folder in `beside` that holds the payload of a verified package as `payload/`, and nothing else.

    What is not moved away is removed at the end. Raises InvalidPackage when the archive is no longer what was verified.
    """
    with _opened(path) as descriptor, staging(beside) as folder:
        payload = folder / "payload"
        payload.mkdir()
        _fill(path, descriptor, sound, payload, limits)
        yield folder


def _extracted(
    project: Project, path: Path, descriptor: int, sound: Verified, target: _Target, limits: Limits
) -> Unpacked:
    check_id("case", target.case)
    place = project.case(target.case)
    with project_made(project) as made, held(project.lock("unpack"), "unpacking", _PATIENCE_SECONDS):
        leftovers = remove_leftovers(place.parent)
        if os.path.lexists(place):
            raise Refused(f"{project.relative(place)}: exists already; give another name with --as, or move it away")
        with full_disk_named(place), staging(place.parent) as folder:
            # first of all, so that at no moment there is a case without its mark
            write_atomic(folder / UNTRUSTED_ORIGIN, _marker(sound.record))
            _fill(path, descriptor, sound, folder, limits)
            if target.fork is not None:
                _give_identity(folder, sound.record, target.fork)
            move_into_place(folder, place)
    reports_alone = project.is_reported(target.case) and holds_reports_alone(file.path for file in sound.payload)
    other = None if reports_alone else other_inspect(project, target.case)
    return Unpacked(target.case, sound.record, leftovers, made, reports_alone, other)


def _fill(path: Path, descriptor: int, sound: Verified, folder: Path, limits: Limits) -> None:
    """Extract into a folder and compare what lies there with what was verified."""
    try:
        again = _verified(path, descriptor, PayloadFolder(folder), limits)
    except FileExistsError as error:
        name = Path(error.filename).relative_to(folder)
        _refuse(path, f"'{shown(str(name))}' is a name that another file has on this file system")
    written = [file for file in written_files(folder) if file.path != UNTRUSTED_ORIGIN]
    if again != sound or sorted(written, key=_by_path) != sorted(sound.payload, key=_by_path):
        _refuse(path, "it changed while it was read")


def _by_path(file: FileDigest) -> str:
    return file.path


def _marker(record: PackageRecord) -> bytes:
    source = archive_name(record.publisher, record.name, record.version)
    return dump_record({"content_digest": record.content_digest, "source": source, "unpacked_at": now()})


def _give_identity(folder: Path, record: PackageRecord, fork: tuple[str, str]) -> None:
    publication = forked_publication(record, *fork)
    write_atomic(folder / PUBLICATION, dump_record(publication))
