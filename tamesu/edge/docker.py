"""The Docker client as a subprocess: the one runner, and what it says about images."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import Any

from tamesu.base.errors import ContainerFault

_SECONDS = 120.0
_PULL_SECONDS = 3600.0
_LOOPBACK = re.compile(r"(?:localhost|127\.[0-9.]+)(?::[0-9]+)?/")
_REFERENCE = re.compile(r"[A-Za-z0-9][^\s\x00]*")
# What the client says when it is the engine that is missing, and not the image.
_NO_ENGINE = re.compile(
    r"(?:cannot|failed to) connect|daemon running|permission denied|context .*not found|dial ", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Said:
    """The end of one call of the client; code 127 stands for a client that is not there or did not answer in time."""

    code: int
    out: str
    err: str

    @property
    def last_line(self) -> str:
        lines = [line.strip() for line in self.err.splitlines() if line.strip()]
        return lines[-1] if lines else "no reason given"


@dataclass(frozen=True, slots=True)
class LocalImage:
    """An image that the engine holds: its ID, the digest-qualified names it was pulled or pushed by, its platform.

    A platform is `os/architecture`, such as linux/amd64; None when the engine does not say.
    """

    id: str
    repo_digests: tuple[str, ...]
    platform: str | None = None


def client_present() -> bool:
    """Return whether there is a Docker client; says nothing about an engine."""
    return shutil.which("docker") is not None


def docker(*arguments: str, seconds: float = _SECONDS) -> Said:
    """Run the client to its end, at most `seconds` long; never raises."""
    try:
        done = subprocess.run(
            ("docker", *arguments),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Said(127, "", f"docker {arguments[0]} did not end within {seconds:.0f} seconds")
    except (OSError, ValueError):
        return Said(127, "", "there is no Docker client on the PATH")
    return Said(done.returncode, done.stdout, done.stderr)


def local_image(reference: str) -> LocalImage | None:
    """Return what the engine holds under a reference; None when it holds nothing.

    Raises ContainerFault without client or engine, and for an answer that is none.
    """
    if _REFERENCE.fullmatch(reference) is None:
        raise ContainerFault(f"image '{reference}': is no name of an image; correct it")
    said = docker("image", "inspect", reference)
    if said.code == 127 or (said.code != 0 and _NO_ENGINE.search(said.err)):
        raise ContainerFault(f"Docker cannot be asked for image '{reference}': {said.last_line}; start the engine")
    return None if said.code != 0 else _parsed(reference, said.out)


def _parsed(reference: str, text: str) -> LocalImage:
    try:
        (found,) = json.loads(text)
        digests = tuple(sorted(map(str, found.get("RepoDigests") or ())))
        return LocalImage(str(found["Id"]), digests, _platform(found.get("Os"), found.get("Architecture")))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ContainerFault(f"image '{reference}': `docker image inspect` did not answer in JSON") from None


def _platform(system: object, architecture: object) -> str | None:
    named = isinstance(system, str) and isinstance(architecture, str) and system and architecture
    return f"{system}/{architecture}" if named and "unknown" not in {system, architecture} else None


def engine_platform() -> str | None:
    """Return the platform that the engine runs images of; None when it does not say."""
    said = docker("version", "--format", "{{.Server.Os}}/{{.Server.Arch}}")
    system, _, architecture = said.out.strip().partition("/")
    return _platform(system, architecture) if said.code == 0 else None


def children_of(reference: str) -> dict[str, str]:
    """Return the digest of each platform's image that an index holds, as its registry tells.

    Empty for what is no index, for a registry that does not answer, and for a platform of which there are several.
    """
    said = docker("manifest", "inspect", *_insecure(reference), reference)
    try:
        listed = json.loads(said.out)["manifests"] if said.code == 0 else []
        found = [(_platform_of(one), str(one["digest"])) for one in listed]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    names = [platform for platform, _ in found]
    return {name: digest for name, digest in found if name is not None and names.count(name) == 1}


def published_platform(reference: str) -> str | None:
    """Return the platform of a single image as its registry tells; None for an index, and when it does not say."""
    said = docker("manifest", "inspect", "--verbose", *_insecure(reference), reference)
    try:
        value = json.loads(said.out) if said.code == 0 else None
        return _platform_of(value["Descriptor"]) if isinstance(value, dict) else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _platform_of(descriptor: Any) -> str | None:
    platform = descriptor.get("platform") or {}
    return _platform(platform.get("os"), platform.get("architecture"))


def _insecure(reference: str) -> tuple[str, ...]:
    """A registry on this machine speaks plain HTTP, as it does to the engine."""
    return ("--insecure",) if _LOOPBACK.match(reference) else ()


def pull_image(reference: str) -> None:
    """Fetch an image. Raises ContainerFault with the client's reason."""
    said = docker("pull", "--quiet", reference, seconds=_PULL_SECONDS)
    if said.code != 0:
        raise ContainerFault(f"image '{reference}': cannot be pulled: {said.last_line}; correct the name or log in")


def tag_image(image: str, reference: str) -> None:
    """Give an image that is here a further name. Raises ContainerFault."""
    said = docker("tag", image, reference)
    if said.code != 0:
        raise ContainerFault(f"image '{image}': cannot be named '{reference}': {said.last_line}")
