"""The commands that rules call: one per arrow, hidden from the main help."""

from __future__ import annotations

from pathlib import Path

import click

from tamesu.base.errors import Refused
from tamesu.base.model.workflow import PlannedLaunch, WorkflowPlan
from tamesu.cli.session import project_here, say, warn
from tamesu.edge.store.files import write_atomic
from tamesu.stages.execute import execute_launch, ingest_launch
from tamesu.stages.launch_order import launch_order
from tamesu.stages.plan_file import find_launch, load_plan

plan_option = click.option("--plan", "plan_file", required=True, type=click.Path(path_type=Path))
receipt_option = click.option("--receipt", required=True, type=click.Path(path_type=Path))


def done(receipt: Path, launch: PlannedLaunch) -> None:
    """A receipt says only that the stage ended; the evidence lies elsewhere and speaks for itself."""
    write_atomic(receipt, f"{launch.id}\n".encode())


def opened(plan_file: Path, launch_id: str) -> tuple[WorkflowPlan, PlannedLaunch]:
    """Return the frozen plan and one of its launches."""
    plan = load_plan(plan_file)
    return plan, find_launch(plan, launch_id)


@click.command(hidden=True)
@click.argument("launch_id")
@plan_option
@receipt_option
def execute(launch_id: str, plan_file: Path, receipt: Path) -> None:
    """Make one attempt at each of a launch's runs."""
    project = project_here()
    receipt = receipt.resolve()
    plan, launch = opened(plan_file, launch_id)
    if launch.refusal is not None:
        raise Refused(launch.refusal)
    if launch.mode == "execute":
        execute_launch(project, launch_order(plan, launch), say, warn)
    done(receipt, launch)


@click.command(hidden=True)
@click.argument("launch_id")
@plan_option
@receipt_option
def ingest(launch_id: str, plan_file: Path, receipt: Path) -> None:
    """Write item results and run.yml of a launch's runs."""
    project = project_here()
    receipt = receipt.resolve()
    plan, launch = opened(plan_file, launch_id)
    ingest_launch(project, launch_order(plan, launch))
    done(receipt, launch)
