"""The frozen plan on disk: written once per invocation, read by every parse and job of it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from tamesu.base.errors import ChangedSincePlan, UsageError
from tamesu.base.model.workflow import PlannedLaunch, WorkflowPlan
from tamesu.edge.store.files import write_atomic
from tamesu.edge.store.paths import Project


def save_plan(project: Project, plan: WorkflowPlan) -> Path:
    """Write the plan where every parse and job of the invocation finds it."""
    path = project.state / "plans" / f"plan-{plan.invocation}.json"
    write_atomic(path, msgspec.json.encode(plan))
    for old in sorted((project.state / "plans").glob("plan-*.json"), key=lambda p: p.stat().st_mtime)[:-50]:
        old.unlink(missing_ok=True)
    return path


def load_plan(path: Path) -> WorkflowPlan:
    """Read a frozen plan. Raises UsageError when it is not there."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=WorkflowPlan)
    except (OSError, msgspec.DecodeError):
        raise UsageError(f"{path}: is no plan; start again with `tamesu run` or `snakemake`") from None


def find_launch(plan: WorkflowPlan, launch_id: str) -> PlannedLaunch:
    """Return a launch of the plan. Raises ChangedSincePlan when the plan does not hold it."""
    for launch in plan.launches:
        if launch.id == launch_id:
            return launch
    raise ChangedSincePlan(f"launch {launch_id} is not in the plan; start again")
