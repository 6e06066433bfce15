"""The summary of an eval from verified evidence, and the digest of all that it is made from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict

from tamesu.base.canonical import Json, digest
from tamesu.base.model.evidence import ItemResult
from tamesu.base.model.judgement import ClosingRecord
from tamesu.base.model.manifest import EvalRef
from tamesu.base.model.plan import EvalPlan, Slot, SlotState
from tamesu.core.closing import closing_evidence, closing_remarks, closing_state
from tamesu.core.ledger import balance
from tamesu.core.report.summary import EvalSummary, summarise
from tamesu.core.rows import ItemRow, SlotEvidence, build_rows
from tamesu.core.standing import Standing, standing
from tamesu.core.trust import trusted_remarks
from tamesu.edge.store.closings import parse_closing
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.journal import read_ledger
from tamesu.edge.store.judged import judged_digest, read_judged
from tamesu.edge.store.parsed import read_results
from tamesu.edge.store.paths import Project
from tamesu.stages.plan import Planned

VIEWS_VERSION = 8  # raised when the same evidence yields other views


def evidence_digest(project: Project, planned: Planned, cache: DigestCache) -> str:
    """Return the digest of everything that the views of an eval are made from.

    Runs count by run ID, state and the digest of run.yml (which pins every result and artifact), reviews and judgments
    by their bytes, policy by its values, ledgers by their sums, the manifest by what the views print of it.
    """
    evaluation, plan = planned.evaluation, planned.plan
    paths = project.eval(evaluation.ref)
    judges: dict[str, Json] = {}
    if evaluation.policy.judges:
        money = balance(read_ledger(paths.judge_ledger))
        judges = {"judge_ledger": [money.spent_usd, money.lost_usd, money.reserved_usd]}
    slots: list[Json] = []
    for slot in plan.slots:
        record = paths.run(slot.spec.run_id).record
        known = cache.digest(record) if record.exists() else None
        judged = judged_digest(paths.run(slot.spec.run_id), cache)
        slots.append([slot.spec.run_id, _settled_state(slot), known, slot.problem, judged])
    return digest(
        {
            "views": VIEWS_VERSION,
            "eval": [str(evaluation.ref), evaluation.name, evaluation.question, evaluation.description],
            "status": evaluation.status,
            "closing": cache.digest(paths.closing) if paths.closing.exists() else None,
            "policy": dict(plan.slots[0].spec.identity.judgement) if plan.slots else None,
            "policy_changed": plan.policy_changed,
            "slots": slots,
            "found": [asdict(run) | {"causes": list(run.causes)} for run in plan.found],
            "ledger": [plan.spent_usd, plan.reserved_usd],
            **judges,
        }
    )


def _settled_state(slot: Slot) -> str:
    """A running slot counts as what its evidence says, since a view outlives the process."""
    return SlotState.PARTIAL.value if slot.state is SlotState.RUNNING else slot.state.value


def slot_results(project: Project, slot: Slot, cache: DigestCache) -> dict[str, ItemResult]:
    """Return the item results of a slot; none when its evidence does not verify or is not ingested."""
    run = project.eval(slot.spec.ref).run(slot.spec.run_id)
    if slot.problem is not None or slot.unclosed or not run.record.exists():
        return {}
    return read_results(project, run, cache)


def slot_evidence(project: Project, planned: Planned, slot: Slot, cache: DigestCache) -> SlotEvidence:
    """Return the results of a slot and what was said of them. Raises EvidenceError for a record that is not one."""
    judged = read_judged(project, project.eval(slot.spec.ref).run(slot.spec.run_id), cache)
    return SlotEvidence(slot.spec, slot.state, slot_results(project, slot, cache), judged, planned.matrix.expects)


def eval_rows(project: Project, planned: Planned, cache: DigestCache) -> tuple[ItemRow, ...]:
    """Return the rows of all planned items. Raises EvidenceError for a record that is not one."""
    slots = [slot_evidence(project, planned, slot, cache) for slot in planned.plan.slots]
    return build_rows(slots, planned.evaluation.policy)


def read_closing(project: Project, ref: EvalRef) -> ClosingRecord | None:
    """Return closing.yml, None when there is none. Raises EvidenceError when it does not parse."""
    path = project.eval(ref).closing
    return parse_closing(path.read_bytes(), str(path)) if path.exists() else None


def closing_digest(project: Project, planned: Planned, cache: DigestCache) -> str:
    """Return the digest of what a closing of this eval would be about now."""
    runs, slots = project.eval(planned.evaluation.ref), planned.plan.slots
    known = {}
    for slot in slots:
        run = runs.run(slot.spec.run_id)
        record = cache.digest(run.record) if run.record.exists() else None
        known[slot.spec.run_id] = (record, judged_digest(run, cache))
    return closing_evidence(known, slots[0].spec.identity.judgement if slots else {})


def eval_standing(project: Project, planned: Planned, rows: Iterable[ItemRow], cache: DigestCache) -> Standing:
    """Return the word for where an eval stands; `rows` are looked at only when every run is banked."""
    record = read_closing(project, planned.evaluation.ref)
    state = closing_state(record, closing_digest(project, planned, cache))
    return standing(planned.evaluation, planned.plan.slots, rows, state)


def summarise_eval(project: Project, planned: Planned, cache: DigestCache) -> EvalSummary:
    """Return the summary of an eval as it stands on disk now."""
    evaluation, plan = planned.evaluation, planned.plan
    slots = [slot_evidence(project, planned, slot, cache) for slot in plan.slots]
    rows = build_rows(slots, evaluation.policy)
    return summarise(
        evaluation,
        slots,
        status=eval_standing(project, planned, rows, cache).value,
        balance=balance(read_ledger(project.eval(evaluation.ref).ledger)),
        evidence=evidence_digest(project, planned, cache),
        found=plan.found,
        policy_changed=plan.policy_changed,
        remarks=(
            *_ledger_remarks(plan),
            *_uncounted(plan),
            *closing_notes(project, planned, cache),
            *_remarks(planned),
        ),
        judge_balance=balance(read_ledger(project.eval(evaluation.ref).judge_ledger)),
    )


def closing_notes(project: Project, planned: Planned, cache: DigestCache) -> tuple[str, ...]:
    """Return what is to be said of how an eval was closed. Raises EvidenceError when closing.yml does not parse."""
    record = read_closing(project, planned.evaluation.ref)
    return closing_remarks(record, closing_digest(project, planned, cache), planned.evaluation.status)


def _ledger_remarks(plan: EvalPlan) -> tuple[str, ...]:
    return () if plan.ledger_problem is None else (plan.ledger_problem,)


def _uncounted(plan: EvalPlan) -> Iterator[str]:
    """Yield why a run that lies there is in no figure: nothing of evidence that does not verify is shown."""
    for slot in plan.slots:
        if slot.state is SlotState.FAILED and slot.problem is not None:
            yield f"{slot.spec.run_id}: {slot.problem}; its answers are in no figure and stand as owed"


def _remarks(planned: Planned) -> tuple[str, ...]:
    """Return what the planned runs on disk say of how they were served, and on whose word foreign code ran."""
    slots = {slot.spec.run_id for slot in planned.plan.slots}
    own = [record for record in planned.records if record.run_id in slots]
    served = tuple(
        f"{record.model} x {record.arm} rep {record.repetition}: {remark}"
        for record in own
        for remark in record.execution.remarks
    )
    return (*served, *trusted_remarks(record.execution.trusted_code for record in own))
