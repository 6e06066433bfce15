"""A plan on the terminal: the matrix, money, precision, forecasts, what is sent first, and what blocks it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from tamesu.base.model.plan import EvalPlan, FoundRun, RoleRun, Slot, SlotState, Stray, is_paid, is_rented
from tamesu.base.model.sizing import Forecast, Pace, Precision, Sizing
from tamesu.cli.session import say
from tamesu.cli.tables import show_table
from tamesu.core.aftermath import describe
from tamesu.core.freeze import shown_pictures
from tamesu.core.ledger import unpriced_words
from tamesu.core.pace import KNOWN_SPREAD
from tamesu.stages.plan import Planned
from tamesu.stages.workflow import slot_line

SINGLE_ROWS = 40  # a longer plan is told by model, arm and state
_SHOWN_LINES = 3
_WORDS = frozenset({"model", "arm", "state"})
_SHOWN_CHARACTERS = 160


def show_plan(planned: Planned, sizing: Sizing, full_prompts: str) -> None:
    """Print everything about one eval's plan."""
    plan, evaluation = planned.plan, planned.evaluation
    say(f"{plan.ref} ({evaluation.status})")
    if evaluation.question:
        say(evaluation.question)
    say(_size_line(planned))
    for line in _roles(plan):
        say(line)
    show_table(*_table(plan.slots), words=_WORDS, keys=2)
    say(_money(plan))
    say(_precision(sizing.precision))
    for forecast in sizing.forecasts:
        if forecast.pending:
            say(_forecast(forecast))
    for line in sizing.advice:
        say(f"advice: {line}")
    for line in _first_items(planned, full_prompts):
        say(line)
    for slot in plan.slots:
        if slot.problem or slot.failure:
            say(slot_line(slot))
    show_notes(plan)


def _roles(plan: EvalPlan) -> list[str]:
    """Return a line per role: which model it is, and what a call of it may cost at most."""
    roles = {role.role: role for slot in plan.slots for role in slot.spec.roles}
    return [
        f"role {name}: {role.provider}/{role.model}{', recorded' if role.provider == 'replay' else ''}, "
        f"{_role_price(role)}"
        for name, role in sorted(roles.items())
    ]


def _role_price(role: RoleRun) -> str:
    if role.price is None:
        return "price not known"
    if not is_paid(role.price):
        return "free"
    if is_rented(role.price):
        return "rented by the hour"
    largest = role.largest_call_usd
    return "nothing bounds what a call costs" if largest is None else f"up to {largest:.4f} USD a call"


def show_overview(planned: Sequence[Planned]) -> None:
    """Print one line per eval, and below it what needs attention."""
    for one in planned:
        plan = one.plan
        banked = sum(slot.state is SlotState.BANKED for slot in plan.slots)
        owed = sum(len(slot.pending) for slot in plan.slots)
        price = _exposure(plan.slots)
        told = {"free": "free", "unknown": "price not known"}.get(price, f"up to {price} USD")
        say(
            f"{plan.ref}: {one.evaluation.status}; {banked}/{len(plan.slots)} runs banked, {owed} items owed, {told}; "
            f"spent {plan.spent_usd:.4f} of {plan.budget_usd:.4f} USD{_unpriced(plan)}"
        )
        for line in _notes(plan):
            say(f"  {line}")
    say("name an eval to see its runs, prompts and sizing")


def show_notes(plan: EvalPlan) -> None:
    """Print what needs attention: stale runs, changed policy, absent logs, who is at work, blockers."""
    for line in _notes(plan):
        say(line)


