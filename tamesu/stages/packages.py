"""Packages as Snakemake sees them: which archive a case has, what it waits for, whether it is of now."""

from __future__ import annotations

import tarfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from tamesu import __version__
from tamesu.base.canonical import digest_bytes
from tamesu.base.model.manifest import EvalRef
from tamesu.base.model.package import MANIFEST
from tamesu.base.model.workflow import PlannedPackage
from tamesu.core.packages.allowlist import ships
from tamesu.core.packages.inventory import archive_name
from tamesu.core.packages.portable import shipped
from tamesu.core.packages.record import package_record
from tamesu.edge.documents.publication_reader import read_publication
from tamesu.edge.documents.reading import Reading
from tamesu.edge.packages.payload import Payload
from tamesu.edge.packages.record_file import record_bytes
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.paths import Project
from tamesu.stages.portable import contents_of


@dataclass(frozen=True, slots=True)
class WantedPackage:
    """The package of a case for the rules; `digest` is that of its record, `current` says that the archive is it."""

    planned: PlannedPackage
    archive: Path
    digest: str
    current: bool


def wanted_package(project: Project, case: str, refs: Collection[EvalRef], cache: DigestCache) -> WantedPackage | None:
    """Return the package of a case with these planned evals; None when it does not say under which name."""
    if not project.publication(case).is_file():
        return None
    publication = read_publication(Reading(project.root), project.publication(case))
    if publication is None:
        return None
    archive = project.packages / archive_name(publication.publisher, publication.name, publication.version)
    folder = project.case(case)
    paths = [project.eval(ref) for ref in refs]
    views = [view for one in paths for view in (*one.table_files, one.leaderboard, one.report)]
    planned = PlannedPackage(
        case=case,
        archive=project.relative(archive),
        folders=tuple(project.relative(one.folder) for one in paths),
        views=tuple(project.relative(v) for v in views if ships(v.relative_to(folder).as_posix(), publication.profile)),
    )
    if not archive.is_file():
        return WantedPackage(planned, archive, "", False)
    payload = Payload(folder, shipped(contents_of(project, case), publication.profile), publication.profile)
    record = record_bytes(package_record(publication, publication.profile, payload.digests(cache.digest), __version__))
    return WantedPackage(planned, archive, digest_bytes(record), _record_of(archive) == record)


def _record_of(archive: Path) -> bytes | None:
    """Return package.yml of an archive, which `pack` writes first; None when it begins otherwise."""
    try:
        with tarfile.open(archive) as tar:
            first = tar.next()
            stream = tar.extractfile(first) if first is not None and first.name == MANIFEST else None
            return None if stream is None else stream.read()
    except (tarfile.TarError, OSError, EOFError):
        return None
