"""What a fork is published as: an identity of its own, and where it came from."""

from __future__ import annotations

from tamesu.base.model.package import DataReview, ForkOrigin, PackageRecord, Publication

FIRST_VERSION = "0.1.0"
_LONGEST_STATEMENT = 2000


def forked_publication(record: PackageRecord, publisher: str, name: str) -> Publication:
    """Return the publication.yml of a fork: terms, authors and tags of the package, the version begins anew.

    The data review stays the one that was made, and says that it was made of the package.
    """
    made = record.data_review
    statement = f"Of {record.label}, before it was forked: {made.statement}"[:_LONGEST_STATEMENT]
    return Publication(
        publisher=publisher,
        name=name,
        version=FIRST_VERSION,
        licence=record.licence,
        authors=record.authors,
        data_review=DataReview(made.reviewer, made.date, statement),
        tags=record.tags,
        profile=record.profile,
        forked_from=ForkOrigin(record.publisher, record.name, record.version, record.content_digest),
    )
