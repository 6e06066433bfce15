"""Where the judges of an eval stand, in lines for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from tamesu.base.model.judging import JudgePlan, JudgeStanding
from tamesu.base.model.manifest import EvalRef


def judge_lines(plan: JudgePlan) -> Iterator[str]:
    """Yield a line per judge, what all of them may cost, and what forbids asking them."""
    for one in plan.judges:
        yield _standing(one)
    if any(one.paid for one in plan.judges):
        yield (
            f"judging: up to {plan.exposure_usd:.4f} USD, spent {plan.spent_usd:.4f}, "
            f"reserved {plan.reserved_usd:.4f}, judge budget {plan.budget_usd:.4f}"
        )
    for blocker in plan.blockers:
        yield f"judging blocked: {blocker}"


def _standing(one: JudgeStanding) -> str:
    label = f"judge {one.judge} ({one.role}): {one.provider}/{one.model}{', recorded' if one.recorded else ''}"
    final = one.owed - one.askable
    parts = [f"{one.counted}/{one.planned} verdicts", f"{one.owed} owed"]
    parts += [f"{final} of them final by failure"] if final else []
    parts += [f"{one.stale} stale"] if one.stale else []
    return f"{label}; {', '.join(parts)}; {_price(one)}"


def _price(one: JudgeStanding) -> str:
    if not one.paid:
        return "free"
    if one.largest_call_usd is None:
        return "nothing bounds what a call costs"
    return f"up to {one.exposure_usd:.4f} USD"


def owed_lines(ref: EvalRef, plan: JudgePlan | None) -> Iterator[str]:
    """Yield a line per judge that owes verdicts, with the command that asks for them and its price."""
    for one in plan.judges if plan is not None else ():
        if not one.owed:
            continue
        if one.askable:
            how = f"`tamesu judge {ref}` asks for {one.askable}, {_price(one)}"
        else:
            how = f"all final by failure, `tamesu judge {ref} --again` asks once more"
        yield f"judgments owed: {one.owed} of judge {one.judge}; {how}"
