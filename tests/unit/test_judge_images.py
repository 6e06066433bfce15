"""A picture as a judge sees it: the one that the model made, bounded in size, and nothing beside it."""

from __future__ import annotations

import io
import random

import pytest
from PIL import Image, PngImagePlugin

from tamesu.core.judging.images import MOST_BYTES, shown_image


def encoded(image: Image.Image, form: str = "PNG", **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, format=form, **options)  # type: ignore[arg-type]
    return buffer.getvalue()


def opened(content: bytes | None) -> Image.Image:
    assert content is not None
    image = Image.open(io.BytesIO(content))
    image.load()
    return image


def test_c45_orientation_is_applied_and_its_tag_gone() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    shown = opened(shown_image(encoded(Image.new("RGB", (400, 300), "red"), "JPEG", exif=exif)))
    assert (shown.format, shown.size, dict(shown.getexif())) == ("PNG", (300, 400), {})


def test_c45_more_than_one_frame_is_not_shown() -> None:
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "green", "blue")]
    assert shown_image(encoded(frames[0], "WEBP", save_all=True, append_images=frames[1:])) is None


@pytest.mark.parametrize("mode", ["CMYK", "I;16", "RGBA", "LA", "P", "1"])
def test_c45_every_colour_model_is_shown_as_rgb_on_white(mode: str) -> None:
    form = "TIFF" if mode == "CMYK" else "PNG"
    shown = opened(shown_image(encoded(Image.new(mode, (8, 8)), form)))
    assert (shown.mode, shown.size) == ("RGB", (8, 8))
    assert shown.getpixel((0, 0)) == ((255, 255, 255) if mode in {"CMYK", "RGBA", "LA"} else (0, 0, 0))


def test_metadata_stays_behind() -> None:
    told = PngImagePlugin.PngInfo()
    told.add_text("Software", "sketcher-large")
    content = encoded(Image.new("RGB", (8, 8)), pnginfo=told)
    assert b"sketcher-large" in content
    assert b"sketcher-large" not in (shown_image(content) or b"")


def test_a_large_picture_is_made_smaller_until_it_fits() -> None:
    noise = Image.frombytes("RGB", (2000, 1000), random.Random(0).randbytes(2000 * 1000 * 3))
    shown = shown_image(encoded(noise))
    assert shown is not None and len(shown) <= MOST_BYTES
    assert opened(shown).size in {(1536, 768), (1024, 512)}
    plain = opened(shown_image(encoded(Image.new("RGB", (4000, 1000)))))
    assert plain.size == (1536, 384)


def test_the_same_picture_is_shown_the_same_and_no_picture_is_not_shown() -> None:
    content = encoded(Image.new("RGB", (30, 20), "blue"))
    assert shown_image(content) == shown_image(content)
    assert shown_image(b"no picture") is None
