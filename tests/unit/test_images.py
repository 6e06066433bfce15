"""Only one decodable picture within bounds is fit for review; hostile bytes cost no memory."""

from __future__ import annotations

import hashlib
import io
import struct
import subprocess
import sys
import zlib

import pytest
from PIL import Image

from tamesu.base.model.evidence import Artifact, Outcome, OutputFile
from tamesu.base.model.manifest import ArtifactPolicy
from tamesu.core.images import ImageVerdict, inspect_image, thumbnail
from tamesu.core.outcome import ReviewedOutput, review_outcome

RED = (200, 30, 30)


def encoded(image: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def picture(kind: str = "PNG", mode: str = "RGB", size: tuple[int, int] = (40, 30), **options: object) -> bytes:
    return encoded(Image.new("RGB", size, RED).convert(mode), kind, **options)


def noise(kind: str) -> bytes:
    pixels = b"".join(hashlib.sha256(bytes([n % 256, n // 256])).digest() for n in range(600))
    return encoded(Image.frombytes("RGB", (80, 80), pixels), kind)


def animated(kind: str) -> bytes:
    frames = [Image.new("RGB", (20, 20), (shade, 0, 0)) for shade in (0, 120, 240)]
    return encoded(frames[0], kind, save_all=True, append_images=frames[1:])


def png_chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png_bomb(width: int, height: int) -> bytes:
    """A small PNG that claims, and really holds a good part of, an enormous picture."""
    packer = zlib.compressobj(9)
    rows = b"".join(packer.compress(b"\0" * 1_000_000) for _ in range(300)) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header) + png_chunk(b"IDAT", rows) + png_chunk(b"IEND", b"")


def tiff(tags: dict[int, int]) -> bytes:
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in sorted(tags.items()))
    head = b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + struct.pack("<I", 0)
    return head.ljust(200, b"\0") + zlib.compress(b"\0" * 256).ljust(20, b"\0")


def webp_bomb() -> bytes:
    canvas = (16382).to_bytes(3, "little") * 2
    extended = b"VP8X" + struct.pack("<I", 10) + b"\x02\0\0\0" + canvas
    anim = b"ANIM" + struct.pack("<I", 6) + b"\0" * 6
    body = b"WEBP" + extended + anim + noise("WEBP")[12:]
    return b"RIFF" + struct.pack("<I", len(body)) + body


@pytest.mark.parametrize(
    ("kind", "media_type"),
    [
        ("PNG", "image/png"),
        ("PNG", "IMAGE/PNG; charset=binary"),
        ("JPEG", "image/jpeg"),
        ("JPEG", "image/jpg"),
        ("WEBP", "image/webp"),
        ("GIF", "image/gif"),
        ("BMP", "image/bmp"),
        ("TIFF", "image/tiff"),
    ],
)
def test_one_picture_of_the_declared_type_is_fit(kind, media_type):
    assert ImageVerdict(None, 40, 30) == inspect_image(picture(kind), media_type)


@pytest.mark.parametrize(
    ("kind", "mode"),
    [
        ("JPEG", "CMYK"),
        ("JPEG", "L"),
        ("PNG", "RGBA"),
        ("PNG", "P"),
        ("PNG", "1"),
        ("PNG", "I;16"),
        ("TIFF", "CMYK"),
    ],
)
def test_every_usual_colour_mode_decodes_and_shrinks(kind, mode):
    image = Image.new("L", (40, 30), 90).convert("I").convert("I;16") if mode == "I;16" else None
    content = picture(kind, mode) if image is None else encoded(image, kind)
    assert inspect_image(content, f"image/{kind.lower()}").ok
    small = Image.open(io.BytesIO(thumbnail(content, 16) or b""))
    assert (small.format, small.mode, small.size) == ("PNG", "RGB", (16, 12))


@pytest.mark.parametrize(
    ("content", "media_type", "reason"),
    [
        (b"", "image/png", "undecodable_image"),
        (b"not an image", "image/png", "undecodable_image"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"/>', "image/png", "undecodable_image"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"/>', "image/svg+xml", "undecodable_image"),
        (b"P6 1 1 255\n\0\0\0", "image/x-portable-pixmap", "undecodable_image"),
        (picture("ICO", size=(16, 16)), "image/x-icon", "undecodable_image"),
        (picture("PNG"), "text/plain", "review_artifact_not_an_image"),
        (picture("PNG"), "imagepng", "review_artifact_not_an_image"),
        (picture("PNG"), "image/jpeg", "media_type_mismatch"),
        (picture("JPEG"), "image/png", "media_type_mismatch"),
        (animated("GIF"), "image/gif", "animated_image"),
        (animated("WEBP"), "image/webp", "animated_image"),
        (animated("PNG"), "image/png", "animated_image"),
        (animated("TIFF"), "image/tiff", "animated_image"),
    ],
)
def test_what_is_not_one_picture_is_refused_with_a_reason(content, media_type, reason):
    assert ImageVerdict(reason) == inspect_image(content, media_type)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"])
@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.9])
def test_a_truncated_picture_is_undecodable(kind, share):
    content = noise(kind)
    cut = content[: int(len(content) * share)]
    assert ImageVerdict("undecodable_image") == inspect_image(cut, f"image/{kind.lower()}")
    assert thumbnail(cut, 16) is None


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"])
def test_damaged_bytes_never_raise(kind):
    content = bytearray(noise(kind))
    for position in range(0, len(content), max(1, len(content) // 60)):
        damaged = bytes(content[:position]) + b"\xff\x00\xff" + bytes(content[position + 3 :])
        inspect_image(damaged, f"image/{kind.lower()}")
        thumbnail(damaged, 8)


BOMB_PROBE = """
import resource, sys, tracemalloc
from tamesu.core.images import inspect_image, thumbnail
inspect_image(b"", "image/png")
content = sys.stdin.buffer.read()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
resource.setrlimit(resource.RLIMIT_AS, (900_000_000, 900_000_000))
tracemalloc.start()
print(inspect_image(content, sys.argv[1]).reason, thumbnail(content, 64))
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert grown < 60_000, grown
assert tracemalloc.get_traced_memory()[1] < 20_000_000
"""


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (png_bomb(50_000, 50_000), "image/png"),
        (png_bomb(10_000, 10_000), "image/png"),
        (png_bomb(8_000, 8_000), "image/png"),
        (webp_bomb(), "image/webp"),
    ],
    ids=["png-2500mp", "png-100mp", "png-64mp", "webp-268mp"],
)
def test_a_decompression_bomb_is_refused_before_it_is_decoded(content, media_type):
    assert len(content) < 400_000
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", BOMB_PROBE, media_type],
        input=content,
        capture_output=True,
        check=False,
    )
    assert (done.stdout, done.stderr, done.returncode) == (b"image_too_large None\n", b"", 0)


def test_a_tiff_with_an_enormous_tile_is_refused():
    tags = {256: 64, 257: 64, 258: 8, 259: 8, 262: 1, 277: 1, 322: 16, 323: 16, 324: 200, 325: 20}
    assert inspect_image(tiff(tags), "image/tiff") == ImageVerdict("undecodable_image")
    enormous = tags | {322: 30_000, 323: 30_000}
    assert inspect_image(tiff(enormous), "image/tiff") == ImageVerdict("image_too_large")
    assert thumbnail(tiff(enormous), 16) is None


def test_the_bound_of_pillow_is_left_alone():
    before = Image.MAX_IMAGE_PIXELS
    inspect_image(picture(), "image/png")
    assert before == Image.MAX_IMAGE_PIXELS


def test_a_thumbnail_is_upright_and_without_metadata():
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010E] = "secret description"
    content = picture("JPEG", exif=exif, comment=b"secret comment")
    small = thumbnail(content, 20) or b""
    image = Image.open(io.BytesIO(small))
    assert image.size == (15, 20)
    assert image.info == {}
    assert b"secret" not in small


