"""Containers, networks and volumes that a dead attempt left behind, removed by project; nobody else's are touched.

Which compose projects are an attempt's own is known in two ways: their names were written down before they were
started, and their containers carry the folder they were started from, which is the run's executed copy.
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tamesu.edge.docker import client_present, docker
from tamesu.edge.store.files import append_unsynced

_FOLDER = "com.docker.compose.project.working_dir"
_PROJECT = "com.docker.compose.project"
_STARTING_SECONDS = 20.0
_POLL_SECONDS = 0.2
_ROUNDS = 3


@contextmanager
def projects_written_down(workdir: Path) -> Iterator[None]:
    """Write down the name of each compose project that Inspect is about to start; a death leaves none unknown."""
    # the module names its projects by this function alone; nothing public tells them
    provider: Any = importlib.import_module("inspect_ai.util._sandbox.docker.docker")
    naming = provider.task_project_name

    def named(task: str) -> str:
        name: str = naming(task)
        append_unsynced(_names_file(workdir), name.encode())
        return name

    provider.task_project_name = named
    try:
        yield
    finally:
        provider.task_project_name = naming


def _names_file(workdir: Path) -> Path:
    return workdir / "compose-projects"


def remove_survivors(sources: Path, workdir: Path) -> None:
    """Remove what is left of the compose projects of an attempt; `sources` is its executed copy.

    Clients that a killed process left at work are waited for, then ended, as they would start containers anew.
    Without a Docker client, or with an engine that does not answer, there is nothing that can be removed.
    """
    if not client_present():
        return
    names = started_projects(workdir)
    _end_clients(names)
    for _ in range(_ROUNDS):
        left = _from_folder(sources) | (names & _existing())
        if not left:
            return
        for project in sorted(left):
            docker("compose", "--project-name", project, "down", "--volumes", "--remove-orphans", "--timeout", "5")


def started_projects(workdir: Path) -> set[str]:
    """Return the names written down for an attempt; a torn one was never started."""
    try:
        text = _names_file(workdir).read_text()
    except FileNotFoundError:
        return set()
    return {line for line in text.split("\n")[:-1] if line}


def _from_folder(sources: Path) -> set[str]:
    """Return projects whose containers were started from the copy, which is one run's alone."""
    row = f'{{{{.Label "{_PROJECT}"}}}}\t{{{{.Label "{_FOLDER}"}}}}'
    said = docker("ps", "-a", "--filter", f"label={_FOLDER}", "--format", row)
    pairs = [line.partition("\t") for line in said.out.splitlines()] if said.code == 0 else []
    return {project for project, _, folder in pairs if project and Path(folder).is_relative_to(sources)}


def _existing() -> set[str]:
    """Return the projects of which there is a container, a network or a volume."""
    found: set[str] = set()
    for listing in (("ps", "-a"), ("network", "ls"), ("volume", "ls")):
        said = docker(*listing, "--filter", f"label={_PROJECT}", "--format", f'{{{{.Label "{_PROJECT}"}}}}')
        found.update(said.out.split() if said.code == 0 else ())
    return found


def _end_clients(names: set[str]) -> None:
    """Wait for clients that are starting a project, and end those that take too long."""
    deadline = time.monotonic() + _STARTING_SECONDS
    while names and (clients := _starting(names)):
        if time.monotonic() > deadline:
            for client in clients:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(client, signal.SIGKILL)
            return
        time.sleep(_POLL_SECONDS)


def _starting(names: set[str]) -> list[int]:
    """Return the processes `docker compose --project-name <one of the names> … up …`."""
    try:
        listed = subprocess.run(("ps", "-axww", "-o", "pid=,args="), capture_output=True, text=True, check=False).stdout
    except OSError:
        return []
    rows = (line.split() for line in listed.splitlines())
    return [int(row[0]) for row in rows if "up" in row and _project_of(row) in names]


def _project_of(arguments: list[str]) -> str | None:
    place = arguments.index("--project-name") + 1 if "--project-name" in arguments else len(arguments)
    return arguments[place] if place < len(arguments) else None
