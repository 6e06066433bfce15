"""Commands that only read: plan and status."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from tamesu.base.errors import InvalidDocument
from tamesu.base.model.manifest import EvalRef
from tamesu.base.model.plan import EvalPlan, FoundRun, Slot, SlotState
from tamesu.cli.session import chosen, emit_json, project_here, say
from tamesu.core.planning import Grouping, Retries
from tamesu.core.rows import SlotEvidence, build_rows
from tamesu.core.standing import Standing, standing
from tamesu.edge.documents.reading import Shelf
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.locks import describe
from tamesu.edge.store.paths import Project
from tamesu.stages.plan import Planned, digest_cache, plan_eval
from tamesu.stages.summary import slot_results
from tamesu.stages.workflow import slot_line


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
def plan(name: str | None, as_json: bool) -> None:
    """Show what is owed, what it may cost, and what blocks it."""
    project = project_here()
    planned = _planned(project, chosen(project, name))
    if as_json:
        emit_json([plan_view(one.plan) for one in planned])
        return
    for one in planned:
        _show_plan(one)


def plan_view(one: EvalPlan) -> dict[str, object]:
    """Return a plan as plain values for `--json`."""
    return {
        "eval": str(one.ref),
        "exposure_usd": one.exposure_usd,
        "spent_usd": one.spent_usd,
        "reserved_usd": one.reserved_usd,
        "budget_usd": one.budget_usd,
        "blockers": list(one.blockers),
        "policy_changed": one.policy_changed,
        "runs": [_slot_view(slot) for slot in one.slots],
        "found": [
            {"run_id": run.run_id, "kind": run.kind, "causes": list(run.causes), "redo_usd": run.redo_usd}
            for run in one.found
        ],
    }


def _slot_view(slot: Slot) -> dict[str, object]:
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
        "exposure_usd": slot.exposure_usd,
        "problem": slot.problem,
        "failure": slot.failure,
        "logs": "absent" if slot.logs_absent else "present",
        "holder": slot.holder,
    }


def _planned(project: Project, refs: tuple[EvalRef, ...]) -> list[Planned]:
    cache, shelf = digest_cache(project), Shelf()
    planned = [plan_eval(project, ref, Grouping.BATCHED, Retries.BOUNDED, cache, shelf) for ref in refs]
    cache.save()
    return planned


def _show_plan(one: Planned) -> None:
    plan = one.plan
    say(str(plan.ref))
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("model", "arm", "rep", "state", "items", "pending", "up to USD"):
        table.add_column(column, justify="left" if column in {"model", "arm", "state"} else "right")
    for slot in plan.slots:
        table.add_row(
            slot.spec.model,
            slot.spec.arm,
            str(slot.spec.repetition),
            slot.state.value,
            f"{slot.complete}/{len(slot.spec.items)}",
            str(len(slot.pending)),
            f"{slot.exposure_usd:.4f}" if slot.spec.paid else "free",
        )
    Console().print(table)
    say(
        f"exposure up to {plan.exposure_usd:.4f} USD, spent {plan.spent_usd:.4f}, "
        f"reserved {plan.reserved_usd:.4f}, budget {plan.budget_usd:.4f}"
    )
    for slot in plan.slots:
        if slot.problem or slot.failure:
            say(slot_line(slot))
    _show_notes(plan)


def _show_notes(plan: EvalPlan) -> None:
    for line in _found_lines(plan.found):
        say(line)
    if plan.policy_changed:
        say(f"policy changed after the evidence existed (was, now): {plan.policy_changed}")
    absent = sum(slot.logs_absent for slot in plan.slots)
    if absent:
        say(f"logs of {absent} run(s) are absent (a clone or package): figures stand, re-ingesting is not possible")
    for slot in plan.slots:
        if slot.holder is not None:
            say(f"running: {slot.spec.run_id} is held by {describe(slot.holder)}")
    for stray in plan.strays:
        say(f"running: {stray.run_id} is held by {describe(stray.holder)}; it is not in the plan")
    for blocker in plan.blockers:
        say(f"blocked: {blocker}")


def _found_lines(found: Sequence[FoundRun]) -> Iterator[str]:
    """One line per cause, since one edit makes many runs stale."""
    ordered = sorted(found, key=lambda run: (run.kind, run.causes))
    for (kind, causes), runs in groupby(ordered, key=lambda run: (run.kind, run.causes)):
        members = list(runs)
        yield f"{kind}: {len(members)} run(s) on disk, not counted: {'; '.join(causes)}; {_remedy(kind, members)}"


def _remedy(kind: str, members: Sequence[FoundRun]) -> str:
    if kind != "stale":
        return "kept"
    redo = sum(run.redo_usd for run in members)
    price = f"for up to {redo:.4f} USD" if redo > 0 else "for nothing"
    return f"put back what changed to bank them again for nothing, or redo them {price}"


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.option("--check", is_flag=True, help="Exit 1 when a run is not banked.")
def status(name: str | None, as_json: bool, check: bool) -> None:
    """Say where each eval stands."""
    project = project_here()
    cache, shelf = digest_cache(project), Shelf()
    incomplete = False
    views: list[dict[str, object]] = []
    for ref in chosen(project, name):
        try:
            one = plan_eval(project, ref, Grouping.BATCHED, Retries.BOUNDED, cache, shelf)
        except InvalidDocument as error:
            incomplete = True
            views.append({"eval": str(ref), "standing": Standing.INVALID.value, "problem": str(error)})
            if not as_json:
                say(f"{ref}: {Standing.INVALID.value}: {error}")
            continue
        incomplete = incomplete or bool(one.plan.incomplete)
        word = _standing(project, one, cache)
        views.append({"standing": word.value, **plan_view(one.plan)})
        if not as_json:
            _show_status(one, word)
    cache.save()
    if as_json:
        emit_json(views)
    if check and incomplete:
        raise SystemExit(1)


def _standing(project: Project, one: Planned, cache: DigestCache) -> Standing:
    slots = [SlotEvidence(slot.spec, slot.state, slot_results(project, slot, cache)) for slot in one.plan.slots]
    return standing(one.evaluation, one.plan.slots, build_rows(slots, one.evaluation.policy))


def _show_status(one: Planned, word: Standing) -> None:
    banked = sum(slot.state is SlotState.BANKED for slot in one.plan.slots)
    say(f"{one.plan.ref}: {word.value}; {banked}/{len(one.plan.slots)} runs banked")
    for slot in one.plan.incomplete:
        say(f"  {slot_line(slot)}")
    _show_notes(one.plan)
