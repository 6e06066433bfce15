"""The last line of `tamesu run --json`: where each eval stands; schemas/output/run.schema.json documents it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tamesu.base.canonical import Json
from tamesu.base.model.plan import Slot
from tamesu.cli.outcome import EvalOutcome
from tamesu.edge.store.paths import Project
from tamesu.stages.clock import now


def outcome_json(
    project: Project, found: Sequence[EvalOutcome], left_out: Sequence[str], exit_code: int
) -> Mapping[str, object]:
    """Return the outcome of an invocation that may have worked."""
    return {
        "event": "outcome",
        "time": now(),
        "exit_code": exit_code,
        "project": str(project.root),
        "left_out": list(left_out),
        "evals": [_eval(one) for one in found],
    }


def _eval(one: EvalOutcome) -> Json:
    plan = one.planned.plan
    return {
        "eval": str(plan.ref),
        "status": one.summary.status,
        "recorded": one.summary.recorded is not None,
        "runs": len(plan.slots),
        "banked": len(plan.slots) - len(plan.incomplete),
        "spent_usd": plan.spent_usd,
        "not_banked": [_slot(slot) for slot in plan.incomplete],
        "judgments_owed": 0 if one.judging is None else one.judging.owed,
        "files": list(one.files),
    }


def _slot(slot: Slot) -> Json:
    return {
        "run_id": slot.spec.run_id,
        "state": slot.state.value,
        "planned": len(slot.spec.items),
        "complete": slot.complete,
        "failed": slot.failed,
        "problem": slot.problem or slot.failure,
    }
