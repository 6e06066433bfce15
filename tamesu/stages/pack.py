"""Pack: a case as an archive whose bytes depend on its content alone, looked through for secrets before it appears."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from tamesu import __version__
from tamesu.base.errors import EvidenceError, InvalidDocument, Refused
from tamesu.base.model.finding import Finding
from tamesu.base.model.manifest import FileDigest
from tamesu.base.model.package import MANIFEST, PAYLOAD, PackageRecord, Profile
from tamesu.core.packages.leaks import Search
from tamesu.core.packages.record import package_record
from tamesu.edge.packages.archive_writer import ArchiveWriter
from tamesu.edge.packages.known_secrets import search_of
from tamesu.edge.packages.payload import Payload, file_digest
from tamesu.edge.packages.record_file import record_bytes
from tamesu.edge.packages.secrets_scan import scan_archive
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.files import full_disk_named
from tamesu.edge.store.paths import Project
from tamesu.stages.pack_evidence import look_at_evidence
from tamesu.stages.pack_findings import Allowance, NotPacked, leaks_of
from tamesu.stages.pack_place import Output, archive_place, begun_beside, check_place, place_archive
from tamesu.stages.portable import Portable, check_portable
from tamesu.stages.settled import check_settled


@dataclass(frozen=True, slots=True)
class PackWishes:
    """What a person says of a package: how much of the case, where to, and which findings pass, by their IDs."""

    profile: Profile | None = None
    output: Output | None = None
    allowed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Packed:
    """A finished archive; `already` says that the same bytes lay there before.

    `warnings` are those of lint, `notes` tell of the evidence and of what people may not expect, a line each.
    """

    archive: Path
    record: PackageRecord
    already: bool
    warnings: tuple[Finding, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Ready:
    """A package that nothing of lint forbids: its record, files and place, and what is said of it."""

    target: Path
    record: PackageRecord
    payload: Payload
    digests: tuple[FileDigest, ...]
    warnings: tuple[Finding, ...]
    notes: tuple[str, ...]

    def packed(self, *, already: bool) -> Packed:
        return Packed(self.target, self.record, already, self.warnings, self.notes)


def pack_case(project: Project, case: str, cache: DigestCache, wishes: PackWishes) -> Packed | NotPacked:
    """Write the package of a case to where it is wished, build/packages when nobody said.

    Raises Refused for other content at that place, for a place that cannot be, and for a case that is to be viewed
    only or lacks the views to show, RunHeld and EvidenceError for one that is not at rest, UsageError for an ID that
    no finding has.
    """
    search, ready, allowance = _looked_at(project, case, cache, wishes)
    if isinstance(ready, NotPacked):
        return ready
    with begun_beside(ready.target) as temporary:
        _write(temporary, ready.record, ready.payload, ready.digests)
        refusal = allowance.refusal(scan_archive(temporary, search))
        if refusal is not None:
            return refusal
        check_settled(project, case, cache)  # nothing began meanwhile
        return ready.packed(already=place_archive(temporary, ready.target, ready.record))


def try_pack(project: Project, case: str, cache: DigestCache, wishes: PackWishes) -> Packed | NotPacked:
    """Do what `pack_case` does and write nothing: there is no archive at its place but one of before."""
    search, ready, allowance = _looked_at(project, case, cache, wishes)
    if isinstance(ready, NotPacked):
        return ready
    refusal = allowance.refusal(leaks_of(ready.payload, ready.record, search))
    return refusal or ready.packed(already=check_place(ready.target, ready.record))


def _looked_at(
    project: Project, case: str, cache: DigestCache, wishes: PackWishes
) -> tuple[Search, _Ready | NotPacked, Allowance]:
    """Look at a case in everything but secrets; at those too when something of it forbids the package already."""
    check_settled(project, case, cache)
    portable = check_portable(project, case, wishes.profile)
    _check_view_only(project, case, portable.profile)
    search = search_of(project.root)
    errors = tuple(one for one in portable.linted.findings if one.severity == "error")
    allowance = Allowance(errors, wishes.allowed)
    payload = Payload(project.case(case), portable.files, portable.profile)
    refusal = allowance.refusal(leaks_of(payload, None, search)) if allowance.left else None
    return search, refusal or _ready(project, case, cache, portable, payload, wishes.output), allowance


def _check_view_only(project: Project, case: str, profile: Profile) -> None:
    marker = project.view_only(case)
    if os.path.lexists(marker) and profile is not Profile.REPORT_ONLY:
        what = "this case holds reports alone; give --profile report-only"
        raise Refused(f"{project.relative(marker)}: {what}, or pack the case that they were made from")


def _ready(
    project: Project, case: str, cache: DigestCache, portable: Portable, payload: Payload, output: Output | None
) -> _Ready:
    if portable.publication is None:
        raise InvalidDocument(f"{project.relative(project.publication(case))}: does not read; see `tamesu lint`")
    notes = look_at_evidence(project, case, portable.files, portable.profile, cache)
    digests = tuple(payload.digest(path) for path in payload.paths)
    record = package_record(portable.publication, portable.profile, digests, __version__)
    target = archive_place(project, record, output)
    warnings = tuple(one for one in portable.linted.findings if one.severity == "warning")
    return _Ready(target, record, payload, digests, warnings, notes)


def _write(archive: Path, record: PackageRecord, payload: Payload, digests: Collection[FileDigest]) -> None:
    """Write an archive, durable on return. Raises EvidenceError when a file changed since its digest was taken."""
    known: Mapping[str, FileDigest] = {file.path: file for file in digests}
    with full_disk_named(archive), archive.open("wb") as stream:
        writer = ArchiveWriter(stream)
        writer.add(MANIFEST, record_bytes(record))
        for path in payload.paths:
            content = payload.content(path)
            if known[path] != file_digest(path, content):
                raise EvidenceError(f"{path}: changed while it was packed; run `tamesu pack` again")
            writer.add(PAYLOAD + path, content)
        writer.close()
        stream.flush()
        os.fsync(stream.fileno())
    archive.chmod(0o644)
