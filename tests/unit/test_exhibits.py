"""What a page shows of texts, sounds and films: harmless, bounded, and played by the browser alone."""

from __future__ import annotations

from base64 import b64decode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from tamesu.core.report.exhibits import (
    MOST_RECORDING_BYTES,
    MOST_TEXT,
    Exhibit,
    picture_exhibit,
    recording_exhibit,
    text_exhibit,
)
from tamesu.core.report.page import evaluation_page
from tests.factories import make_result, make_slot, make_spec, make_summary
from tests.unit.test_views import PNG, Tags

WAV = b"RIFF\x24\0\0\0WAVEfmt " + b"\0" * 24
MP4 = b"\0\0\0\x18ftypisom" + b"\0" * 24
ROOM = 16 * 1024 * 1024


def page_of(*exhibits: Exhibit) -> str:
    spec = make_spec(["a"], arm="plain")
    summary = make_summary([make_slot(spec, [make_result(spec, "a")])])
    return evaluation_page(summary, {(spec.run_id, "a"): exhibits})


def test_a_text_keeps_its_lines_and_nothing_that_acts() -> None:
    shown = text_exhibit("source", b"<script>alert(1)</script>\r\n\tint x; \x1b[31m\n\xe2\x80\xaeevil")
    assert str(shown.text) == "&lt;script&gt;alert(1)&lt;/script&gt;\n    int x;  [31m\n\ufffdevil"
    assert shown.remark is None
    page = page_of(shown)
    tags = Tags()
    tags.feed(page)
    assert "script" not in tags.tags and str(shown.text) in page
    assert '<div class="role">source</div>' in page


def test_a_long_text_says_how_much_is_left_out() -> None:
    shown = text_exhibit("log", b"a" * (MOST_TEXT + 1_234))
    assert (len(str(shown.text)), shown.remark) == (MOST_TEXT, "1,234 more characters")


@pytest.mark.parametrize(
    ("kind", "content", "begins"), [("audio", WAV, "data:audio/wav;base64,"), ("video", MP4, "data:video/mp4;base64,")]
)
def test_a_recording_is_played_by_the_browser(kind: str, content: bytes, begins: str) -> None:
    shown = recording_exhibit("spoken", kind, content, "artifacts/x", ROOM)  # type: ignore[arg-type]
    assert shown.source is not None and shown.source.startswith(begins)
    assert b64decode(shown.source.removeprefix(begins)) == content
    page = page_of(shown)
    assert f"<{kind} controls" in page and "media-src data:" in page


def test_a_recording_that_is_too_large_is_named_by_its_path() -> None:
    large = WAV + b"\0" * MOST_RECORDING_BYTES
    assert recording_exhibit("r", "audio", large, "artifacts/x.wav", ROOM) == Exhibit(
        "r", "audio", remark=f"{len(large):,} bytes, too large for this page: artifacts/x.wav"
    )
    assert recording_exhibit("r", "audio", WAV, "artifacts/x.wav", len(WAV) - 1).source is None
    assert recording_exhibit("r", "audio", WAV, "artifacts/x.wav", len(WAV)).source is not None


def test_what_no_browser_plays_is_told() -> None:
    assert recording_exhibit("r", "video", b"<svg onload=alert(1)>", "a/x", ROOM).remark == (
        "is no video that browsers play: a/x"
    )
    assert picture_exhibit("r", b"<svg onload=alert(1)>") is None


def test_pictures_alone_are_renders_and_anything_else_is_an_output() -> None:
    picture = picture_exhibit("", PNG)
    assert picture is not None
    assert "<h2>Renders</h2>" in page_of(picture)
    assert "<h2>Outputs</h2>" in page_of(picture, text_exhibit("log", b"x"))


@given(st.binary(max_size=3_000))
def test_any_bytes_are_shown_in_bounds_and_without_markup(content: bytes) -> None:
    shown = str(text_exhibit("r", content).text)
    assert "<" not in shown and ">" not in shown and "\0" not in shown
    assert len(Markup(shown).unescape()) <= 4 * MOST_TEXT, "a tab becomes up to four spaces"
    shown.encode("utf-8")
    recording_exhibit("r", "audio", content, "p", ROOM)
    picture_exhibit("r", content)
