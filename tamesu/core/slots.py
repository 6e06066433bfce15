"""What the evidence says about one planned run: its state, and what another attempt would ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tamesu.base.model.evidence import AttemptRecord, ItemEntry, RunRecord
from tamesu.base.model.plan import Holder, RunSpec, Slot, SlotState
from tamesu.core.aftermath import aftermath
from tamesu.core.drift import drift_line, drifted_attempts, drifted_items
from tamesu.core.identity import differences


@dataclass(frozen=True, slots=True)
class RunEvidence:
    """All that lies on disk for one run, as far as a plan needs it.

    `attempts` are the closed attempts, digest of their record included; `unclosed` says that a log lies
    there which no attempt record pins. `problem` is a line about evidence that does not verify.
    """

    record: RunRecord | None = None
    attempts: tuple[AttemptRecord, ...] = ()
    attempt_digests: Mapping[str, str] | None = None
    unclosed: bool = False
    holder: Holder | None = None
    problem: str | None = None
    logs_absent: bool = False


NOTHING = RunEvidence()
_CUT = ("Interrupted: ", "MissingSample: ")


def is_final(entry: ItemEntry, max_attempts: int) -> bool:
    """Return whether no further attempt will be made at an item under the bound of now."""
    return entry.state == "complete" or not entry.retryable or entry.attempts >= max_attempts


def slot(spec: RunSpec, evidence: RunEvidence) -> Slot:
    """Return where a slot of the plan stands, judged by item states and the policy of now."""
    record = evidence.record
    items: Mapping[str, ItemEntry] = {} if record is None else record.items
    complete = sum(entry.state == "complete" for entry in items.values())
    pending = _pending(spec, items)
    unclosed = evidence.unclosed or _not_ingested(evidence)
    waiting = _finished_elsewhere(evidence)
    if waiting:
        pending = tuple(name for name in pending if name not in waiting)
    problem = record_problem(spec, evidence)
    drift = drift_line(drifted_attempts(evidence.attempts))
    if not unclosed:
        # while an ingestion is owed, results may lie there that run.yml does not know yet
        problem = problem or evidence.problem
    if record is not None and record.error is not None and not unclosed:
        problem = problem or f"{record.error.type}: {record.error.message}"
    state = _state(spec, evidence, pending, complete, problem, unclosed)
    cut = {name for name, entry in items.items() if _is_cut(entry, spec.max_attempts)}
    if drift is not None and state in {SlotState.PARTIAL, SlotState.BANKED, SlotState.FAILED} and not unclosed:
        state, problem = SlotState.DRIFTED, problem or drift
    return Slot(
        spec=spec,
        state=state,
        complete=complete,
        failed=len(items) - complete - len(cut),
        pending=pending if state in {SlotState.OWED, SlotState.PARTIAL} else (),
        next_attempt=1 + max((attempt.attempt for attempt in evidence.attempts), default=0),
        unclosed=unclosed,
        holder=evidence.holder,
        problem=problem,
        failure=_first_failure({name: entry for name, entry in items.items() if name not in cut}),
        logs_absent=evidence.logs_absent,
        policy_then=_policy_change(spec, record),
        story=aftermath(state, evidence.holder, evidence.unclosed, evidence.attempts, pending, len(spec.items)),
    )


def _is_cut(entry: ItemEntry, max_attempts: int) -> bool:
    """Return whether an item has not failed: the end of a process came before its sample did, and it is asked again."""
    return not is_final(entry, max_attempts) and (entry.error or "").startswith(_CUT)


def _pending(spec: RunSpec, items: Mapping[str, ItemEntry]) -> tuple[str, ...]:
    if not items:
        return spec.items
    return tuple(name for name in spec.items if name not in items or not is_final(items[name], spec.max_attempts))


def reopened_slot(spec: RunSpec, evidence: RunEvidence) -> Slot:
    """Return the slot with every item that is not complete asked again, whatever its attempts.

    Evidence that does not verify stays failed: it must be restored, not paid for again.
    """
    found = slot(spec, evidence)
    verified = evidence.problem is None and _identity_problem(spec, evidence.record) is None
    if found.state not in {SlotState.FAILED, SlotState.DRIFTED} or not verified or evidence.record is None:
        return found
    items, drifted = evidence.record.items, drifted_items(evidence.attempts)
    pending = tuple(
        name for name in spec.items if name not in items or items[name].state != "complete" or name in drifted
    )
    return replace(found, state=SlotState.PARTIAL, pending=pending, problem=None)


def _first_failure(items: Mapping[str, ItemEntry]) -> str | None:
    failed = (f"{name}: {entry.error}" for name, entry in items.items() if entry.error is not None)
    return next(failed, None)


def _state(
    spec: RunSpec,
    evidence: RunEvidence,
    pending: Sequence[str],
    complete: int,
    problem: str | None,
    unclosed: bool,
) -> SlotState:
    if evidence.holder is not None:
        return SlotState.RUNNING
    if problem is not None:
        return SlotState.FAILED
    if evidence.record is None and not evidence.attempts and not unclosed:
        return SlotState.OWED
    if pending or unclosed:
        return SlotState.PARTIAL
    failed = len(spec.items) - complete
    tolerated = complete > 0 and failed <= spec.policy.tolerate_failed * len(spec.items)
    return SlotState.BANKED if tolerated else SlotState.FAILED


def record_problem(spec: RunSpec, evidence: RunEvidence) -> str | None:
    """Return a line about a run.yml that is of another run, or whose attempts were altered; None when all is well."""
    return _identity_problem(spec, evidence.record) or _altered_attempt(evidence)


def _identity_problem(spec: RunSpec, record: RunRecord | None) -> str | None:
    if record is None:
        return None
    found, planned = record.identity, spec.identity
    same = (
        record.run_id == spec.run_id
        and found.version == planned.version
        and found.generation_digest == planned.generation_digest
        and found.scoring_digest == planned.scoring_digest
    )
    if same and not _sample_mismatch(spec, record):
        if record.planned == len(spec.items):
            return None
        return f"run.yml says `planned: {record.planned}`, but the run has {len(spec.items)} items; restore it"
    return "run.yml belongs to another identity than its folder's name; restore it from version control"


def _sample_mismatch(spec: RunSpec, record: RunRecord) -> bool:
    """Completeness is the same set of items with the same content, never a count."""
    unplanned = set(record.items) - set(spec.items)
    return bool(unplanned) or any(entry.sample != spec.sample_digests[name] for name, entry in record.items.items())


def _not_ingested(evidence: RunEvidence) -> bool:
    """Closed attempts that run.yml does not know yet."""
    ingested = {} if evidence.record is None else evidence.record.attempts
    return any(number not in ingested for number in evidence.attempt_digests or {})


def _finished_elsewhere(evidence: RunEvidence) -> frozenset[str]:
    """Items that closed attempts finished and ingestion has still to judge; they are not asked meanwhile."""
    ingested = {} if evidence.record is None else evidence.record.attempts
    waiting = (attempt for attempt in evidence.attempts if f"{attempt.attempt:02d}" not in ingested)
    return frozenset(item for attempt in waiting for item in attempt.finished)


def _altered_attempt(evidence: RunEvidence) -> str | None:
    """Attempts that run.yml knows must be there as they were."""
    found = evidence.attempt_digests or {}
    for number, sha256 in ({} if evidence.record is None else evidence.record.attempts).items():
        if found.get(number) != sha256:
            return f"attempts/{number}.yml: differs from its inventory; restore it from version control"
    return None


def _policy_change(spec: RunSpec, record: RunRecord | None) -> str | None:
    if record is None or record.identity.judgement_digest == spec.identity.judgement_digest:
        return None
    changed = differences(record.identity.judgement, spec.identity.judgement)
    return "; ".join(str(difference) for difference in changed)
