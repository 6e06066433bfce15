"""Sizing: what a plan can tell, from its items and from the results on disk. Reads only."""

from __future__ import annotations

from tamesu.base.model.sizing import Sizing
from tamesu.core.rows import SlotEvidence, build_rows
from tamesu.core.sizing import size
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.paths import Project
from tamesu.stages.plan import Planned
from tamesu.stages.summary import slot_results


def size_eval(project: Project, planned: Planned, cache: DigestCache) -> Sizing:
    """Return the sizing of an eval; only runs with results are read."""
    slots = planned.plan.slots
    results = [(slot, slot_results(project, slot, cache)) for slot in slots]
    expects = planned.matrix.expects
    evidence = [SlotEvidence(slot.spec, slot.state, found, expects=expects) for slot, found in results if found]
    rows = build_rows(evidence, planned.evaluation.policy)
    return size(planned.evaluation, slots, rows, planned.records)
