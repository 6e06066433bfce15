"""Activate: an eval that lints clean becomes active, by one word in its eval.yml."""

from __future__ import annotations

import stat
from enum import Enum

from tamesu.base.errors import Refused
from tamesu.base.model.manifest import Eval, Status
from tamesu.edge.documents.status_editor import set_status
from tamesu.edge.store.files import write_atomic
from tamesu.edge.store.paths import Project


class Activation(Enum):
    """What became of an eval that was to be active."""

    DONE = "activated"
    ALREADY = "active already"
    REOPENED = "opened again"


def activate_eval(project: Project, evaluation: Eval, *, reopen: bool) -> Activation:
    """Set `status: active`, every other byte kept. Raises Refused for a complete eval, unless to `reopen` it."""
    if evaluation.status == "active":
        return Activation.ALREADY
    if evaluation.status == "complete" and not reopen:
        raise Refused(
            f"{evaluation.file}: status is 'complete'; make a new eval instead of measuring on in this one, "
            f"or `tamesu activate {evaluation.ref} --reopen` to add reviews"
        )
    write_manifest(project, evaluation, with_status(project, evaluation, "active"))
    return Activation.REOPENED if evaluation.status == "complete" else Activation.DONE


def with_status(project: Project, evaluation: Eval, status: Status) -> bytes:
    """Return the manifest with another status. Raises InvalidDocument when only a person can write it there."""
    return set_status(evaluation.file, project.eval(evaluation.ref).manifest.read_bytes(), status)


def write_manifest(project: Project, evaluation: Eval, content: bytes) -> None:
    """Replace the manifest; one that is a link is changed where it lies, and keeps its permissions."""
    path = project.eval(evaluation.ref).manifest.resolve()
    mode = stat.S_IMODE(path.stat().st_mode)
    write_atomic(path, content)
    path.chmod(mode)
