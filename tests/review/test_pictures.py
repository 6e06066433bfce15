"""Reviewers judge the picture that the model made: upright, in its colours, and without what a file says of itself."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageCms, PngImagePlugin

from tamesu.core.review.pictures import MAX_SIDE, ShownPicture, normalised

RED, GREEN, BLUE, WHITE, BLACK = (200, 30, 20), (20, 160, 40), (30, 40, 220), (255, 255, 255), (0, 0, 0)
ORIENTATION, SOFTWARE = 0x0112, 0x0131
PNG_CHUNKS = {b"IHDR", b"IDAT", b"IEND"}


def saved(image: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def normal(content: bytes) -> tuple[ShownPicture, Image.Image]:
    shown = normalised(content)
    assert shown is not None
    image = Image.open(io.BytesIO(shown.png))
    assert image.format == "PNG"
    assert image.size == (shown.width, shown.height)
    return shown, image


def chunks(png: bytes) -> set[bytes]:
    names, at = set(), 8
    while at < len(png):
        names.add(png[at + 4 : at + 8])
        at += 12 + int.from_bytes(png[at : at + 4], "big")
    return names


def close(colour: object, wanted: tuple[int, ...], by: int = 6) -> bool:
    assert isinstance(colour, tuple)
    return all(abs(one - other) <= by for one, other in zip(colour, wanted, strict=True))


def quarters() -> Image.Image:
    """400 x 300, its left upper corner red."""
    image = Image.new("RGB", (400, 300), WHITE)
    image.paste(RED, (0, 0, 100, 100))
    return image


def test_c45_a_jpeg_of_orientation_6_is_turned_upright_and_says_so_no_more() -> None:
    exif = Image.Exif()
    exif[ORIENTATION] = 6
    shown, image = normal(saved(quarters(), "JPEG", exif=exif, quality=95))
    assert image.size == (300, 400)
    assert close(image.getpixel((290, 10)), RED, 12), "its left upper corner is the right upper one when it is upright"
    assert close(image.getpixel((10, 10)), WHITE, 12)
    assert image.getexif() == {}
    assert shown.remarks == ()


@pytest.mark.parametrize("orientation", range(1, 9))
def test_c45_every_orientation_is_applied(orientation: int) -> None:
    """What each value means: EXIF 2.32, tag 274."""
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    _, image = normal(saved(quarters(), "PNG", exif=exif))
    corner = {1: "left top", 2: "right top", 3: "right bottom", 4: "left bottom"}
    corner |= {5: "left top", 6: "right top", 7: "right bottom", 8: "left bottom"}
    assert image.size == ((400, 300) if orientation <= 4 else (300, 400))
    side, end = corner[orientation].split()
    at = (5 if side == "left" else image.width - 5, 5 if end == "top" else image.height - 5)
    assert image.getpixel(at) == RED


def test_c45_the_first_of_three_frames_is_shown_and_flagged() -> None:
    frames = [Image.new("RGB", (40, 30), colour) for colour in (RED, GREEN, BLUE)]
    for kind, options in (("WEBP", {"lossless": True}), ("GIF", {}), ("TIFF", {}), ("PNG", {})):
        content = saved(frames[0], kind, save_all=True, append_images=frames[1:], **options)
        shown, image = normal(content)
        assert close(image.convert("RGB").getpixel((20, 15)), RED), kind
        assert shown.remarks == ("first of 3 frames",), kind


def test_c45_a_cmyk_jpeg_keeps_its_colours_and_is_flagged() -> None:
    """Pillow's own conversion of such files was inverted once."""
    for colour, (name, wanted) in {
        (255, 0, 0, 0): ("cyan", (0, 255, 255)),
        (0, 255, 255, 0): ("red", (255, 0, 0)),
        (0, 0, 0, 0): ("white", WHITE),
        (0, 0, 0, 255): ("black", BLACK),
    }.items():
        shown, image = normal(saved(Image.new("CMYK", (32, 32), colour), "JPEG", quality=95))
        assert close(image.getpixel((16, 16)), wanted, 10), name
        assert shown.remarks == ("made for print (CMYK): its colours are converted for the screen and may differ",)


