"""A picture as a judge sees it: upright, on white, at most 1536 pixels a side, a PNG without name or metadata."""

from __future__ import annotations

from tamesu.core.images import thumbnail

SIDES = (1536, 1024, 768, 512)
MOST_BYTES = 3_500_000  # what every provider takes once it is base64

MEDIA_TYPE = "image/png"


def shown_image(content: bytes) -> bytes | None:
    """Return the bytes that a judge is shown, the same for the same picture; None for one that does not decode.

    A picture that is too heavy at one size is shown at the next smaller one; at the last any fits.
    """
    for side in SIDES:
        small = thumbnail(content, side)
        if small is None or len(small) <= MOST_BYTES:
            return small
    return None
