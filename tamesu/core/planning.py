"""Planning: what is owed of an eval, worked off in which launches, at which price, and what forbids it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import groupby

from tamesu.base.canonical import Json, digest
from tamesu.base.model.manifest import Eval
from tamesu.base.model.plan import EvalPlan, Launch, Slot, SlotState
from tamesu.core.blockers import blockers
from tamesu.core.ledger import ledger_problem
from tamesu.core.matrix import Matrix
from tamesu.core.scope import ALL, Scope
from tamesu.core.situation import Situation
from tamesu.core.slots import NOTHING, reopened_slot, slot
from tamesu.core.staleness import edits_since, found_run


class Grouping(StrEnum):
    """How owed runs become launches: one process for many, or one job per run (bare Snakemake)."""

    BATCHED = "batched"
    SINGLE = "single"


class Retries(StrEnum):
    """Whether items that are final by failure stay so, or are asked once more (`resume --again`)."""

    BOUNDED = "bounded"
    AGAIN = "again"


def plan(
    evaluation: Eval, runs: Matrix, situation: Situation, grouping: Grouping, retries: Retries, scope: Scope = ALL
) -> EvalPlan:
    """Return what is owed, in launches of what is in `scope`, with its price and what blocks it."""
    judge = reopened_slot if retries is Retries.AGAIN else slot
    slots = tuple(
        replace(
            judge(spec, situation.evidence.get(spec.run_id, NOTHING)),
            spent_usd=situation.spent.get(spec.run_id, 0.0),
        )
        for spec in runs.runs
    )
    taken = [scope.narrowed(found) for found in slots if scope.takes(found.spec)]
    launches = tuple(_launches(evaluation, taken, grouping))
    changes = [found.policy_then for found in slots if found.policy_then]
    return EvalPlan(
        ref=evaluation.ref,
        slots=slots,
        found=(*(found_run(record, slots) for record in situation.others), *situation.damaged),
        launches=launches,
        spent_usd=situation.balance.spent_usd + situation.balance.lost_usd,
        reserved_usd=situation.balance.reserved_usd,
        budget_usd=evaluation.defaults.budget_usd,
        unpriced=situation.balance.unpriced,
        ledger_problem=ledger_problem(situation.balance, situation.recorded_usd),
        blockers=blockers(evaluation, situation, launches, runs.runs),
        strays=tuple(replace(stray, edits=edits_since(stray, slots)) for stray in situation.strays),
        policy_changed=changes[0] if changes else None,
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
        # where several models may be asked at a time, each gets a process of its own
        "endpoint": [spec.endpoint, None if spec.max_connections is None else spec.model_uri],
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
