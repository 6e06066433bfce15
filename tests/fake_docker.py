"""A `docker` for tests: a shell script that answers from folders and writes down how it was called."""

from __future__ import annotations

import json
import re
import shutil
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
        for name in ("bin", "local", "remote"):
            (folder / name).mkdir(parents=True)
        script = folder / "bin" / "docker"
        script.write_text(_SCRIPT.format(home=folder))
        script.chmod(0o755)
        monkeypatch.setenv("PATH", str(folder / "bin"), prepend=":")
        return cls(folder)

    def holds(self, place: str, reference: str, image: str, *digests: str) -> None:
        """Make an image known under a reference, `local` or `remote`; `image` is one hex digit of its ID."""
        found = [{"Id": f"sha256:{image * 64}", "RepoDigests": list(digests)}]
        name = re.sub(r"[^A-Za-z0-9.-]", "_", reference)
        (self.home / place / name).write_text(json.dumps(found))

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


def without_docker(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a PATH that holds what tests need and no Docker client."""
    folder.mkdir()
    for name in ("sh", "env", "python", "python3", "git", "uname", "bash"):
        found = shutil.which(name)
        if found is not None:
            (folder / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(folder))
