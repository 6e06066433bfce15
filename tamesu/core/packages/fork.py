"""What a fork is published as: an identity of its own, where it came from, and a data review that is yet to be made."""

from __future__ import annotations

from tamesu.base.model.package import DataReview, ForkOrigin, PackageRecord, Publication

FIRST_VERSION = "0.1.0"
UNREVIEWED = "nobody yet"  # in the place of a reviewer; whoever packs refuses it
_TO_DO = "To be written:"


def forked_publication(record: PackageRecord, publisher: str, name: str) -> Publication:
    """Return the publication.yml of a fork: terms, authors and tags of the package, the version begins anew.

    Authors stay as those who made it. The data review is one that nobody made yet: whoever made the one of the package
    did not look at the fork.
    """
    origin = f"that of {record.label} stands in its package.yml ({record.data_review.date})"
    statement = f"{_TO_DO} who looked at the data of this fork, when, and why it may be published; {origin}."
    return Publication(
        publisher=publisher,
        name=name,
        version=FIRST_VERSION,
        licence=record.licence,
        authors=record.authors,
        data_review=DataReview(UNREVIEWED, record.data_review.date, statement),
        tags=record.tags,
        profile=record.profile,
        forked_from=ForkOrigin(record.publisher, record.name, record.version, record.content_digest),
    )


def is_reviewed(publication: Publication) -> bool:
    """Return whether somebody looked at the data of a case, as far as its publication.yml says."""
    review = publication.data_review
    return review.reviewer != UNREVIEWED and not review.statement.startswith(_TO_DO)
