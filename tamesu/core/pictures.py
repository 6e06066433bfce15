"""What is kept as a picture: by what its bytes decode to, never by what a provider or a name says of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tamesu.core.checks.measured import Measured
from tamesu.core.images import measure_image

NO_PICTURE = "there is no picture"
PICTURE_BY_URL = "picture_by_url"
UNKEPT_FORMAT = "unkept_picture_format"

_LONGEST_URL = 8192


@dataclass(frozen=True, slots=True)
class PictureKind:
    """A format of pictures: the extension of its files and its media type."""

    extension: str
    media_type: str


KINDS: Mapping[str, PictureKind] = {
    "png": PictureKind("png", "image/png"),
    "jpeg": PictureKind("jpg", "image/jpeg"),
    "webp": PictureKind("webp", "image/webp"),
    "gif": PictureKind("gif", "image/gif"),
}


def measure_picture(content: bytes | None) -> Measured:
    """Return what a picture of a reply is, or why it is none; None when none came.

    A URL in the place of a picture is told apart, since it is never fetched.
    """
    if content is None:
        return Measured(NO_PICTURE)
    if len(content) <= _LONGEST_URL and content.startswith((b"http://", b"https://")):
        return Measured(PICTURE_BY_URL)
    measured = measure_image(content)
    if measured.reason is None and measured.format not in KINDS:
        return Measured(UNKEPT_FORMAT)
    return measured


def picture_kind(content: bytes) -> PictureKind | None:
    """Return the format that bytes decode to in full; None for what is no picture of one frame within bounds."""
    measured = measure_picture(content)
    return None if measured.format is None else KINDS[measured.format]
