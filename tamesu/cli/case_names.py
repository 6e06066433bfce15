"""Which cases a command means."""

from __future__ import annotations

from pathlib import Path

from tamesu.base.errors import UsageError
from tamesu.edge.store.paths import Project


def case_named(project: Project, name: str) -> str:
    """Return the case of a name, or of the path of its folder. Raises UnknownName."""
    place = Path(name).resolve()
    if place.parent == project.root / "cases" and place.is_dir():
        return project.find_case(place.name)
    return project.find_case(name.strip("/").removeprefix("cases/"))


def cases_named(project: Project, name: str | None) -> tuple[str, ...]:
    """Return the case of a name, or all of the project. Raises UsageError when there is none."""
    cases = project.cases() if name is None else (case_named(project, name),)
    if not cases:
        raise UsageError(f"{project.root}: holds no case yet; begin with `tamesu new case NAME`")
    return cases
