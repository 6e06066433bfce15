"""What is made once for all tests of a session, whichever worker needs it first.

Shared are banked projects: real runs whose evidence no test alters in place. A test copies one (`copytree` keeps the
file times) and works on its copy. Copying is safe: no record of the evidence holds the place where its project lies.
What does are Snakemake's notes about finished receipts, logs of past invocations, and the cache of digests, whose
entries are found by path, so that a copy computes them anew.
"""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import projects

_sessions: list[pytest.TempPathFactory] = []


def begin_session(factory: pytest.TempPathFactory) -> None:
    """Note where this session keeps its folders, for `banked`."""
    _sessions[:] = [factory]


def banked(target: Path) -> projects.ShapesProject:
    """Return a copy of the free project of 8 runs x 3 items that is banked once per session."""
    return projects.copied(once("banked", projects.bank), target)


def once(name: str, make: Callable[[Path], object]) -> Path:
    """Return the folder of this session that `make` fills once; nobody alters it."""
    return made_once(_sessions[-1], name, make)


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return a folder below the session's temporary one, after `make` has filled it; others wait meanwhile.

    What `make` raises passes through, and the next one who asks tries again from nothing.
    """
    base = factory.getbasetemp()
    if base.name.startswith("popen-"):  # a worker's own folder, below the one of the session
        base = base.parent
    folder, done = base / f"shared-{name}", base / f"shared-{name}.done"
    with (base / f"shared-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            make(folder)
            done.touch()
    return folder
