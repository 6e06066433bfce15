"""Pictures of a reply, out of the content that Inspect makes of it; nothing is fetched."""

from __future__ import annotations

import binascii
from base64 import b64decode

from inspect_ai.model import ContentImage, ModelOutput

from tamesu.edge.providers.calls import ReplyPicture


def reply_pictures(output: ModelOutput) -> tuple[ReplyPicture, ...]:
    """Return the pictures of a reply in its order."""
    content = output.message.content if output.choices else ""
    parts = () if isinstance(content, str) else content
    return tuple(_picture(part.image) for part in parts if isinstance(part, ContentImage))


def _picture(image: str) -> ReplyPicture:
    """Return a data URI as its bytes and stated media type; of anything else the text itself."""
    head, comma, data = image.partition(",")
    if comma and head.startswith("data:") and head.endswith(";base64"):
        try:
            return ReplyPicture(b64decode(data, validate=True), head[len("data:") : -len(";base64")])
        except (binascii.Error, ValueError):
            pass
    return ReplyPicture(image.encode("utf-8", "backslashreplace"), "")
