"""Bytes that a provider sends as a picture: whatever they are, they get a name, and no decoder ends anything."""

from __future__ import annotations

import io
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from tamesu.core.pictures import KINDS, PICTURE_BY_URL, measure_picture, picture_kind
from tamesu.core.reply_pictures import picture_facts
from tamesu.core.signatures import picture_type
from tamesu.edge.backends.outputs import picture_outputs
from tamesu.edge.providers.calls import Called, ReplyPicture
from tests.pictures.drawn import drawn, moving

REAL = [drawn(kind) for kind in ("PNG", "JPEG", "WEBP", "GIF")]
NAMES = {f"output-{number:04d}.{kind.extension}" for number in (1, 2) for kind in KINDS.values()}


@st.composite
def foreign(draw: st.DrawFn) -> bytes:
    """Draw any bytes, or a picture that was cut, lengthened or had some of its bytes replaced."""
    if draw(st.booleans()):
        return draw(st.binary(max_size=200))
    content = bytearray(draw(st.sampled_from(REAL)))
    for _ in range(draw(st.integers(0, 4))):
        content[draw(st.integers(0, len(content) - 1))] = draw(st.integers(0, 255))
    return bytes(content[: draw(st.integers(0, len(content)))]) + draw(st.binary(max_size=8))


@settings(max_examples=150, deadline=None)
@given(contents=st.lists(foreign(), min_size=1, max_size=2), stated=st.sampled_from(["image/png", "text/html", ""]))
def test_any_bytes_are_kept_as_they_came_under_a_name_that_fits(contents: list[bytes], stated: str) -> None:
    pictures = tuple(ReplyPicture(content, stated) for content in contents)
    outputs = picture_outputs(Called("", "stop", None, 1, pictures=pictures))
    assert [output.content for output in outputs] == contents
    assert [output.role for output in outputs] == ["output", "further"][: len(contents)]
    for number, output in enumerate(outputs, 1):
        if output.path in NAMES:
            with Image.open(io.BytesIO(output.content)) as image:
                image.load()
            assert output.media_type == picture_type(output.content)
        else:
            assert (output.path, output.media_type) == (f"invalid-{number:04d}.bin", "application/octet-stream")


def bomb(width: int, height: int) -> bytes:
    """Return a PNG whose header promises that many pixels."""
    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x02\x00\x00\x00"
    chunk = b"IHDR" + head
    body = len(head).to_bytes(4, "big") + chunk + zlib.crc32(chunk).to_bytes(4, "big")
    data = b"IDAT" + zlib.compress(bytes(1000))
    tail = (len(data) - 4).to_bytes(4, "big") + data + zlib.crc32(data).to_bytes(4, "big")
    return b"\x89PNG\r\n\x1a\n" + body + tail + b"\0\0\0\0IEND\xaeB`\x82"


@pytest.mark.parametrize("size", [(40_000, 40_000), (2**31 - 1, 2**31 - 1), (40_000_001, 1)])
def test_a_bomb_is_refused_by_its_header(size: tuple[int, int]) -> None:
    assert measure_picture(bomb(*size)).reason == "image_too_large"


def test_what_moves_what_is_a_url_and_what_browsers_do_not_show_is_no_picture() -> None:
    assert measure_picture(moving()).reason == "animated_image"
    assert measure_picture(b"https://pictures.invalid/1.png").reason == PICTURE_BY_URL
    assert measure_picture(drawn("TIFF")).reason == measure_picture(drawn("BMP")).reason == "unkept_picture_format"
    assert [picture_kind(content) for content in REAL] == list(KINDS.values())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["candidates", "content", "parts", "inlineData", "mimeType", "data", "thought", "finishReason", "output",
             "type", "tool_usage", "image_gen", "input_tokens", "output_tokens"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=20,
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(response=JSON)
def test_any_reply_says_something_about_its_pictures(response: object) -> None:
    facts = picture_facts(response)  # type: ignore[arg-type]
    assert all(place >= 0 for place in facts.interim)
    assert facts.tool_tokens is None or (facts.by_tool and min(facts.tool_tokens) >= 0)
