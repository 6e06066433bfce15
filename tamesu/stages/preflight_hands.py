"""What a preflight may start and ask in this version."""

from __future__ import annotations

from tamesu.base.model.manifest import EvalRef
from tamesu.edge.store.paths import Project
from tamesu.stages.preflight import Hands, Wish


def hands_of(project: Project, ref: EvalRef, wish: Wish) -> Hands:  # noqa: ARG001
    """Return the hands of a preflight; the probe and the import of the copied task are not among them yet."""
    return Hands()
