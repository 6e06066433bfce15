"""The digest of messages: the same whether pictures are at hand or only their digests."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tamesu.base.canonical import digest_bytes
from tamesu.edge.providers.calls import ImagePart, TextPart, Turn, turns_digest

TEXTS = st.lists(st.text(max_size=5), min_size=1, max_size=3)
BYTES = st.lists(st.binary(max_size=5), max_size=3)


@given(TEXTS, BYTES)
def test_pictures_count_by_content_whether_read_or_not(texts: list[str], pictures: list[bytes]) -> None:
    turns = [Turn("user", (TextPart(text),)) for text in texts]
    parts = (*turns[-1].parts, *(ImagePart("image/png", content) for content in pictures))
    read = [*turns[:-1], Turn("user", parts)]
    assert turns_digest(read) == turns_digest(turns, [digest_bytes(content) for content in pictures])


def test_a_picture_is_part_of_what_is_sent() -> None:
    turns = [Turn("user", (TextPart("draw"),))]
    assert turns_digest(turns) != turns_digest(turns, ["0" * 64]) != turns_digest(turns, ["1" * 64])
