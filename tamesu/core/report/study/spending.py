"""What an eval may still cost and what it has cost, by model; money of runs that are not counted by itself."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tamesu.base.model.evidence import Balance, LedgerEntry
from tamesu.base.model.plan import Slot
from tamesu.core.ledger import settlements


@dataclass(frozen=True, slots=True)
class Spending:
    """US dollars of one model's runs: at most to come (None: nothing bounds it), spent by usage, lost at most."""

    name: str
    to_come_usd: float | None
    spent_usd: float
    lost_usd: float


NOT_COUNTED = "runs that are not counted"
JUDGES = "model judges"


def spending(slots: Sequence[Slot], entries: Sequence[LedgerEntry], judges: Balance | None) -> tuple[Spending, ...]:
    """Return a line per model in the order of the plan, then runs that serve no slot, then judges by their ledger."""
    settled = [(run_id, entry) for (run_id, _), entry in settlements(entries).items()]
    planned = {slot.spec.run_id for slot in slots}
    lines = []
    for name in dict.fromkeys(_label(slot) for slot in slots):
        own = [slot for slot in slots if _label(slot) == name]
        bounded = all(slot.spec.bounded or not slot.pending for slot in own)
        runs = {slot.spec.run_id for slot in own}
        to_come = math.fsum(slot.exposure_usd for slot in own) if bounded else None
        lines.append(_line(name, to_come, [entry for run_id, entry in settled if run_id in runs]))
    others = [entry for run_id, entry in settled if run_id not in planned]
    if others:
        lines.append(_line(NOT_COUNTED, 0.0, others))
    if judges is not None and judges.total_usd:
        lines.append(Spending(JUDGES, None, judges.spent_usd, judges.lost_usd))
    return tuple(lines)


def _label(slot: Slot) -> str:
    return f"{slot.spec.provider}/{slot.spec.model}"


def _line(name: str, to_come: float | None, entries: Iterable[LedgerEntry]) -> Spending:
    own = list(entries)
    return Spending(
        name, to_come, math.fsum(entry.spent_usd for entry in own), math.fsum(entry.lost_usd for entry in own)
    )