def _size_line(planned: Planned) -> str:
    slots = planned.plan.slots
    models = len({(slot.spec.provider, slot.spec.model) for slot in slots})
    arms = len({slot.spec.arm for slot in slots})
    repetitions = max((slot.spec.repetition for slot in slots), default=0)
    items = max((len(slot.spec.items) for slot in slots), default=0)
    samples = sum(len(slot.spec.items) for slot in slots)
    parts = ((models, "model"), (arms, "arm"), (repetitions, "repetition"))
    counted = ", ".join(f"{count} {word}{'s' * (count != 1)}" for count, word in parts)
    return f"{counted}: {len(slots)} run{'s' * (len(slots) != 1)} of {items} items, {samples} samples"


def _table(slots: Sequence[Slot]) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of the matrix."""
    single, spent = len(slots) <= SINGLE_ROWS, any(slot.spent_usd for slot in slots)
    header = ["model", "arm", "rep" if single else "runs", "state", "items", "pending"]
    header += [*(("spent USD",) if spent else ()), "up to USD"]
    rows = []
    for members in [[slot] for slot in slots] if single else grouped(slots):
        first = members[0]
        row = [
            first.spec.model,
            first.spec.arm,
            str(first.spec.repetition if single else len(members)),
            first.state.value,
            f"{sum(slot.complete for slot in members)}/{sum(len(slot.spec.items) for slot in members)}",
            str(sum(len(slot.pending) for slot in members)),
        ]
        row += [f"{sum(slot.spent_usd for slot in members):.4f}"] if spent else []
        rows.append([*row, _exposure(members)])
    return header, rows


def grouped(slots: Sequence[Slot]) -> list[list[Slot]]:
    """Return the slots of each model, arm and state, in plan order."""
    groups: dict[tuple[str, str, str, SlotState], list[Slot]] = {}
    for slot in slots:
        groups.setdefault((slot.spec.provider, slot.spec.model, slot.spec.arm, slot.state), []).append(slot)
    return list(groups.values())


def _exposure(slots: Sequence[Slot]) -> str:
    if not any(slot.spec.paid for slot in slots):
        return "free"
    unknown = any(not slot.spec.bounded and slot.pending for slot in slots)
    return "unknown" if unknown else f"{sum(slot.exposure_usd for slot in slots):.4f}"


def _money(plan: EvalPlan) -> str:
    exposure = f"up to {plan.exposure_usd:.4f} USD" if plan.exposure_known else "not known"
    return (
        f"exposure {exposure}, spent {plan.spent_usd:.4f}, "
        f"reserved {plan.reserved_usd:.4f}, budget {plan.budget_usd:.4f}{_unpriced(plan)}"
    )


def _unpriced(plan: EvalPlan) -> str:
    return f"; {unpriced_words(plan.unpriced)}" if plan.unpriced else ""


def _precision(precision: Precision) -> str:
    half = precision.half_width
    told = "interval not known" if half is None else f"±{half:.3f} (95 %)"
    return (
        f"precision: {precision.metric} of one model x arm {told} from {precision.items} of "
        f"{precision.available} items; {precision.basis}"
    )


def _forecast(forecast: Forecast) -> str:
    label = f"forecast: {forecast.provider}/{forecast.model}: {forecast.pending} items owed"
    if forecast.pace is None:
        bound = "no bound" if forecast.exposure_usd is None else f"up to {forecast.exposure_usd:.4f} USD"
        price = "free; time" if forecast.usd == 0 else f"{bound}; price and time"
        return f"{label}, {price} not known (no earlier run)"
    parts = [label, _expected(forecast)]
    if forecast.usd_per_hour is not None:
        parts[-1] += f" of rent at {forecast.usd_per_hour:.2f} USD/h"
    if forecast.seconds is not None and forecast.pace.concurrency is not None:
        parts.append(f"{duration(forecast.seconds)} at {forecast.pace.concurrency:.1f} in flight as measured")
    if forecast.single_stream_seconds is not None:
        parts.append(f"{duration(forecast.single_stream_seconds)} one after the other")
    return f"{', '.join(parts)} ({_pilots(forecast.pace)})"


def _expected(forecast: Forecast) -> str:
    if forecast.exposure_usd == 0 and forecast.usd == 0:
        return "free"
    if forecast.usd is None:
        return "price not known" + (" (it changed since)" if forecast.pace is not None else "")
    return f"about {forecast.usd:.4f} USD"


def _pilots(pace: Pace) -> str:
    if pace.pilots < KNOWN_SPREAD:
        return f"{pace.pilots} pilot{'s' * (pace.pilots != 1)}, spread unknown"
    if pace.lowest_usd is None or pace.highest_usd is None:
        return f"{pace.pilots} runs"
    return f"{pace.pilots} runs, {pace.lowest_usd:.6f} to {pace.highest_usd:.6f} USD an item"


def duration(seconds: float) -> str:
    """Return seconds in the unit that people read."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _first_items(planned: Planned, full_prompts: str) -> Iterator[str]:
    for arm in planned.evaluation.arms:
        for sample in planned.matrix.datasets[arm.id].samples[:1]:
            yield f"first item of arm {arm.id}, as sent: {sample.item}"
            for message in sample.messages:
                lines = message.content.rstrip("\n").split("\n")
                shown = lines if full_prompts == arm.id else list(_shortened(lines, arm.id))
                for number, line in enumerate(shown):
                    yield f"  {message.role if number == 0 else '':<6} | {line}".rstrip()
            for file in shown_pictures(planned.evaluation.dataset, arm, sample):
                yield f"  {'file':<6} | {file.path} (sha256 {file.sha256[:12]})"


