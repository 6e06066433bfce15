"""What there is on the engine of one's own; it may serve others at the same time."""

from __future__ import annotations

import subprocess
from pathlib import Path


def docker(*arguments: str, text: str | None = None) -> str:
    """Return what a command of the client prints."""
    done = subprocess.run(("docker", *arguments), input=text, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def projects_below(folder: Path) -> set[str]:
    """Return the compose projects whose containers were started from below a folder."""
    row = '{{.Label "com.docker.compose.project"}} {{.Label "com.docker.compose.project.working_dir"}}'
    pairs = [line.split() for line in docker("ps", "-a", "--format", row).splitlines() if line.strip()]
    return {name for name, place in pairs if Path(place).is_relative_to(folder)}


def resources(projects: set[str]) -> dict[str, set[str]]:
    """Return what there is of compose projects, by kind."""
    listings = {"container": ("ps", "-a"), "network": ("network", "ls"), "volume": ("volume", "ls")}
    row = '{{.Label "com.docker.compose.project"}} {{.Name}}'
    found: dict[str, set[str]] = {}
    for kind, listing in listings.items():
        lines = docker(*listing, "--format", row.replace(".Name", ".Names" if kind == "container" else ".Name"))
        pairs = [line.split() for line in lines.splitlines()]
        found[kind] = {pair[1] for pair in pairs if len(pair) == 2 and pair[0] in projects}
    return found
