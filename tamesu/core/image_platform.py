"""Which platform an image is for, against the one that runs it; and tags that say something else than the digest."""

from __future__ import annotations

import re
from collections.abc import Collection

from tamesu.base.model.manifest import ImageReference

# Whoever writes a platform into a compose file or Dockerfile asks for it, emulated where need be.
_STATED = re.compile(rb"^\s*[\"']?platforms?[\"']?\s*:|[{,]\s*[\"']?platforms?[\"']?\s*:|--platform=", re.MULTILINE)


def states_a_platform(source: bytes) -> bool:
    """Return whether a compose file or Dockerfile asks for a platform itself."""
    return _STATED.search(source) is not None


def platform_problem(image: ImageReference, found: str | None, engine: str | None) -> str | None:
    """Return why an image of platform `found` is not what runs here; None when it is, or when nobody knows."""
    if found is None:
        return None
    if image.platform is not None and found != image.platform:
        return (
            f"image '{image.reference}' is of {found} here but was locked for {image.platform}; run it there, or run "
            "`tamesu lock`, which makes it another experiment"
        )
    if image.pinned and engine is not None and found != engine:
        return (
            f"image '{image.reference}' is pinned to the image of {found} alone, and this engine runs {engine}; pin "
            f"the digest of the index, or of its image for {engine}"
        )
    return None


def tag_beside_digest(reference: str) -> tuple[str, str] | None:
    """Return `name:tag` and the digest of a reference that holds both."""
    name, _, digest = reference.partition("@")
    return (name, digest) if digest and ":" in name.rpartition("/")[2] else None


def tag_note(reference: str, digests: Collection[str]) -> str | None:
    """Return the note that a tag stands for other content than the digest beside it, given what the tag stands for."""
    both = tag_beside_digest(reference)
    if both is None or not digests or both[1] in digests:
        return None
    return f"image '{reference}': the tag {both[0]} stands for {min(digests)} now; the digest is what counts and runs"
