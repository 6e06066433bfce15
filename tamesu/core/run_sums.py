"""What run.yml counts, held against what it counts: its items, and the attempts that it pins."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tamesu.base.model.evidence import AttemptRecord, RunRecord

_CENT_OF_A_CENT = 1e-6  # US dollars


def miscount(record: RunRecord) -> str | None:
    """Return a line about the first count of a run that its inventory contradicts, None when all fit."""
    complete = sum(entry.state == "complete" for entry in record.items.values())
    for name, said, counted in (
        ("complete", record.complete, complete),
        ("failed", record.failed, len(record.items) - complete),
    ):
        if said != counted:
            return f"says `{name}: {said}`, but {counted} of its items are"
    if record.planned < len(record.items):
        return f"says `planned: {record.planned}`, but it holds {len(record.items)} items"
    return None


def wrong_sum(record: RunRecord, attempts: Sequence[AttemptRecord]) -> str | None:
    """Return a line about an amount, in US dollars, that is not what the attempts cost; None when it is.

    Attempts that run.yml does not know yet do not count, and while one that it knows is missing nothing is said.
    """
    known = [attempt for attempt in attempts if f"{attempt.attempt:02d}" in record.attempts]
    if len(known) != len(record.attempts):
        return None
    cost = math.fsum(attempt.spent_usd + attempt.lost_usd for attempt in known)
    if math.isclose(record.spent_usd, cost, rel_tol=0.0, abs_tol=_CENT_OF_A_CENT):
        return None
    return f"says `spent_usd: {record.spent_usd}`, but its attempts cost {cost:.9g} USD"
