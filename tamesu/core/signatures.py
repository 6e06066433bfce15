"""What a file is by its first bytes, as far as a model takes it as a picture; nothing is decoded."""

from __future__ import annotations

PICTURES = "PNG, JPEG, WebP and GIF"
_LONGEST = 12


def picture_type(content: bytes) -> str | None:
    """Return the media type of a picture that models take; None for anything else."""
    head = content[:_LONGEST]
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if head[:4] == b"RIFF" and head[8:] == b"WEBP" else None
