"""The command that seals what a launch will execute."""

from __future__ import annotations

from pathlib import Path

import click

from tamesu.base.errors import ChangedSincePlan
from tamesu.cli.plumbing import done, opened, plan_option, receipt_option
from tamesu.cli.session import project_here
from tamesu.edge.documents.eval_reader import read_eval
from tamesu.stages.freeze import freeze_run
from tamesu.stages.launch_order import launch_order
from tamesu.stages.plan import valid


@click.command(hidden=True)
@click.argument("launch_id")
@plan_option
@receipt_option
def freeze(launch_id: str, plan_file: Path, receipt: Path) -> None:
    """Write the frozen datasets and sealed sources of a launch's runs."""
    project = project_here()
    plan, launch = opened(plan_file, launch_id)
    ref = launch_order(plan, launch).ref
    _, runs = valid(read_eval(project, ref))
    specs = {spec.run_id: spec for spec in runs.runs}
    for run_id in launch.runs:
        if run_id not in specs:
            raise ChangedSincePlan(f"{ref}: its files changed since the plan was made; start again")
        freeze_run(project, specs[run_id], runs.datasets[specs[run_id].arm])
    done(receipt, launch)
