"""What `package.yml` says of a publication and its payload."""

from __future__ import annotations

from collections.abc import Sequence

from tamesu.base.model.manifest import FileDigest
from tamesu.base.model.package import PACKAGE_VERSION, PackageRecord, Profile, Publication
from tamesu.core.packages.inventory import content_digest


def package_record(
    publication: Publication, profile: Profile, payload: Sequence[FileDigest], tamesu: str
) -> PackageRecord:
    """Return the record of a package of these files, whose paths are relative to the payload."""
    return PackageRecord(
        schema_version=PACKAGE_VERSION,
        publisher=publication.publisher,
        name=publication.name,
        version=publication.version,
        licence=publication.licence,
        authors=publication.authors,
        tags=publication.tags,
        profile=profile,
        data_review=publication.data_review,
        forked_from=publication.forked_from,
        content_digest=content_digest(payload),
        files=len(payload),
        bytes=sum(file.size for file in payload),
        tamesu=tamesu,
    )