def png_of_16_bits(colour_type: int, samples: tuple[int, ...]) -> bytes:
    """One pixel; Pillow writes no 16 bits but greys. PNG, third edition, section 5."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    row = b"\0" + b"".join(sample.to_bytes(2, "big") for sample in samples)
    head = struct.pack(">IIBBBBB", 1, 1, 16, colour_type, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(row)) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("colour_type", "samples", "wanted"),
    [
        (0, (0x8000,), (128, 128, 128)),
        (0, (0x00FF,), BLACK),
        (2, (0xFFFF, 0x8000, 0x0000), (255, 128, 0)),
    ],
    ids=["grey", "a dark grey", "colours"],
)
def test_c45_16_bits_become_8_and_are_flagged(
    colour_type: int, samples: tuple[int, ...], wanted: tuple[int, ...]
) -> None:
    shown, image = normal(png_of_16_bits(colour_type, samples))
    assert close(image.getpixel((0, 0)), wanted, 1)
    assert shown.remarks == ("has more than 8 bits per channel: shown with 8",)


def test_c45_transparency_is_kept_and_flagged_but_not_where_there_is_none() -> None:
    image = Image.new("RGBA", (10, 10), (*RED, 255))
    opaque, pixels = normal(saved(image, "PNG"))
    assert (pixels.mode, opaque.transparent, opaque.remarks) == ("RGB", False, ())
    image.putpixel((3, 4), (*RED, 0))
    shown, pixels = normal(saved(image, "PNG"))
    assert (pixels.mode, shown.transparent) == ("RGBA", True)
    assert pixels.getpixel((3, 4)) == (*RED, 0)
    assert pixels.getpixel((0, 0)) == (*RED, 255)
    assert shown.remarks == ("has transparent parts: they show a checkerboard",)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16", "I", "F"])
def test_every_mode_of_pixels_is_shown(mode: str) -> None:
    kind = "TIFF" if mode in ("I", "F") else "PNG"
    _, image = normal(saved(Image.new("L", (8, 8), 255).convert(mode), kind))
    assert image.mode in {"RGB", "RGBA"}


def test_a_palette_with_a_transparent_colour_stays_transparent() -> None:
    image = Image.new("P", (4, 4), 0)
    image.putpalette([*RED, *GREEN])
    image.putpixel((1, 1), 1)
    shown, pixels = normal(saved(image, "PNG", transparency=0))
    assert shown.transparent
    assert (pixels.getpixel((0, 0))[3], pixels.getpixel((1, 1))) == (0, (*GREEN, 255))


def swapped_profile() -> bytes:
    """A profile that calls red what sRGB calls blue: its tags for both change places."""
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    red, blue = profile.index(b"rXYZ"), profile.index(b"bXYZ")
    profile[red : red + 4], profile[blue : blue + 4] = b"bXYZ", b"rXYZ"
    return bytes(profile)


def test_c45_colours_of_an_embedded_profile_become_srgb() -> None:
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    shown, image = normal(saved(Image.new("RGB", (4, 4), RED), "PNG", icc_profile=srgb))
    assert close(image.getpixel((0, 0)), RED, 1)
    assert shown.remarks == ()
    grey, image = normal(saved(Image.new("L", (4, 4), 90), "PNG", icc_profile=srgb))
    assert close(image.getpixel((0, 0)), (90, 90, 90), 1)
    assert grey.remarks == ()
    for mode in ("RGB", "RGBA"):
        pixels = Image.new("RGB", (4, 4), (255, 0, 0)).convert(mode)
        shown, image = normal(saved(pixels, "PNG", icc_profile=swapped_profile()))
        assert close(image.getpixel((0, 0)), (0, 0, 255), 3), mode
        assert shown.remarks == ()


@pytest.mark.parametrize("profile", [b"no profile at all", swapped_profile()[:100]], ids=["words", "cut off"])
def test_a_profile_of_no_use_is_flagged(profile: bytes) -> None:
    shown, image = normal(saved(Image.new("RGB", (4, 4), RED), "PNG", icc_profile=profile))
    assert image.getpixel((0, 0)) == RED
    assert shown.remarks == ("its colour profile cannot be read: colours are shown without it",)


def with_text() -> bytes:
    info = PngImagePlugin.PngInfo()
    info.add_text("parameters", "candidate-b")
    info.add_text("compressed", "candidate-b", zip=True)
    info.add_itxt("itext", "candidate-b")
    return saved(quarters(), "PNG", pnginfo=info, dpi=(72, 72))


def with_software() -> bytes:
    exif = Image.Exif()
    exif[SOFTWARE] = "candidate-b"
    return saved(quarters(), "JPEG", exif=exif, comment=b"candidate-b")


def after_the_end() -> bytes:
    return saved(quarters(), "PNG") + b"candidate-b"


@pytest.mark.parametrize("make", [with_text, with_software, after_the_end])
def test_c46_nothing_but_pixels_is_left_of_a_file(make: Callable[[], bytes]) -> None:
    assert b"candidate-b" in make()
    shown, image = normal(make())
    assert chunks(shown.png) == PNG_CHUNKS
    assert b"candidate" not in shown.png
    assert image.info == {}


def test_the_same_file_yields_the_same_bytes() -> None:
    assert normalised(with_software()) == normalised(with_software())


def test_a_large_picture_is_scaled_down_and_flagged() -> None:
    shown, image = normal(saved(Image.new("RGB", (MAX_SIDE * 2, 100), RED), "PNG"))
    assert image.size == (MAX_SIDE, 50)
    assert shown.remarks == (f"scaled down from {MAX_SIDE * 2} x 100 pixels",)
    assert normal(saved(Image.new("RGB", (MAX_SIDE, 10), RED), "PNG"))[0].remarks == ()


def test_a_stated_gamma_is_flagged() -> None:
    content = saved(Image.new("RGB", (2, 2), RED), "PNG")
    body = struct.pack(">I", 100_000)
    gamma = struct.pack(">I", 4) + b"gAMA" + body + struct.pack(">I", zlib.crc32(b"gAMA" + body))
    shown, _ = normal(content[:33] + gamma + content[33:])
    assert shown.remarks == ("states a gamma of 1, which is not applied",)


def test_what_is_no_picture_is_none() -> None:
    assert normalised(b"") is None
    assert normalised(b"<svg xmlns='http://www.w3.org/2000/svg'/>") is None
    assert normalised(saved(quarters(), "PNG")[:200]) is None


@settings(max_examples=150)
@given(st.data())
def test_hostile_bytes_yield_a_plain_png_or_nothing(data: st.DataObject) -> None:
    content = bytearray(data.draw(st.sampled_from([with_text(), with_software(), png_of_16_bits(2, (1, 2, 3))])))
    for at, value in data.draw(st.lists(st.tuples(st.integers(0, len(content) - 1), st.integers(0, 255)), max_size=8)):
        content[at] = value
    shown = normalised(bytes(content))
    if shown is not None:
        assert chunks(shown.png) == PNG_CHUNKS
        assert max(shown.width, shown.height) <= MAX_SIDE
