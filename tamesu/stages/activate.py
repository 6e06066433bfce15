"""Activate: a draft that lints clean becomes active, by one word in its eval.yml."""

from __future__ import annotations

import stat
from enum import Enum

from tamesu.base.errors import Refused
from tamesu.base.model.manifest import Eval
from tamesu.edge.documents.status_editor import replace_status
from tamesu.edge.store.files import write_atomic
from tamesu.edge.store.paths import Project


class Activation(Enum):
    """What became of an eval that was to be active."""

    DONE = "activated"
    ALREADY = "active already"


def activate_eval(project: Project, evaluation: Eval) -> Activation:
    """Set `status: active`, every other byte kept. Raises Refused for an eval that is complete."""
    if evaluation.status == "active":
        return Activation.ALREADY
    if evaluation.status == "complete":
        raise Refused(f"{evaluation.file}: status is 'complete'; make a new eval instead of measuring on in this one")
    # a manifest that is a link is changed where it lies, and keeps its permissions
    path = project.eval(evaluation.ref).manifest.resolve()
    mode = stat.S_IMODE(path.stat().st_mode)
    write_atomic(path, replace_status(evaluation.file, path.read_bytes(), "active"))
    path.chmod(mode)
    return Activation.DONE
