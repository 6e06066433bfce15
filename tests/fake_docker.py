"""A `docker` for tests: a shell script that answers from folders and writes down how it was called."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

_SCRIPT = """\
#!/bin/sh
echo "$*" >> "{home}/calls"
[ -e "{home}/down" ] && {{ echo "Cannot connect to the Docker daemon" >&2; exit 1; }}
file() {{ printf '%s' "$1" | tr -c 'A-Za-z0-9.-' '_'; }}
case "$1 $2" in
  "image inspect")
    [ -e "{home}/local/$(file "$3")" ] || {{ echo "Error: No such image: $3" >&2; exit 1; }}
    cat "{home}/local/$(file "$3")" ;;
  "pull --quiet")
    [ -e "{home}/remote/$(file "$3")" ] || {{ echo "Error: pull access denied for $3" >&2; exit 1; }}
    cp "{home}/remote/$(file "$3")" "{home}/local/$(file "$3")" ;;
  "manifest inspect")
    kind=manifests; [ "$3" = --verbose ] && kind=described; for last; do :; done
    [ -e "{home}/$kind/$(file "$last")" ] || {{ echo "no such manifest: $last" >&2; exit 1; }}
    cat "{home}/$kind/$(file "$last")" ;;
  "version --format") [ ! -e "{home}/platform" ] || cat "{home}/platform" ;;
  "tag "*) cp "{home}/local/$(file "$2")" "{home}/local/$(file "$3")" ;;
esac
"""


@dataclass(frozen=True)
class FakeDocker:
    """The engine's local images and what a registry would serve."""

    home: Path

    @classmethod
    def install(cls, folder: Path, monkeypatch: pytest.MonkeyPatch) -> FakeDocker:
        """Put the script first on the PATH."""
        for name in ("bin", "local", "remote", "manifests", "described"):
            (folder / name).mkdir(parents=True)
        script = folder / "bin" / "docker"
        script.write_text(_SCRIPT.format(home=folder))
        script.chmod(0o755)
        monkeypatch.setenv("PATH", str(folder / "bin"), prepend=":")
        return cls(folder)

    def holds(self, place: str, reference: str, image: str, *digests: str, platform: str | None = None) -> None:
        """Make an image known under a reference, `local` or `remote`; `image` is one hex digit of its ID."""
        found: dict[str, object] = {"Id": f"sha256:{image * 64}", "RepoDigests": list(digests)}
        if platform is not None:
            found |= _platform(platform, "Os", "Architecture")
        (self.home / place / _file(reference)).write_text(json.dumps([found]))

    def runs(self, platform: str) -> None:
        """Make the engine say which platform it runs."""
        (self.home / "platform").write_text(f"{platform}\n")

    def publishes_index(self, reference: str, children: Mapping[str, str]) -> None:
        """Make a registry serve an index under a reference: the digest of the image of each platform."""
        listed = [
            {"digest": digest, "platform": _platform(platform, "os", "architecture")}
            for platform, digest in children.items()
        ]
        attestation = {"digest": "sha256:" + "9" * 64, "platform": _platform("unknown/unknown", "os", "architecture")}
        (self.home / "manifests" / _file(reference)).write_text(json.dumps({"manifests": [*listed, attestation]}))

    def publishes_image(self, reference: str, platform: str) -> None:
        """Make a registry serve the image of one platform under a reference."""
        described = {"Descriptor": {"platform": _platform(platform, "os", "architecture")}}
        (self.home / "described" / _file(reference)).write_text(json.dumps(described))
        (self.home / "manifests" / _file(reference)).write_text(json.dumps({"config": {}, "layers": []}))

    def forget(self) -> None:
        """Remove every local image."""
        shutil.rmtree(self.home / "local")
        (self.home / "local").mkdir()

    def stop(self) -> None:
        """Make the engine unreachable."""
        (self.home / "down").touch()

    def calls(self) -> list[str]:
        """Return what was called so far."""
        calls = self.home / "calls"
        return calls.read_text().splitlines() if calls.exists() else []


def _file(reference: str) -> str:
    return re.sub(r"[^A-Za-z0-9.-]", "_", reference)


def _platform(platform: str, system: str, architecture: str) -> dict[str, str]:
    return dict(zip((system, architecture), platform.split("/"), strict=True))


def without_docker(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a PATH that holds what tests need and no Docker client."""
    folder.mkdir()
    for name in ("sh", "env", "python", "python3", "git", "uname", "bash"):
        found = shutil.which(name)
        if found is not None:
            (folder / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(folder))
