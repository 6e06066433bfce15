"""A plan as plain values for `--json`; schemas/output/plan.schema.json documents every field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from tamesu.base.canonical import Json
from tamesu.base.model.judging import JudgePlan, JudgeStanding
from tamesu.base.model.manifest import Eval
from tamesu.base.model.plan import EvalPlan, FoundRun, RunSpec, Slot
from tamesu.base.model.sizing import Sizing
from tamesu.core.freeze import shown_pictures
from tamesu.core.matrix import Matrix
from tamesu.core.parameters import split_parameters
from tamesu.core.routes import protocol_of
from tamesu.stages.plan import Planned

PLAN_VERSION = 1


def plan_json(planned: Planned, sizing: Sizing | None, judging: JudgePlan) -> dict[str, object]:
    """Return one eval's plan; `sizing` is null when several evals are planned at once."""
    evaluation = planned.evaluation
    return {
        "schema_version": PLAN_VERSION,
        "status": evaluation.status,
        "matrix": _matrix(evaluation, planned.plan),
        **standing_json(planned.plan, judging),
        "first_items": list(_first_items(evaluation, planned.matrix)),
        "sizing": None if sizing is None else asdict(sizing),
    }


def standing_json(plan: EvalPlan, judging: JudgePlan) -> dict[str, object]:
    """Return money, blockers, runs and judges of a plan: what `status` tells as well."""
    return {
        "eval": str(plan.ref),
        "exposure_usd": plan.exposure_usd if plan.exposure_known else None,
        "spent_usd": plan.spent_usd,
        "unpriced_samples": plan.unpriced,
        "reserved_usd": plan.reserved_usd,
        "budget_usd": plan.budget_usd,
        "blockers": [{"kind": blocker.kind, "message": blocker.message} for blocker in plan.blockers],
        "policy_changed": plan.policy_changed,
        "runs": [_slot(slot) for slot in plan.slots],
        "found": [_found(run) for run in plan.found],
        "judging": _judging(judging),
    }


def _judging(plan: JudgePlan) -> Json:
    return {
        "spent_usd": plan.spent_usd,
        "reserved_usd": plan.reserved_usd,
        "budget_usd": plan.budget_usd,
        "blockers": [{"kind": blocker.kind, "message": blocker.message} for blocker in plan.blockers],
        "judges": [_judge(one) for one in plan.judges],
    }


def _judge(one: JudgeStanding) -> Json:
    known = not one.paid or one.largest_call_usd is not None
    return {
        "judge": one.judge,
        "role": one.role,
        "provider": one.provider,
        "model": one.model,
        "recorded": one.recorded,
        "planned": one.planned,
        "counted": one.counted,
        "owed": one.owed,
        "askable": one.askable,
        "stale": one.stale,
        "exposure_usd": one.exposure_usd if known else None,
    }


def _matrix(evaluation: Eval, plan: EvalPlan) -> Json:
    cells = dict.fromkeys((slot.spec.provider, slot.spec.model) for slot in plan.slots)
    return {
        "models": [f"{provider}/{model}" for provider, model in cells],
        "arms": [arm.id for arm in evaluation.arms],
        "repetitions": max((slot.spec.repetition for slot in plan.slots), default=0),
        "items": max((len(slot.spec.items) for slot in plan.slots), default=0),
        "runs": len(plan.slots),
        "samples": sum(len(slot.spec.items) for slot in plan.slots),
    }


def _slot(slot: Slot) -> dict[str, object]:
    return {
        "run_id": slot.spec.run_id,
        "provider": slot.spec.provider,
        "model": slot.spec.model,
        "arm": slot.spec.arm,
        "repetition": slot.spec.repetition,
        "state": slot.state.value,
        "planned": len(slot.spec.items),
        "complete": slot.complete,
        "failed": slot.failed,
        "pending": len(slot.pending),
        "exposure_usd": slot.exposure_usd if slot.spec.bounded else None,
        "spent_usd": slot.spent_usd,
        "problem": slot.problem,
        "failure": slot.failure,
        "logs": "absent" if slot.logs_absent else "present",
        "holder": None if slot.holder is None else asdict(slot.holder),
    }


def _found(run: FoundRun) -> Json:
    return {
        "run_id": run.run_id,
        "kind": run.kind,
        "causes": list(run.causes),
        "redo_usd": run.redo_usd,
        "remedy": run.remedy,
    }


def _first_items(evaluation: Eval, matrix: Matrix) -> Iterator[Json]:
    for arm in evaluation.arms:
        samples = matrix.datasets[arm.id].samples
        if samples:
            yield {
                "arm": arm.id,
                "item": samples[0].item,
                "messages": [{"role": message.role, "content": message.content} for message in samples[0].messages],
                "files": [
                    {"path": file.path, "sha256": file.sha256}
                    for file in shown_pictures(evaluation.dataset, arm, samples[0])
                ],
                "calls": [_call(spec) for spec in matrix.runs if spec.arm == arm.id and spec.repetition == 1],
            }


def _call(spec: RunSpec) -> Json:
    split = split_parameters(spec.parameters, protocol_of(spec.provider))
    return {
        "provider": spec.provider,
        "model": spec.model,
        "parameters": dict(split.config),
        "extra_body": dict(split.extra_body),
    }
