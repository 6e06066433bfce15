"""The pictures that go with prompts, as they were frozen beside the dataset."""

from __future__ import annotations

from pathlib import Path

from tamesu.base.canonical import digest_bytes
from tamesu.base.errors import EvidenceError
from tamesu.core.signatures import picture_type
from tamesu.edge.providers.calls import ImagePart


def sent_picture(folder: Path, sha256: str) -> ImagePart:
    """Return a frozen picture by its digest, read now. Raises EvidenceError for one that is not as frozen."""
    path = folder / sha256
    content = path.read_bytes() if path.exists() else b""
    media_type = picture_type(content)
    if digest_bytes(content) != sha256 or media_type is None:
        raise EvidenceError(f"{path}: is not the picture that this run froze; put it back")
    return ImagePart(media_type, content)
