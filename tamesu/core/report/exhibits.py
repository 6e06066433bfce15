"""What a page shows of an output: a picture, a text, a sound or a film, each from bytes that are hostile.

Kinds come from the bytes, never from a media type that a task states. What is too large is named by its path.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup, escape

from tamesu.core.media import Kind, container_of
from tamesu.core.report.text import clean_lines

MOST_TEXT = 2_000  # characters of one output
MOST_RECORDING_BYTES = 1024 * 1024
_PICTURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
_SOUNDS = {"wav": "audio/wav", "mp3": "audio/mpeg", "flac": "audio/flac"}


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One file of an output: `source` is a data URI for a browser, `text` what stands there; one of them is None.

    `role` is empty where an output is one picture. `remark` says what is left out.
    """

    role: str
    kind: Kind
    source: str | None = None
    text: Markup | None = None
    remark: str | None = None


def picture_exhibit(role: str, content: bytes) -> Exhibit | None:
    """Return a PNG, JPEG, GIF or WebP picture; None for bytes of another kind."""
    kinds = [kind for magic, kind in _PICTURES.items() if content.startswith(magic)]
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        kinds.append("image/webp")
    return Exhibit(role, "image", _data(kinds[0], content)) if kinds else None


def text_exhibit(role: str, content: bytes) -> Exhibit:
    """Return the beginning of a text, its lines kept and everything else of it harmless."""
    text = content.decode("utf-8-sig", "replace")
    shown = clean_lines(text[:MOST_TEXT])
    left = len(text) - MOST_TEXT
    return Exhibit(role, "text", text=escape(shown), remark=f"{left:,} more characters" if left > 0 else None)


def recording_exhibit(role: str, kind: Literal["audio", "video"], content: bytes, path: str, room: int) -> Exhibit:
    """Return a sound or film for the browser's own player; one above 1 MiB is named by its path.

    So is one above `room`, the bytes that its page has left.
    """
    container = container_of(content)
    if container is None:
        return Exhibit(role, kind, remark=f"is no {kind} that browsers play: {path}")
    if len(content) > min(MOST_RECORDING_BYTES, room):
        return Exhibit(role, kind, remark=f"{len(content):,} bytes, too large for this page: {path}")
    return Exhibit(role, kind, _data(_SOUNDS.get(container, f"{kind}/{container}"), content))


def _data(media_type: str, content: bytes) -> str:
    return f"data:{media_type};base64,{b64encode(content).decode()}"
