"""Review packs: the key that says what a pack's entries are, and answers that came back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tamesu.base.model.judgement import Answer

PackKind = Literal["review", "adjudication"]


@dataclass(frozen=True, slots=True)
class ShownFile:
    """One file as it was shown: SHA-256 of the artifact and of the bytes in the pack, and remarks beside it."""

    role: str
    sha256: str
    shown_sha256: str
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KeyEntry:
    """What an entry of a pack is; `settles` names the reviews that an adjudication decides between."""

    run_id: str
    item: str
    files: tuple[ShownFile, ...]
    inputs: tuple[ShownFile, ...] = ()
    settles: tuple[str, ...] = ()

    @property
    def seen(self) -> dict[str, str]:
        """The SHA-256 of each reviewed artifact by role, as records state it."""
        return {file.role: file.sha256 for file in self.files}


@dataclass(frozen=True, slots=True)
class PackKey:
    """review/keys/<pack>.yml: what the entries of one pack are. It never leaves the project with the pack.

    `seed` is the secret from which IDs and order are made. `normalisation` is the version of how pictures are shown.
    `checksum` is the SHA-256 of everything else.
    """

    pack: str
    eval: str
    kind: PackKind
    reviewer: str
    time: str
    seed: str
    rubric: str
    normalisation: int
    entries: Mapping[str, KeyEntry]
    schema_version: int = 1
    checksum: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in a file that came back; both count from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class GivenReview:
    """What came back about one entry; `places` are those of its answers."""

    entry: str
    answers: Mapping[str, Answer]
    note: str | None
    place: Place
    places: Mapping[str, Place] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Submission:
    """A file of answers as read; `label` names it in messages, `place` is that of the pack's name."""

    label: str
    pack: str
    reviews: tuple[GivenReview, ...]
    place: Place
