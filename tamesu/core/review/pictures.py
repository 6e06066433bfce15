"""The one normalisation of pictures that reviewers see: pixels as they were meant, and nothing else of the file.

In this order: the first frame; upright as EXIF orientation says; 16 bits to 8; palettes and CMYK to RGB; the embedded
colour profile to sRGB; at most `MAX_SIDE` pixels a side; written as a PNG of pixels alone. Transparency is kept, and
shown on a checkerboard. What a reviewer must know of it is a remark.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from PIL import Image, ImageCms, ImageOps

from tamesu.core.images import has_more_frames, open_bounded

NORMALISATION = 1  # raised when the same file yields other pixels
MAX_SIDE = 2048

_BITS_PER_SAMPLE = 258  # TIFF 6.0, section 8
_DEEP = ("I", "I;16", "I;16B", "I;16L", "I;16N", "F")
_ALPHA = ("RGBA", "LA", "PA", "La", "RGBa")
_SRGB_GAMMA = 0.45455


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """A picture as reviewers see it: a PNG, its size in pixels, and what they must know about it."""

    png: bytes
    width: int
    height: int
    transparent: bool
    remarks: tuple[str, ...]


def normalised(content: bytes) -> ShownPicture | None:
    """Return a picture as reviewers see it; None for bytes that are no picture within bounds."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about broken metadata, which nobody keeps
            return _normalised(content)
    except Exception:  # decoders meet hostile bytes with every kind of exception
        return None


def _normalised(content: bytes) -> ShownPicture:
    remarks = list(_remarks_on_file(content))
    image = open_bounded(content)
    image.load()
    profile = image.info.get("icc_profile")
    upright = ImageOps.exif_transpose(image)
    flat = _eight_bits(upright)
    pixels, remark = _srgb(flat, profile)
    remarks += [remark] if remark else []
    transparent = pixels.mode == "RGBA" and not _is_opaque(pixels)
    shown = pixels if transparent else pixels.convert("RGB")
    if transparent:
        remarks.append("has transparent parts: they show a checkerboard")
    if max(shown.size) > MAX_SIDE:
        remarks.append(f"scaled down from {shown.width} x {shown.height} pixels")
        shown.thumbnail((MAX_SIDE, MAX_SIDE), Image.Resampling.LANCZOS)
    return ShownPicture(_png_of(shown), shown.width, shown.height, transparent, tuple(remarks))


def _remarks_on_file(content: bytes) -> Iterator[str]:
    """Yield what is lost of the file; looking for frames moves the reader, so it is a reader of its own."""
    image = open_bounded(content)
    if image.mode == "CMYK":
        yield "made for print (CMYK): its colours are converted for the screen and may differ"
    if _is_deep(image):
        yield "has more than 8 bits per channel: shown with 8"
    gamma = image.info.get("gamma")
    if isinstance(gamma, float) and abs(gamma - _SRGB_GAMMA) > 0.01 and "icc_profile" not in image.info:
        yield f"states a gamma of {gamma:g}, which is not applied"
    frames = _frames(image)
    if frames != 1:
        yield f"first of {frames} frames" if frames else "first of several frames"


def _frames(image: Image.Image) -> int:
    """Return how many pictures a file holds, 0 when there are several and nobody counted them."""
    if not has_more_frames(image):
        return 1
    try:
        return int(getattr(image, "n_frames", 0))
    except Exception:  # a chain of frames that breaks off
        return 0


def _is_deep(image: Image.Image) -> bool:
    if image.mode in _DEEP:
        return True
    if image.format == "TIFF":
        bits = getattr(image, "tag_v2", {}).get(_BITS_PER_SAMPLE, (8,))
        return bool(max(bits if isinstance(bits, tuple) else (bits,)) > 8)
    return any(";16" in str(tile[3]) for tile in getattr(image, "tile", ()))


def _eight_bits(image: Image.Image) -> Image.Image:
    """Return greys of 16 bits by their high byte, other deep pixels cut to 0 and 255."""
    if image.mode not in _DEEP:
        return image
    deep = image.convert("I") if image.mode.startswith("I;16") else image
    large = image.mode.startswith("I;16") or float(deep.getextrema()[1]) > 255  # type: ignore[arg-type]
    flat = (deep.point(lambda value: value * (1 / 256)) if large else deep).convert("L")
    flat.info.pop("transparency", None)  # a grey of 16 bits, which is none of these
    return flat


def _srgb(image: Image.Image, profile: object) -> tuple[Image.Image, str | None]:
    """Return RGB or RGBA pixels in sRGB, and a remark when the embedded profile is of no use."""
    alpha = image.convert("RGBA").getchannel("A") if _has_alpha(image) else None
    if image.mode == "CMYK" and isinstance(profile, bytes):
        base = image
    elif image.mode in ("L", "LA", "1"):
        base = image.convert("L")
    else:
        base = image.convert("RGB")
    remark = None
    if isinstance(profile, bytes) and profile:
        converted = _by_profile(base, profile)
        remark = None if converted else "its colour profile cannot be read: colours are shown without it"
        base = converted or base
    colours = base.convert("RGB")
    if alpha is not None:
        colours.putalpha(alpha)
    return colours, remark


def _has_alpha(image: Image.Image) -> bool:
    return image.mode in _ALPHA or "transparency" in image.info


def _is_opaque(image: Image.Image) -> bool:
    return image.getchannel("A").getextrema() == (255, 255)


def _by_profile(image: Image.Image, profile: bytes) -> Image.Image | None:
    """Return the colours of a profile in sRGB; None for a profile that is none, or one of another colour model.

    Greys often carry a profile of colours.
    """
    for pixels in (image, image.convert("RGB")) if image.mode == "L" else (image,):
        with suppress(ImageCms.PyCMSError, OSError, ValueError, TypeError):
            return ImageCms.profileToProfile(pixels, io.BytesIO(profile), _srgb_profile(), outputMode="RGB")
    return None


@cache
def _srgb_profile() -> ImageCms.ImageCmsProfile:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))


def _png_of(image: Image.Image) -> bytes:
    """Write pixels alone: what Pillow would carry over stands in `info`, and the copy has none."""
    bare = Image.new(image.mode, image.size)
    bare.paste(image)
    buffer = io.BytesIO()
    bare.save(buffer, format="PNG")
    return buffer.getvalue()
