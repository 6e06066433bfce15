"""Compare: the evidence of evals as it stands on disk, side by side; nothing is written."""

from __future__ import annotations

from tamesu.core.planning import Grouping, Retries
from tamesu.core.report.across import Side, side_of
from tamesu.edge.documents.reading import Shelf
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.paths import Project
from tamesu.stages.plan import plan_eval
from tamesu.stages.summary import slot_evidence


def read_side(project: Project, name: str, cache: DigestCache, shelf: Shelf) -> Side:
    """Return an eval with those of its results that verify. Raises InvalidDocument, UnknownName, AmbiguousName."""
    planned = plan_eval(project, project.find_ref(name), Grouping.BATCHED, Retries.BOUNDED, cache, shelf)
    slots = [slot_evidence(project, planned, slot, cache) for slot in planned.plan.slots]
    return side_of(planned.evaluation, slots, planned.plan.policy_changed)