def test_a_thumbnail_stands_on_white_and_is_never_enlarged():
    image = Image.new("RGBA", (8, 4), (0, 0, 0, 0))
    small = Image.open(io.BytesIO(thumbnail(encoded(image, "PNG"), 64) or b""))
    assert (small.size, small.getpixel((0, 0))) == ((8, 4), (255, 255, 255))


def test_a_thumbnail_keeps_the_colours_of_cmyk_and_of_16_bit_grey():
    cmyk = Image.open(io.BytesIO(thumbnail(picture("JPEG", "CMYK"), 16) or b""))
    assert all(abs(got - want) < 12 for got, want in zip(cmyk.getpixel((5, 5)), RED, strict=True))
    grey = Image.new("I;16", (4, 4), 128 * 256)
    assert Image.open(io.BytesIO(thumbnail(encoded(grey, "PNG"), 4) or b"")).getpixel((0, 0)) == (128,) * 3


def test_a_very_flat_picture_has_a_thumbnail():
    small = Image.open(io.BytesIO(thumbnail(picture(size=(3000, 1)), 10) or b""))
    assert small.size == (10, 1)


POLICY = ArtifactPolicy(required=("render",), review="render")
FILES = {"artifacts/render.png": picture(), "artifacts/broken.png": b"x"}


def artifact(path: str, role: str = "render", media_type: str = "image/png") -> Artifact:
    content = FILES[path]
    return Artifact(role, path, hashlib.sha256(content).hexdigest(), len(content), media_type)


def review(policy: ArtifactPolicy, *artifacts: Artifact) -> ReviewedOutput:
    return review_outcome(policy, artifacts, lambda one: FILES[one.path])


def output(one: Artifact) -> OutputFile:
    return OutputFile(one.path, one.sha256, one.size)


def test_without_a_review_role_there_is_no_outcome():
    assert ReviewedOutput(Outcome(None), None) == review(ArtifactPolicy(), artifact("artifacts/render.png"))


def test_one_valid_review_artifact_is_generated():
    one = artifact("artifacts/render.png")
    assert ReviewedOutput(Outcome("generated"), output(one)) == review(POLICY, one)


def test_none_or_several_review_artifacts_are_invalid_and_have_no_output():
    one, other = artifact("artifacts/render.png"), artifact("artifacts/broken.png")
    missing = review(POLICY, artifact("artifacts/render.png", role="log"))
    assert ReviewedOutput(Outcome("invalid_artifact", "missing_review_artifact"), None) == missing
    several = review(POLICY, one, other)
    assert ReviewedOutput(Outcome("invalid_artifact", "several_review_artifacts"), None) == several


def test_an_unfit_review_artifact_is_invalid_and_stays_the_output():
    broken = artifact("artifacts/broken.png")
    expected = ReviewedOutput(Outcome("invalid_artifact", "undecodable_image"), output(broken))
    assert expected == review(POLICY, broken)
    text = artifact("artifacts/render.png", media_type="text/plain")
    expected = ReviewedOutput(Outcome("invalid_artifact", "review_artifact_not_an_image"), output(text))
    assert expected == review(POLICY, text)


def test_an_image_over_the_byte_bound_is_not_read():
    one = artifact("artifacts/render.png")
    reviewed = review_outcome(ArtifactPolicy(review="render", max_bytes=5), [one], lambda _: pytest.fail("was read"))
    assert Outcome("invalid_artifact", "image_too_large") == reviewed.outcome
