"""Pack: a case as an archive whose bytes depend on its content alone, looked through for secrets before it appears."""

from __future__ import annotations

import filecmp
import os
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tamesu import __version__
from tamesu.base.errors import EvidenceError, InvalidDocument, Refused, UsageError
from tamesu.base.model.finding import Finding
from tamesu.base.model.manifest import FileDigest
from tamesu.base.model.package import MANIFEST, PAYLOAD, PackageRecord, Profile
from tamesu.core.packages.inventory import archive_name
from tamesu.core.packages.leaks import Leak
from tamesu.core.packages.portable import ALLOWABLE, finding_id
from tamesu.core.packages.record import package_record
from tamesu.core.planning import Grouping, Retries
from tamesu.edge.credentials import read_environment
from tamesu.edge.documents.reading import Shelf
from tamesu.edge.packages.archive_writer import ArchiveWriter
from tamesu.edge.packages.payload import Payload, file_digest
from tamesu.edge.packages.record_file import record_bytes
from tamesu.edge.packages.secrets_scan import scan_archive, search_for
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.files import full_disk_named, sync_folder
from tamesu.edge.store.paths import EvalPaths, Project
from tamesu.stages.plan import plan_eval
from tamesu.stages.portable import Portable, check_portable
from tamesu.stages.settled import check_settled
from tamesu.stages.workflow import stale_views


@dataclass(frozen=True, slots=True)
class Packed:
    """A finished archive; `already` says that the same bytes lay there before. `warnings` are those of lint."""

    archive: Path
    record: PackageRecord
    already: bool
    warnings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class NotPacked:
    """What forbids a package: errors of lint, or secrets; the latter are looked for only when the former are none."""

    findings: tuple[Finding, ...]
    leaks: tuple[Leak, ...] = ()


def pack_case(
    project: Project,
    case: str,
    cache: DigestCache,
    profile: Profile | None = None,
    output: Path | None = None,
    allowed: Collection[str] = (),
) -> Packed | NotPacked:
    """Write the package of a case into `output` (a file, or a folder that is there), build/packages when left out.

    `allowed` are IDs of findings that a person lets pass. Raises Refused for other content under the same version and
    for a case that is to be viewed only, RunHeld and EvidenceError for one that is not at rest, UsageError for an ID
    that no finding has.
    """
    check_settled(project, case, cache)
    portable = check_portable(project, case, profile)
    _check_view_only(project, case, portable.profile)
    errors = tuple(one for one in portable.linted.findings if one.severity == "error")
    left = tuple(one for one in errors if one.rule not in ALLOWABLE or finding_id(one) not in allowed)
    if left:
        return NotPacked(left)
    _check_views(project, case, portable.files, cache)
    passed = {finding_id(one) for one in errors}
    return _packed(project, case, cache, portable, output, Allowance(frozenset(allowed), frozenset(passed)))


@dataclass(frozen=True, slots=True)
class Allowance:
    """The IDs of findings that a person lets pass, and those that have been met."""

    allowed: frozenset[str]
    met: frozenset[str]


def _check_view_only(project: Project, case: str, profile: Profile) -> None:
    marker = project.view_only(case)
    if os.path.lexists(marker) and profile is not Profile.REPORT_ONLY:
        what = "this case holds reports alone; give --profile report-only"
        raise Refused(f"{project.relative(marker)}: {what}, or pack the case that they were made from")


def _check_views(project: Project, case: str, files: Collection[str], cache: DigestCache) -> None:
    """Raise EvidenceError for a view among the files that was made from other evidence than what lies here."""
    shelf = Shelf()
    for ref in (ref for ref in project.refs() if ref.case == case):
        held = {view for view in _views(project.eval(ref)) if view.relative_to(project.case(case)).as_posix() in files}
        if held:
            planned = plan_eval(project, ref, Grouping.BATCHED, Retries.BOUNDED, cache, shelf)
            for view in held.intersection(stale_views(project, planned, cache)):
                what = "was made from other evidence than what lies here"
                raise EvidenceError(f"{project.relative(view)}: {what}; make it anew with `tamesu rescore {ref}`")


def _views(paths: EvalPaths) -> tuple[Path, ...]:
    return (*paths.table_files, paths.leaderboard, paths.report)


def _packed(
    project: Project,
    case: str,
    cache: DigestCache,
    portable: Portable,
    output: Path | None,
    allowance: Allowance,
) -> Packed | NotPacked:
    publication = portable.publication
    if publication is None:
        raise InvalidDocument(f"{project.relative(project.publication(case))}: does not read; see `tamesu lint`")
    payload = Payload(project.case(case), portable.files, portable.profile)
    digests = tuple(payload.digest(path) for path in payload.paths)
    record = package_record(publication, portable.profile, digests, __version__)
    target = _target(project, archive_name(record.publisher, record.name, record.version), output)
    with _beside(target) as temporary:
        _write(temporary, record, payload, digests)
        leaks = scan_archive(temporary, search_for(read_environment(project.root).values))
        _check_allowance(allowance, leaks)
        left = tuple(one for one in leaks if one.id not in allowance.allowed)
        if left:
            return NotPacked((), left)
        check_settled(project, case, cache)  # nothing began meanwhile
        already = _place(temporary, target)
    warnings = tuple(one for one in portable.linted.findings if one.severity == "warning")
    return Packed(target, record, already, warnings)


def _check_allowance(allowance: Allowance, leaks: Collection[Leak]) -> None:
    unknown = sorted(allowance.allowed - allowance.met - {one.id for one in leaks})
    if unknown:
        raise UsageError(f"--allow {unknown[0]}: no finding of this package has that ID; leave it out")


def _target(project: Project, name: str, output: Path | None) -> Path:
    if output is None:
        return project.packages / name
    return output / name if output.is_dir() else output


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """Give a file in the folder of the target, gone at the end."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".packing-", dir=target.parent)
    os.close(handle)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


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


def _place(archive: Path, target: Path) -> bool:
    """Give an archive its name, and return whether the same bytes had it before. Raises Refused for other bytes."""
    try:
        os.link(archive, target)
    except FileExistsError:
        if target.is_file() and filecmp.cmp(archive, target, shallow=False):
            return True
        what = "holds other content under the same version"
        raise Refused(f"{target}: {what}; raise `version` in publication.yml, or move that file away") from None
    sync_folder(target.parent)
    return False
