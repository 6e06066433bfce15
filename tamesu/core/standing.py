"""Where an eval stands, in one word, from one function."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from tamesu.base.model.manifest import Eval
from tamesu.base.model.plan import Slot, SlotState
from tamesu.core.closing import ClosingState
from tamesu.core.rows import ItemRow


class Standing(StrEnum):
    """The words; an eval that does not read or lint is `invalid`."""

    INVALID = "invalid"
    DRAFT = "draft"
    READY = "ready"
    PARTIAL = "partial"
    AWAITING_REVIEW = "awaiting review"
    EVIDENCE_COMPLETE = "evidence complete"
    CLOSED = "closed"


def standing(
    evaluation: Eval, slots: Sequence[Slot], rows: Iterable[ItemRow], closing: ClosingState = ClosingState.NONE
) -> Standing:
    """Return where a valid eval stands; `rows` are looked at only when every run is banked.

    A complete eval is closed when its closing is about the evidence of now, whatever was waived then; without a closing
    when nothing is owed.
    """
    complete = evaluation.status == "complete"
    if all(slot.state is SlotState.BANKED for slot in slots):
        if complete and closing is ClosingState.CURRENT:
            return Standing.CLOSED
        if any(row.review_owed or row.judgments_owed for row in rows):
            return Standing.AWAITING_REVIEW
        return Standing.CLOSED if complete and closing is ClosingState.NONE else Standing.EVIDENCE_COMPLETE
    if any(slot.state is not SlotState.OWED for slot in slots):
        return Standing.PARTIAL
    return Standing.DRAFT if evaluation.status == "draft" else Standing.READY
