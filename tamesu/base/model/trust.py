"""Cases that came from elsewhere, and the word of a person that their code may run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Origin:
    """The marker of a case that came from elsewhere and was not reviewed, and what the marker says.

    `marker` is its project path. `sha256` is that of its bytes, None when it is no readable regular file, so that no
    word can be given for it. `problem` says why nothing else is known. `code` are the executed files below the case.
    """

    case: str
    marker: str
    sha256: str | None
    content_digest: str | None = None
    source: str | None = None
    unpacked_at: str | None = None
    problem: str | None = None
    code: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TrustedCode:
    """The word of a person for the code of a case that came from elsewhere: which marker, and when, in UTC.

    `marker_sha256` is the digest of the marker's bytes, `content_digest` that of the package which it names.
    """

    marker: str
    marker_sha256: str
    content_digest: str | None
    trusted_at: str
