"""A program's image: decoded, compared with what the dataset asks for, written as PNG.

The bytes are hostile: size and format are read from the header before anything is decoded.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass

from PIL import Image, ImageColor

Color = tuple[int, int, int]

MAX_PIXELS = 1_000_000
TOLERANCE = 24  # per channel, of 255


class NoPicture(ValueError):
    """Why bytes are no picture that can be used: a reason to count, a detail to read."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Point:
    """A place in pixels from the top left corner, and its color."""

    x: int
    y: int
    color: Color


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an item expects: the size in pixels, and points with their colors."""

    width: int
    height: int
    points: tuple[Point, ...]


def read_wanted(expected: str) -> Wanted:
    """Read `expected` of the dataset item, which arrives as JSON text."""
    plain = json.loads(expected)
    points = (Point(x, y, ImageColor.getrgb(color)[:3]) for x, y, color in plain["points"])
    return Wanted(plain["width"], plain["height"], tuple(points))


def decode(content: bytes) -> Image.Image:
    """Return the RGB image of a PPM file. Raises NoPicture `no_output`, `not_an_image`, `too_large`."""
    if not content:
        raise NoPicture("no_output", "the program wrote nothing")
    try:
        image = Image.open(io.BytesIO(content), formats=("PPM",))
        if image.width * image.height > MAX_PIXELS:
            raise NoPicture("too_large", f"{image.width} x {image.height} pixels")
        return image.convert("RGB")
    except NoPicture:
        raise
    except Image.DecompressionBombError as error:
        raise NoPicture("too_large", str(error)) from None
    except Exception as error:  # decoders meet hostile bytes with every kind of exception
        raise NoPicture("not_an_image", f"{type(error).__name__}: {str(error)[:200]}") from None


def check_size(image: Image.Image, wanted: Wanted) -> None:
    """Raises NoPicture `wrong_size`."""
    if image.size != (wanted.width, wanted.height):
        raise NoPicture("wrong_size", f"{image.width} x {image.height} instead of {wanted.width} x {wanted.height}")


def differences(image: Image.Image, wanted: Wanted) -> list[str]:
    """Return the points whose color is another one, as text. The image has the wanted size."""
    return [
        f"({point.x}, {point.y}) is {color}, not {point.color}"
        for point in wanted.points
        if not close(color := image.getpixel((point.x, point.y)), point.color)
    ]


def close(color: Color, wanted: Color) -> bool:
    return all(abs(one - other) <= TOLERANCE for one, other in zip(color, wanted, strict=True))


def png(image: Image.Image) -> bytes:
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()
