"""Importing the copied task before money is spent, and noticing what it reads outside its copy."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

from tamesu.base.errors import TamesuError
from tamesu.base.model.endpoint import ImportFinding
from tamesu.base.model.plan import RunSpec
from tamesu.core.tasks import runs_built_in_task
from tamesu.edge.backends.inspect.tasks import load_task
from tamesu.edge.store.paths import RunPaths

_MOST = 50
_listener: list[set[str]] = []


def import_task(spec: RunSpec, paths: RunPaths) -> ImportFinding:
    """Import the executed copy and make its task; what the user's code raises comes back as one line."""
    if runs_built_in_task(spec.task, spec.backend, spec.task_file):
        return ImportFinding(ok=True)  # there is no code of anybody's to import
    with _opened_files() as opened:
        try:
            with redirect_stdout(sys.stderr):
                load_task(spec, paths.sources, paths.dataset)
        except TamesuError as error:
            return ImportFinding(False, str(error), _outside(opened, paths))
        except (Exception, SystemExit) as error:
            text = " ".join(str(error).split())[:300]
            return ImportFinding(False, f"{spec.task_file}: {type(error).__name__}: {text}", _outside(opened, paths))
    return ImportFinding(True, None, _outside(opened, paths))


@contextmanager
def _opened_files() -> Iterator[set[str]]:
    """Collect the files that are opened within; an audit hook cannot be taken away, so one is shared."""
    if not _listener:
        _listener.append(set())
        sys.addaudithook(_audit)
    found: set[str] = set()
    _listener.append(found)
    try:
        yield found
    finally:
        _listener.pop()


def _audit(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and len(_listener) > 1 and isinstance(arguments[0], (str, os.PathLike)):
        _listener[-1].add(os.fspath(arguments[0]))


def _outside(opened: set[str], paths: RunPaths) -> tuple[str, ...]:
    """Return what belongs neither to the copy and its dataset nor to Python and its packages."""
    own = [paths.sources.resolve(), paths.dataset.resolve().parent]
    python = {Path(place).resolve() for place in (sys.prefix, sys.base_prefix, *_package_folders())}
    found = set()
    for name in opened:
        path = Path(os.path.realpath(name))
        known = any(path.is_relative_to(place) for place in (*own, *python, Path("/proc"), Path("/dev"), Path("/sys")))
        if not known and path.is_file() and "__pycache__" not in path.parts:
            found.add(str(path))
    return tuple(sorted(found)[:_MOST])


def _package_folders() -> list[str]:
    """Folders that Python searches beside the copy: installed packages, editable ones included."""
    import tamesu

    return [*(place for place in sys.path if "site-packages" in place), str(Path(tamesu.__file__).parent)]
