"""Planning: what is owed of an eval, worked off in which launches, at which price, and what forbids it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from tamesu.base.canonical import Json, digest
from tamesu.base.model.evidence import Balance, RunRecord
from tamesu.base.model.manifest import Eval
from tamesu.base.model.plan import EvalPlan, Launch, Slot, SlotState, Stray
from tamesu.core.matrix import Matrix
from tamesu.core.slots import NOTHING, RunEvidence, reopened_slot, slot
from tamesu.core.staleness import found_run


class Grouping(StrEnum):
    """How owed runs become launches: one process for many, or one job per run (bare Snakemake)."""

    BATCHED = "batched"
    SINGLE = "single"


class Retries(StrEnum):
    """Whether items that are final by failure stay so, or are asked once more (`resume --again`)."""

    BOUNDED = "bounded"
    AGAIN = "again"


@dataclass(frozen=True, slots=True)
class Situation:
    """What lies on disk for an eval: evidence per planned run, other runs, who holds them, the ledger, versions."""

    evidence: Mapping[str, RunEvidence]
    others: tuple[RunRecord, ...]
    balance: Balance
    strays: tuple[Stray, ...]
    installed_inspect: str
    pinned_inspect: str


def plan(evaluation: Eval, runs: Matrix, situation: Situation, grouping: Grouping, retries: Retries) -> EvalPlan:
    """Return what is owed, in launches, with its price and what blocks it."""
    judge = reopened_slot if retries is Retries.AGAIN else slot
    slots = tuple(judge(spec, situation.evidence.get(spec.run_id, NOTHING)) for spec in runs.runs)
    launches = tuple(_launches(evaluation, slots, grouping))
    changes = [found.policy_then for found in slots if found.policy_then]
    return EvalPlan(
        ref=evaluation.ref,
        slots=slots,
        found=tuple(found_run(record, runs.runs) for record in situation.others),
        launches=launches,
        spent_usd=situation.balance.spent_usd + situation.balance.lost_usd,
        reserved_usd=situation.balance.reserved_usd,
        budget_usd=evaluation.defaults.budget_usd,
        blockers=tuple(_blockers(evaluation, situation, launches)),
        strays=situation.strays,
        policy_changed=changes[0] if changes else None,
    )


def _blockers(evaluation: Eval, situation: Situation, launches: Sequence[Launch]) -> Iterable[str]:
    if not any(launch.mode == "execute" for launch in launches):
        return
    if evaluation.status != "active":
        yield f"{evaluation.file}: status is '{evaluation.status}'; only 'active' may run"
    if situation.installed_inspect != situation.pinned_inspect:
        yield (
            f"inspect_ai {situation.installed_inspect} is installed but config/config.yaml pins "
            f"{situation.pinned_inspect}; install that version, or move the pin (evidence becomes stale)"
        )
    for image in evaluation.execution.images:
        if not image.pinned and image.locked is None:
            yield f"image '{image.reference}' is not locked; run `tamesu lock {evaluation.ref}`"
    exposure = sum(launch.exposure_usd for launch in launches)
    committed = situation.balance.total_usd
    if exposure > 0 and committed + exposure > evaluation.defaults.budget_usd + 1e-9:
        yield (
            f"{evaluation.file}: exposure of up to {exposure:.4f} USD plus {committed:.4f} USD spent or reserved "
            f"exceeds budget_usd {evaluation.defaults.budget_usd:.4f}; raise it or plan less"
        )


def _launches(evaluation: Eval, slots: Sequence[Slot], grouping: Grouping) -> Iterable[Launch]:
    work = [found for found in slots if found.state in {SlotState.OWED, SlotState.PARTIAL}]
    if grouping is Grouping.SINGLE:
        for found in work:
            yield make_launch(evaluation, [found])
        return
    ordered = sorted(work, key=_together)
    for _, members in groupby(ordered, key=_together):
        yield make_launch(evaluation, list(members))


def _together(found: Slot) -> str:
    """Runs may share a process when code, process-wide options and endpoint are the same."""
    spec = found.spec
    shared: dict[str, Json] = {
        "sources": [[source.target, source.sha256] for source in spec.executed],
        "task": f"{spec.task_file}:{spec.task_function}",
        "options": dict(spec.options),
        "concurrency": spec.concurrency,
        "endpoint": spec.endpoint,
    }
    return digest(shared)


def make_launch(evaluation: Eval, members: Sequence[Slot]) -> Launch:
    """Return the launch that works off the given slots; its id depends on runs and attempts alone."""
    runs = [found.spec.run_id for found in members]
    attempts = [found.next_attempt for found in members]
    asks = any(found.pending for found in members)
    named: list[Json] = [[run, attempt] for run, attempt in zip(runs, attempts, strict=True)]
    return Launch(
        id=digest([str(evaluation.ref), named, "execute" if asks else "ingest"])[:12],
        ref=evaluation.ref,
        runs=tuple(runs),
        mode="execute" if asks else "ingest",
        paid=any(found.spec.paid and found.pending for found in members),
        exposure_usd=sum(found.exposure_usd for found in members),
        next_attempts=tuple(attempts),
    )
