"""Whether bytes are one decodable image within bounds, and a small picture of it.

The bytes are hostile: they come out of a model's program. The size is read from the header before anything is
decoded, so memory is bounded by `MAX_PIXELS` at about 4 bytes each.
"""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tamesu.core.checks.measured import Measured

if TYPE_CHECKING:
    from PIL import Image  # takes time to import, and most commands open no picture

MAX_PIXELS = 40_000_000

UNDECODABLE_IMAGE = "undecodable_image"
NOT_AN_IMAGE = "review_artifact_not_an_image"
IMAGE_TOO_LARGE = "image_too_large"
ANIMATED_IMAGE = "animated_image"
MEDIA_TYPE_MISMATCH = "media_type_mismatch"

# MPO is what Pillow calls a JPEG that holds several pictures.
_SUBTYPES = {
    "PNG": frozenset({"png", "x-png", "apng", "vnd.mozilla.apng"}),
    "JPEG": frozenset({"jpeg", "jpg", "pjpeg"}),
    "MPO": frozenset({"jpeg", "jpg", "pjpeg"}),
    "WEBP": frozenset({"webp"}),
    "GIF": frozenset({"gif"}),
    "BMP": frozenset({"bmp", "x-bmp", "x-ms-bmp"}),
    "TIFF": frozenset({"tiff", "tif"}),
}
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")
_TIFF_TILE_TAGS = (322, 323)
_WHITE = (255, 255, 255, 255)


@dataclass(frozen=True, slots=True)
class ImageVerdict:
    """Size in pixels of an image that is fit for review; otherwise the reason why it is not."""

    reason: str | None
    width: int = 0
    height: int = 0

    @property
    def ok(self) -> bool:
        return self.reason is None


class UnfitImage(Exception):
    """Carries the reason for which an image is refused."""


def inspect_image(content: bytes, media_type: str) -> ImageVerdict:
    """Say whether bytes are one image of the declared type that decodes in full.

    PNG, JPEG, WebP, GIF, BMP and TIFF; up to 40 megapixels; one frame.
    """
    kind, _, subtype = media_type.split(";")[0].strip().lower().partition("/")
    if kind != "image":
        return ImageVerdict(NOT_AN_IMAGE)
    try:
        with open_bounded(content) as image:
            if subtype not in _SUBTYPES[image.format or ""]:
                return ImageVerdict(MEDIA_TYPE_MISMATCH)
        with _decoded(content) as image:
            return ImageVerdict(None, image.width, image.height)
    except UnfitImage as unfit:
        return ImageVerdict(str(unfit))
    except Exception:  # decoders meet hostile bytes with every kind of exception
        return ImageVerdict(UNDECODABLE_IMAGE)


def measure_image(content: bytes) -> Measured:
    """Return what bytes are as a picture, whatever their name or media type; one frame, up to 40 megapixels."""
    try:
        with open_bounded(content) as opened:
            kind = "jpeg" if opened.format == "MPO" else (opened.format or "").lower()
        with _decoded(content) as image:
            bands = [band.getextrema() for band in image.convert("RGBA").split()]
            uniform = all(low == high for low, high in bands)
            return Measured(None, kind, image.width, image.height, uniform, transparent=bands[3][0] != 255)
    except UnfitImage as unfit:
        return Measured(str(unfit))
    except Exception:  # decoders meet hostile bytes with every kind of exception
        return Measured(UNDECODABLE_IMAGE)


def thumbnail(content: bytes, side: int) -> bytes | None:
    """Return a PNG of at most `side` by `side` pixels, upright, on white, without metadata.

    None for bytes that `inspect_image` refuses whatever their media type.
    """
    try:
        with _decoded(content, side) as image:
            return _png(_flattened(image, side))
    except Exception:  # decoders meet hostile bytes with every kind of exception
        return None


def open_bounded(content: bytes) -> Image.Image:
    """Read the header only. Raises UnfitImage for sizes that must not be decoded."""
    from PIL import Image

    if _webp_pixels(content) > MAX_PIXELS:
        # Pillow allocates a whole WebP canvas while it opens the file.
        raise UnfitImage(IMAGE_TOO_LARGE)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(content), formats=_FORMATS)
    except Image.DecompressionBombError:
        raise UnfitImage(IMAGE_TOO_LARGE) from None
    if image.width * image.height > MAX_PIXELS or _tile_pixels(image) > MAX_PIXELS:
        raise UnfitImage(IMAGE_TOO_LARGE)
    return image


def _decoded(content: bytes, side: int | None = None) -> Image.Image:
    """Decode a single frame; a JPEG that is only wanted small is decoded small."""
    if has_more_frames(open_bounded(content)):
        raise UnfitImage(ANIMATED_IMAGE)
    # The search for a second frame moves the reader, so the picture is decoded from a fresh one.
    image = open_bounded(content)
    if side is not None:
        image.draft(None, (side, side))
    image.load()
    if image.width < 1 or image.height < 1:
        raise UnfitImage(UNDECODABLE_IMAGE)
    return image


def has_more_frames(image: Image.Image) -> bool:
    """Whether there is a second picture; looking for it moves the reader of a TIFF."""
    if image.format != "TIFF":
        return bool(getattr(image, "is_animated", False))
    try:
        image.seek(1)
    except EOFError:
        return False
    return True


def _tile_pixels(image: Image.Image) -> int:
    tags = getattr(image, "tag_v2", {})
    width, height = (tags.get(tag, 0) for tag in _TIFF_TILE_TAGS)
    return int(width) * int(height)


def _webp_pixels(content: bytes) -> int:
    """Return width times height as a WebP header states it, 0 for anything else.

    Layout: RFC 9649, sections 2.5 to 2.7.
    """
    if content[:4] != b"RIFF" or content[8:12] != b"WEBP" or len(content) < 30:
        return 0
    chunk, body = content[12:16], content[20:30]
    if chunk == b"VP8X":
        width = int.from_bytes(body[4:7], "little") + 1
        return width * (int.from_bytes(body[7:10], "little") + 1)
    if chunk == b"VP8L":
        bits = int.from_bytes(body[1:5], "little")
        return ((bits & 0x3FFF) + 1) * ((bits >> 14 & 0x3FFF) + 1)
    width = int.from_bytes(body[6:8], "little") & 0x3FFF
    return width * (int.from_bytes(body[8:10], "little") & 0x3FFF)


def _flattened(image: Image.Image, side: int) -> Image.Image:
    """Return an RGB copy that fits the square; Pillow's 16-bit greys keep their high byte."""
    from PIL import Image, ImageOps

    upright = ImageOps.exif_transpose(image)
    if upright.mode.startswith("I;16"):
        upright = upright.convert("I").point(lambda value: value / 256).convert("L")
    small = upright.convert("RGBA")
    small.thumbnail((side, side))
    canvas = Image.new("RGBA", small.size, _WHITE)
    canvas.alpha_composite(small)
    return canvas.convert("RGB")


def _png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, format="PNG")
    return buffer.getvalue()
