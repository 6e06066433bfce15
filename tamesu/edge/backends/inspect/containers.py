"""Containers that a dead attempt left behind: found by the folder they were started from, removed by project."""

from __future__ import annotations

from pathlib import Path

from tamesu.edge.docker import client_present, docker

_FOLDER = "com.docker.compose.project.working_dir"
_PROJECT = "com.docker.compose.project"


def remove_survivors(sources: Path) -> None:
    """Remove the compose projects that were started from a run's executed copy; nobody else's are touched.

    Without a Docker client, or with an engine that does not answer, there is nothing that can be removed.
    """
    if not client_present():
        return
    for project in _projects(sources):
        docker("compose", "--project-name", project, "down", "--volumes", "--timeout", "5")


def _projects(sources: Path) -> list[str]:
    """The copy's folder is one run's alone, so the label tells whose the containers are."""
    found: set[str] = set()
    for folder in {sources, *(path for path in sources.rglob("*") if path.is_dir())}:
        said = docker("ps", "-a", "--filter", f"label={_FOLDER}={folder}", "--format", f'{{{{.Label "{_PROJECT}"}}}}')
        if said.code == 0:
            found.update(line for line in said.out.splitlines() if line)
    return sorted(found)
