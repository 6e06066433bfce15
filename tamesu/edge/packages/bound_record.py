"""The record of an archive or of a registry, held to the payload that it is of."""

from __future__ import annotations

from collections.abc import Collection

from tamesu.base.errors import shown
from tamesu.base.model.finding import Finding
from tamesu.base.model.package import MANIFEST, PAYLOAD, PUBLICATION, PackageRecord
from tamesu.core.packages.binding import profile_fault, publication_fault
from tamesu.edge.documents.publication_reader import parse_publication
from tamesu.edge.packages.archive import Contents


def unlike_payload(record: PackageRecord, contents: Contents) -> str | None:
    """Return in what an archive's package.yml is not what its payload says; None when it is."""
    return unlike_files(record, {file.path for file in contents.payload}, contents.publication, MANIFEST)


def unlike_files(
    record: PackageRecord, paths: Collection[str], publication: bytes | None, stated_by: str
) -> str | None:
    """Return in what a record, read from the file `stated_by`, is not what these files say; None when it is.

    `publication` is the content of the payload's publication.yml, None when it holds none.
    """
    fault = profile_fault(record.profile, paths)
    if fault is not None or publication is None:
        return fault
    said = parse_publication(PAYLOAD + PUBLICATION, publication)
    if isinstance(said, Finding):
        return f"{said.file}:{said.line}: {shown(said.message)}"
    return publication_fault(record, said, stated_by)
