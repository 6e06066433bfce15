"""Small pictures for tests, drawn where they are needed, and bytes that are none."""

from __future__ import annotations

import io

from PIL import Image

BROKEN = b"\x89PNG\r\n\x1a\n and nothing of a picture"


def drawn(kind: str = "PNG", size: tuple[int, int] = (32, 24), *, clear: bool = False, plain: bool = False) -> bytes:
    """Return a picture in a format of Pillow's, with a clear corner or of one colour where asked."""
    mode = "RGBA" if clear else "RGB"
    image = Image.new(mode, size, (200, 30, 30, 255)[: len(mode)])
    if not plain:
        image.paste((20, 90, 200, 255)[: len(mode)], (0, 0, size[0] // 2, size[1]))
    if clear:
        image.putpixel((0, 0), (0, 0, 0, 0))
    buffer = io.BytesIO()
    image.save(buffer, kind)
    return buffer.getvalue()


def moving() -> bytes:
    """Return a GIF of two frames."""
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]
    buffer = io.BytesIO()
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:])
    return buffer.getvalue()
