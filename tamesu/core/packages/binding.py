"""What `package.yml` says is held to the payload: to its publication.yml, and to what its profile holds."""

from __future__ import annotations

from collections.abc import Collection

from tamesu.base.model.package import PAYLOAD, PUBLICATION, VIEW_ONLY, PackageRecord, Profile, Publication

# All but the profile, which `pack --profile` may choose.
_FIELDS = ("publisher", "name", "version", "licence", "authors", "tags", "data_review", "forked_from")


def profile_fault(profile: Profile, paths: Collection[str]) -> str | None:
    """Return why a payload of these paths is none of a profile; None when it may be one.

    Reports alone are marked as such and come without publication.yml; every other profile holds that, and no mark.
    """
    if profile is Profile.REPORT_ONLY:
        return None if VIEW_ONLY in paths else f"its profile is {profile}, but its payload holds no {VIEW_ONLY}"
    if VIEW_ONLY in paths:
        return f"its profile is {profile}, but its payload holds {VIEW_ONLY}"
    return None if PUBLICATION in paths else f"its profile is {profile}, but its payload holds no {PUBLICATION}"


def publication_fault(record: PackageRecord, publication: Publication, stated_by: str) -> str | None:
    """Return in which field a record, read from the file `stated_by`, differs from a payload's publication.yml."""
    for field in _FIELDS:
        if getattr(record, field) != getattr(publication, field):
            return f"{stated_by} and {PAYLOAD}{PUBLICATION} differ in `{field}`"
    return None
