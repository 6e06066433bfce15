"""A launch of the frozen plan as what executes and ingests it takes its orders."""

from __future__ import annotations

from tamesu.base.model.manifest import EvalRef
from tamesu.base.model.workflow import PlannedLaunch, WorkflowPlan
from tamesu.core.planning import Retries
from tamesu.stages.execute import LaunchOrder
from tamesu.stages.payment import Invocation


def launch_order(plan: WorkflowPlan, launch: PlannedLaunch) -> LaunchOrder:
    """Return the order that execute and ingest work off."""
    case, experiment, name = launch.eval.split("/")
    return LaunchOrder(
        id=launch.id,
        ref=EvalRef(case, experiment, name),
        runs=launch.runs,
        payer=Invocation(plan.invocation, plan.pay_usd, launch.budget_usd),
        retries=Retries.AGAIN if plan.again else Retries.BOUNDED,
        trusted=plan.trusted,
        limit_items=plan.limit_items,
    )
