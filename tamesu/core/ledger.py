"""The ledger summed up: money spent, lost and still reserved."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from tamesu.base.model.evidence import Balance, LedgerEntry


def open_reservations(entries: Iterable[LedgerEntry]) -> dict[tuple[str, int], LedgerEntry]:
    """Return the reservations that no attempt record has released, by run and attempt."""
    reserved: dict[tuple[str, int], LedgerEntry] = {}
    for entry in entries:
        if entry.event == "reserved":
            reserved[entry.run_id, entry.attempt] = entry
        else:
            reserved.pop((entry.run_id, entry.attempt), None)
    return reserved


def settlements(entries: Iterable[LedgerEntry]) -> dict[tuple[str, int], LedgerEntry]:
    """Return the settlement of each attempt; a second one of the same attempt does not count again.

    A reservation whose attempt never began is released with a settlement of nothing; when the attempt is
    reserved anew, that release gives way to what the attempt will have cost.
    """
    settled: dict[tuple[str, int], LedgerEntry] = {}
    for entry in entries:
        key = (entry.run_id, entry.attempt)
        if entry.event == "settled":
            settled.setdefault(key, entry)
        elif key in settled and _nothing(settled[key]):
            del settled[key]
    return settled


def next_probe(entries: Iterable[LedgerEntry], run_id: str) -> int:
    """Return the number of a run's next probe: they count down from -1, so that no attempt shares an entry."""
    return min((entry.attempt for entry in entries if entry.run_id == run_id and entry.attempt < 0), default=0) - 1


def balance(entries: Sequence[LedgerEntry]) -> Balance:
    """Return what stands in the ledger, in US dollars; runs that are stale now are included."""
    settled = settlements(entries).values()
    return Balance(
        spent_usd=_total(entry.spent_usd for entry in settled),
        lost_usd=_total(entry.lost_usd for entry in settled),
        reserved_usd=_total(entry.usd for entry in open_reservations(entries).values()),
        unpriced=sum(entry.unpriced for entry in settled),
    )


def ledger_problem(known: Balance, recorded_usd: float) -> str | None:
    """Return a line when runs on disk say that they cost more, in US dollars, than the ledger knows of."""
    settled = known.spent_usd + known.lost_usd
    if recorded_usd <= settled + 1e-6:
        return None
    return (
        f"runs on disk cost {recorded_usd:.4f} USD but ledger.jsonl knows of {settled:.4f}; restore it "
        "from version control, or the budget would be spent twice"
    )


def unpriced_words(samples: int) -> str:
    """Return what is to be said beside an amount that lacks so many samples."""
    what = "1 sample costs" if samples == 1 else f"{samples} samples cost"
    return f"what {what} is not known, as nobody knew the price"


def spent_by_run(entries: Sequence[LedgerEntry]) -> dict[str, float]:
    """Return what each run has spent and lost, in US dollars."""
    totals: dict[str, list[float]] = {}
    for (run_id, _), entry in settlements(entries).items():
        totals.setdefault(run_id, []).extend((entry.spent_usd, entry.lost_usd))
    return {run_id: _total(amounts) for run_id, amounts in totals.items()}


def invocation_total(entries: Sequence[LedgerEntry], invocation: str) -> float:
    """Return what one invocation has spent, lost and reserved so far, in US dollars."""
    own = [entry for entry in entries if entry.invocation == invocation]
    return balance(own).total_usd


def _nothing(entry: LedgerEntry) -> bool:
    return entry.spent_usd == entry.lost_usd == entry.unpriced == 0


def _total(amounts: Iterable[float]) -> float:
    return round(math.fsum(amounts), 9)
