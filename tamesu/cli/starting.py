"""What of a plan may start: refused before anything does, or left out of a plan over a whole project."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tamesu.base.errors import BudgetRefused, Refused
from tamesu.base.model.manifest import EvalRef
from tamesu.base.model.trust import TrustedCode
from tamesu.base.model.workflow import WorkflowPlan
from tamesu.cli.session import warn
from tamesu.core.planning import Grouping, Retries
from tamesu.core.scope import ALL, Scope
from tamesu.core.situation import Unpriced
from tamesu.edge.store.paths import Project
from tamesu.stages.workflow import make_workflow_plan


def startable(
    project: Project,
    refs: Sequence[EvalRef],
    retries: Retries,
    ceiling: float,
    name: str | None,
    say: Callable[[str], None],
    trusted: Sequence[TrustedCode] = (),
    unpriced: Unpriced = Unpriced.REFUSED,
    scope: Scope = ALL,
) -> WorkflowPlan:
    """Return the plan of this invocation. Raises Refused before anything starts when some of it may not."""
    plan = make_workflow_plan(
        project, refs, Grouping.BATCHED, retries, ceiling, trusted, unpriced=unpriced, scope=scope
    )
    for line in plan.broken:
        warn(line)
    if plan.broken:
        raise SystemExit(1)
    plan = _without_others(plan, say) if name is None else plan
    _refuse(plan, ceiling, name)
    return plan


def _without_others(plan: WorkflowPlan, say: Callable[[str], None]) -> WorkflowPlan:
    """Leave out of a plan over a whole project what may not start; asked for by name, it is refused instead.

    A draft is left out with a line. Where nothing else may start either, the first reason refuses all.
    """
    drafts = {one.name for one in plan.evals if one.draft}
    for name in sorted(drafts):
        say(f"{name}: draft, left out; `tamesu activate {name}` to run it")
    refused = {launch.eval: launch.refusal for launch in plan.launches if launch.refusal and launch.eval not in drafts}
    others = any(launch.eval not in drafts and launch.eval not in refused for launch in plan.launches)
    for name, reason in refused.items() if others else ():
        warn(f"{name}: left out: {reason}")
    left_out = drafts | (set(refused) if others else set())
    return replace(
        plan,
        launches=tuple(launch for launch in plan.launches if launch.eval not in left_out),
        evals=tuple(one for one in plan.evals if one.name not in left_out),
        judging=tuple(one for one in plan.judging if one.eval not in left_out),
        left_out=tuple(sorted(left_out - drafts)),
    )


def _refuse(plan: WorkflowPlan, ceiling: float, name: str | None) -> None:
    """Raise before anything starts when some of it may not."""
    refused = [launch.refusal for launch in plan.launches if launch.refusal]
    if refused:
        raise Refused(refused[0])
    exposure = sum(launch.exposure_usd for launch in plan.launches)
    if exposure > ceiling + 1e-9:
        raise BudgetRefused(
            f"up to {exposure:.4f} USD are owed, above --pay-usd {ceiling:.4f}; raise it or "
            f"{'plan less' if name else 'name one eval'}"
        )
