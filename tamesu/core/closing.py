"""Closing an eval: what is still owed, what may be waived, and whether a closing is about the evidence of now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from tamesu.base.canonical import Json, digest
from tamesu.base.model.judgement import Closing, ClosingRecord, Waiver
from tamesu.base.model.manifest import Policy
from tamesu.base.model.plan import Slot, SlotState
from tamesu.core.report.figures import count
from tamesu.core.rows import ItemRow

MOST_NAMED = 10  # items in one line


class ClosingState(Enum):
    """Whether an eval was ever closed, and whether that was on the evidence of now."""

    NONE = "never closed"
    CURRENT = "closed on this evidence"
    OUTDATED = "closed on other evidence"


@dataclass(frozen=True, slots=True)
class Owed:
    """What an eval owes: runs that are not banked, which nothing waives, and judgement, which a person may waive."""

    runs: tuple[Slot, ...]
    judgement: tuple[Waiver, ...]


def owed_evidence(slots: Sequence[Slot], rows: Sequence[ItemRow], policy: Policy) -> Owed:
    """Return everything that is declared and not there."""
    return Owed(
        runs=tuple(slot for slot in slots if slot.state is not SlotState.BANKED),
        judgement=tuple(_judgement(rows, policy)),
    )


def waiver_line(waiver: Waiver) -> str:
    """Return what is owed of one kind in one run, in one line."""
    named = ", ".join(waiver.items[:MOST_NAMED])
    left = len(waiver.items) - MOST_NAMED
    more = f" and {left} more" if left > 0 else ""
    return f"{waiver.run_id}: {_kind(waiver.kind, len(waiver.items))} owed: {named}{more}"


def closing_evidence(runs: Mapping[str, tuple[str | None, str | None]], judgement: Mapping[str, Json]) -> str:
    """Return the digest of what a closing is about.

    `runs` maps each planned run to the digests of its run.yml and of what was said of its items, `judgement` is the
    policy. Names, descriptions and the manifest's status do not count.
    """
    return digest({"runs": {run: list[Json](known) for run, known in runs.items()}, "judgement": dict(judgement)})


def last_closing(record: ClosingRecord | None) -> Closing | None:
    """Return the closing that counts, None when there was none."""
    return record.closings[-1] if record is not None and record.closings else None


def closing_state(record: ClosingRecord | None, evidence: str) -> ClosingState:
    """Return whether the last closing is about the evidence of now."""
    last = last_closing(record)
    if last is None:
        return ClosingState.NONE
    return ClosingState.CURRENT if last.evidence == evidence else ClosingState.OUTDATED


def closing_remarks(record: ClosingRecord | None, evidence: str, status: str) -> tuple[str, ...]:
    """Return what stands beside the figures of an eval that was closed, or says so."""
    last = last_closing(record)
    if last is None:
        return ("its status is complete and closing.yml records no closing; close it",) if status == "complete" else ()
    if last.evidence != evidence:
        return (f"evidence or policy changed after this eval was closed on {last.time}; close it again",)
    if status != "complete":
        return (f"closed on {last.time} and opened again since",)
    if not last.waived:
        return ()
    owed = ", ".join(_kind(kind, number) for kind, number in _by_kind(last.waived).items())
    return (f"closed on {last.time} with evidence waived: {owed}; figures that need it are not known",)


def _judgement(rows: Sequence[ItemRow], policy: Policy) -> Iterator[Waiver]:
    for run in dict.fromkeys(row.run_id for row in rows):
        own = [row for row in rows if row.run_id == run]
        for kind in ("owed", "disagreement"):
            yield from _waiver(run, _REVIEW_KINDS[kind], [row.item for row in own if row.review == kind])
        for judge in policy.judges:
            found = [(row.item, row.judge(judge.id)) for row in own]
            owing = [item for item, verdict in found if verdict is not None and verdict.owed]
            yield from _waiver(run, f"judge:{judge.id}", owing)


_REVIEW_KINDS = {"owed": "review", "disagreement": "adjudication"}


def _waiver(run: str, kind: str, items: Sequence[str]) -> Iterator[Waiver]:
    if items:
        yield Waiver(kind, run, tuple(items))


def _kind(kind: str, number: int) -> str:
    word, _, judge = kind.partition(":")
    if judge:
        return f"{count(number, 'verdict')} of judge {judge}"
    return count(number, word)


def _by_kind(waived: Sequence[Waiver]) -> dict[str, int]:
    found: dict[str, int] = {}
    for waiver in waived:
        found[waiver.kind] = found.get(waiver.kind, 0) + len(waiver.items)
    return found
