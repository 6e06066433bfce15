"""What a lock holds for an image, and whether an image on this machine is the locked one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tamesu.base.canonical import Json
from tamesu.core.identity import Difference


@dataclass(frozen=True, slots=True)
class LockedImage:
    """What a reference stands for: its content, and of an index the platform that was used and its own digest.

    `content` is `name@sha256:<64 hex>`, or the image ID of an image that exists on one machine only. `platform` is
    `os/architecture`; `child` is the digest of that platform's image, None for what is no index.
    """

    content: str
    platform: str | None = None
    child: str | None = None


def locked_content(reference: str, image_id: str, repo_digests: Sequence[str]) -> str:
    """Return the digest-qualified name of an image in the reference's own repository.

    An image that was neither pulled from there nor pushed has no such name and is locked by its ID.
    """
    return min(own_names(reference, repo_digests), default=image_id)


def own_names(reference: str, repo_digests: Sequence[str]) -> tuple[str, ...]:
    """Return the digest-qualified names in the reference's own repository: of an index, of its image, or of both."""
    return tuple(sorted(name for name in repo_digests if repository(name) == repository(reference)))


def is_locked_content(locked: str, image_id: str, repo_digests: Sequence[str]) -> bool:
    """Return whether an image is the one that a lock names, by any name of the same content."""
    digest = locked.rpartition("@")[2]
    return digest == image_id or any(name.rpartition("@")[2] == digest for name in repo_digests)


def repository(reference: str) -> str:
    """Return the repository of a reference in full: without tag and digest, with Docker Hub's defaults."""
    name = reference.partition("@")[0]
    folder, _, last = name.rpartition("/")
    name = f"{folder}/{last.partition(':')[0]}".lstrip("/")
    host, slash, rest = name.partition("/")
    if not slash:
        return f"docker.io/library/{name}"
    if "." not in host and ":" not in host and host != "localhost":
        return f"docker.io/{name}"
    return f"docker.io/library/{rest}" if host == "docker.io" and "/" not in rest else name


def image_causes(change: Difference) -> list[str]:
    """Return a line per image whose content changed under the same name; none when names changed."""
    was, now = _by_name(change.was), _by_name(change.now)
    if was.keys() != now.keys():
        return []
    return [f"image {name[1]} changed (was {was[name]}, now {now[name]})" for name in now if was[name] != now[name]]


def _by_name(images: Json) -> dict[tuple[str, str], str]:
    """Map file and reference of each image to what it was locked to, the image of a platform included."""
    found = {}
    for image in images if isinstance(images, list) else ():
        assert isinstance(image, dict)
        parts = [str(image[name]).rpartition("@")[2] for name in ("locked", "platform", "child") if name in image]
        found[str(image["file"]), str(image["reference"])] = " ".join(parts) or "not locked"
    return found
