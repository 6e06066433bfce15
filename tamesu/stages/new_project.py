"""A folder that becomes a project because a package comes into it, and stays none when it does not come."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tamesu.edge.store.paths import Project
from tamesu.stages.scaffold import Written, write_project


@contextmanager
def project_made(project: Project) -> Iterator[Written | None]:
    """Make a folder a project where it is none, and yield what was written; all of it goes again after an error.

    Raises Refused, before anything is written, for files of a project that are there with other content.
    """
    cases, state = project.root / "cases", project.root / ".tamesu"
    if cases.is_dir():
        yield None
        return
    known = os.path.lexists(state)
    written = write_project(project.root)
    try:
        cases.mkdir()
        yield written
    except BaseException:
        _remove(project, written)
        if not known:
            shutil.rmtree(state, ignore_errors=True)
        raise


def _remove(project: Project, written: Written) -> None:
    places = [project.root / path for path in written.files]
    for place in places:
        place.unlink(missing_ok=True)
    folders = {parent for place in places for parent in place.parents if parent.is_relative_to(project.root)}
    for folder in sorted({project.root / "cases", *folders} - {project.root}, reverse=True):
        with suppress(OSError):  # what holds something else stays
            folder.rmdir()