def _shortened(lines: Sequence[str], arm: str) -> Iterator[str]:
    """A prompt is recognised by its start; the whole of it is one option away."""
    for line in lines[:_SHOWN_LINES]:
        yield line if len(line) <= _SHOWN_CHARACTERS else f"{line[:_SHOWN_CHARACTERS]}…"
    if len(lines) > _SHOWN_LINES:
        yield f"… {len(lines) - _SHOWN_LINES} more lines, see --prompt {arm}"


def _notes(plan: EvalPlan) -> Iterator[str]:
    yield from found_lines(plan.found)
    if plan.policy_changed:
        yield f"policy changed after the evidence existed (was, now): {plan.policy_changed}"
    absent = sum(slot.logs_absent for slot in plan.slots)
    if absent:
        yield f"logs of {absent} run(s) are absent (a clone or package): figures stand, re-ingesting is not possible"
    for slot in plan.slots:
        if slot.holder is not None:
            yield f"running: {slot.spec.run_id} is held by {describe(slot.holder)}"
    for stray in plan.strays:
        yield f"running: {stray.run_id} is held by {describe(stray.holder)}; {_edits(stray)}"
    if plan.ledger_problem and not plan.blockers:
        yield plan.ledger_problem
    for blocker in plan.blockers:
        yield f"blocked: {blocker}"


def _edits(stray: Stray) -> str:
    if not stray.edits:
        return "it is not in the plan"
    return f"edited since it was frozen: {'; '.join(stray.edits)}; it measures its frozen copy and will be stale"


def found_lines(found: Sequence[FoundRun]) -> Iterator[str]:
    """Return one line per cause, since one edit makes many runs stale."""
    ordered = sorted(found, key=_kind_of)
    for (kind, causes, _), runs in groupby(ordered, key=_kind_of):
        members = list(runs)
        yield f"{kind}: {len(members)} run(s) on disk, not counted: {'; '.join(causes)}; {_remedy(members)}"


def _kind_of(run: FoundRun) -> tuple[str, tuple[str, ...], bool]:
    return run.kind, run.causes, run.redo_usd > 0


def _remedy(members: Sequence[FoundRun]) -> str:
    """The remedy of all of them, with the price of all of them."""
    undo, redo, _ = members[0].remedy.partition("; or redo")
    total = sum(run.redo_usd for run in members)
    if not redo:
        return undo
    return f"{undo}; or redo {f'for up to {total:.4f} USD' if total > 0 else 'for nothing'}"
