"""What a lock holds for an image, and whether an image on this machine is the locked one."""

from __future__ import annotations

from collections.abc import Sequence


def locked_content(reference: str, image_id: str, repo_digests: Sequence[str]) -> str:
    """Return the digest-qualified name of an image in the reference's own repository.

    An image that was neither pulled from there nor pushed has no such name and is locked by its ID.
    """
    own = [name for name in repo_digests if repository(name) == repository(reference)]
    return min(own, default=image_id)


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
