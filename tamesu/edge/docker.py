"""The Docker client as a subprocess: the one runner, and what it says about images."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import dataclass

from tamesu.base.errors import ContainerFault

_SECONDS = 120.0
_PULL_SECONDS = 3600.0
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
    """An image that the engine holds: its ID, and the digest-qualified names it was pulled or pushed by."""

    id: str
    repo_digests: tuple[str, ...]


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
        return LocalImage(str(found["Id"]), tuple(sorted(map(str, found.get("RepoDigests") or ()))))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ContainerFault(f"image '{reference}': `docker image inspect` did not answer in JSON") from None


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
