"""Close: an eval that owes nothing, or whose judgement a person waived, becomes complete; opening it again."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tamesu.base.errors import Refused
from tamesu.base.model.judgement import Closing, ClosingRecord
from tamesu.core.closing import ClosingState, Owed, closing_state, last_closing, owed_evidence
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.files import write_atomic
from tamesu.edge.store.paths import Project
from tamesu.edge.store.seal import dump_sealed
from tamesu.stages.activate import with_status, write_manifest
from tamesu.stages.clock import now
from tamesu.stages.plan import Planned
from tamesu.stages.summary import closing_digest, eval_rows, read_closing


class Closed(Enum):
    """What became of an eval that was to be closed."""

    DONE = "closed"
    ALREADY = "closed already"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an eval was not closed: what it owes."""

    owed: Owed


def close_eval(
    project: Project, planned: Planned, cache: DigestCache, *, allow_incomplete_review: bool
) -> Closed | Refusal:
    """Write closing.yml and set `status: complete`, every other byte of the manifest kept.

    Runs that are owed are never waived; reviews and judgments are with `allow_incomplete_review`, and recorded then.
    A death between the two writes is made up for by closing once more. Raises Refused for a draft.
    """
    evaluation = planned.evaluation
    if evaluation.status == "draft":
        raise Refused(f"{evaluation.file}: status is 'draft'; nothing was measured that could be closed")
    manifest = with_status(project, evaluation, "complete")  # before anything is written: it may not be possible
    rows = eval_rows(project, planned, cache)
    owed = owed_evidence(planned.plan.slots, rows, evaluation.policy)
    record, evidence = read_closing(project, evaluation.ref), closing_digest(project, planned, cache)
    if owed.runs:
        return Refusal(owed)
    if closing_state(record, evidence) is ClosingState.CURRENT and _covers(record, allow_incomplete_review, owed):
        if evaluation.status == "complete":
            return Closed.ALREADY
    elif owed.judgement and not allow_incomplete_review:
        return Refusal(owed)
    else:
        known = all(row.accepted is not None for row in rows)
        closing = Closing(
            time=now(),
            evidence=evidence,
            allow_incomplete_review=allow_incomplete_review,
            waived=owed.judgement,
            runs=len(planned.plan.slots),
            items=len(rows),
            accepted=sum(row.accepted is True for row in rows) if known else None,
        )
        before = record.closings if record is not None else ()
        write_atomic(project.eval(evaluation.ref).closing, dump_sealed(ClosingRecord((*before, closing))))
    if evaluation.status != "complete":
        write_manifest(project, evaluation, manifest)
    return Closed.DONE


def _covers(record: ClosingRecord | None, allow_incomplete_review: bool, owed: Owed) -> bool:
    """Whether the last closing already waived what is owed, on the word of someone who says so again."""
    last = last_closing(record)
    return last is not None and (not owed.judgement or (allow_incomplete_review and last.waived == owed.judgement))
