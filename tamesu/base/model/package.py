"""A package: what a case says of its publication, what `package.yml` records, and the limits of an archive.

An archive is a gzipped tar of `package.yml`, `payload/` (the files of the case) and optionally `presentation/`.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

PACKAGE_VERSION = 1  # of the format of package.yml
SUFFIX = ".tamesu.tar.gz"
MANIFEST = "package.yml"
PAYLOAD = "payload/"
PRESENTATION = "presentation/"
PUBLICATION = "publication.yml"
# In the payload of a package that is to be read only; not hidden, so that it ships and people see it.
VIEW_ONLY = "view-only.yml"
# Written by `unpack` and `fork`; an archive that holds the name is refused.
UNTRUSTED_ORIGIN = ".untrusted-origin"


class Profile(enum.StrEnum):
    """How much of a case a package holds."""

    FULL = "full"
    RESCORABLE = "rescorable"
    REPORT_ONLY = "report-only"


@dataclass(frozen=True, slots=True)
class Limits:
    """What an archive may hold: files of all kinds, bytes of one and of all, unpacked bytes per packed one."""

    files: int
    file_bytes: int
    total_bytes: int
    ratio: int


LIMITS = Limits(files=10_000, file_bytes=100 * 2**20, total_bytes=2**30, ratio=200)


@dataclass(frozen=True, slots=True)
class DataReview:
    """Who looked whether the data may be published, on which day (YYYY-MM-DD), and what they say."""

    reviewer: str
    date: str
    statement: str


@dataclass(frozen=True, slots=True)
class ForkOrigin:
    """The package that a case was forked from, by name and content."""

    publisher: str
    name: str
    version: str
    content_digest: str


@dataclass(frozen=True, slots=True)
class Publication:
    """What `publication.yml` says: under which name a case is published, by whom, and on which terms."""

    publisher: str
    name: str
    version: str
    licence: str
    authors: tuple[str, ...]
    data_review: DataReview
    tags: tuple[str, ...] = ()
    profile: Profile = Profile.RESCORABLE
    forked_from: ForkOrigin | None = None


@dataclass(frozen=True, slots=True)
class PackageRecord:
    """What `package.yml` says: the publication, the profile that was packed, and the payload by content.

    `content_digest` is that of the payload (core/packages/inventory.py), `files` and `bytes` count the payload,
    `tamesu` is the version that packed. The order of the fields is that of the file.
    """

    schema_version: int
    publisher: str
    name: str
    version: str
    licence: str
    authors: tuple[str, ...]
    tags: tuple[str, ...]
    profile: Profile
    data_review: DataReview
    forked_from: ForkOrigin | None
    content_digest: str
    files: int
    bytes: int
    tamesu: str

    @property
    def label(self) -> str:
        """`<publisher>/<name> <version>`, as people are told it."""
        return f"{self.publisher}/{self.name} {self.version}"


@dataclass(frozen=True, slots=True)
class RegistryEntry:
    """One published version: `entry.yml` of a registry. The time is UTC, the digest that of the archive."""

    schema_version: int
    published_at: str
    archive_sha256: str
    package: PackageRecord


@dataclass(frozen=True, slots=True)
class Publisher:
    """Who may publish under a name: `publishers/<publisher>.yml` of a registry."""

    publisher: str
    owners: tuple[str, ...]
