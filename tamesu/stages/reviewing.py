"""What export and status share: the rows of an eval with the results behind them, and the rubric that people answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tamesu.base.errors import UsageError
from tamesu.base.model.evidence import ItemResult
from tamesu.base.model.manifest import Eval, Rubric
from tamesu.core.planning import Grouping, Retries
from tamesu.core.rows import ItemRow, build_rows
from tamesu.edge.documents.reading import Shelf
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.paths import Project
from tamesu.stages.plan import Planned, plan_eval
from tamesu.stages.summary import slot_evidence


@dataclass(frozen=True, slots=True)
class Reviewable:
    """An eval with its rows, and the results by run ID and item; `problems` name evidence that does not count."""

    planned: Planned
    rows: tuple[ItemRow, ...]
    results: Mapping[tuple[str, str], ItemResult]
    problems: tuple[str, ...]

    @property
    def evaluation(self) -> Eval:
        return self.planned.evaluation


def read_reviewable(project: Project, name: str, cache: DigestCache, shelf: Shelf | None = None) -> Reviewable:
    """Return an eval as its evidence stands. Raises UnknownName, InvalidDocument, EvidenceError."""
    planned = plan_eval(project, project.find_ref(name), Grouping.BATCHED, Retries.BOUNDED, cache, shelf)
    slots = [slot_evidence(project, planned, slot, cache) for slot in planned.plan.slots]
    return Reviewable(
        planned,
        build_rows(slots, planned.evaluation.policy),
        {(slot.spec.run_id, item): result for slot in slots for item, result in slot.results.items()},
        tuple(f"{slot.spec.run_id}: {slot.problem}" for slot in planned.plan.slots if slot.problem is not None),
    )


def human_rubric(evaluation: Eval) -> Rubric:
    """Return the rubric that people answer. Raises UsageError for an eval that declares none."""
    rubric = evaluation.policy.human_rubric
    if rubric is None:
        raise UsageError(f"{evaluation.file}: declares no human review; add evaluation.human_review.rubric")
    return rubric
