"""The commands that rules call: one per arrow, hidden from the main help."""

from __future__ import annotations

from pathlib import Path

import click

from tamesu.base.errors import ChangedSincePlan, Refused
from tamesu.base.model.workflow import PlannedLaunch, WorkflowPlan
from tamesu.cli.session import project_here, say
from tamesu.core.planning import Grouping, Retries
from tamesu.edge.documents.eval_reader import read_eval
from tamesu.edge.store.files import write_atomic
from tamesu.stages.execute import execute_launch, ingest_launch
from tamesu.stages.freeze import freeze_run
from tamesu.stages.metrics import make_tables
from tamesu.stages.plan import digest_cache, find_ref, plan_eval, valid
from tamesu.stages.report import make_report
from tamesu.stages.workflow import find_launch, launch_order, load_plan, slot_line

_plan = click.option("--plan", "plan_file", required=True, type=click.Path(path_type=Path))
_receipt = click.option("--receipt", required=True, type=click.Path(path_type=Path))


def _done(receipt: Path, launch: PlannedLaunch) -> None:
    """A receipt says only that the stage ended; the evidence lies elsewhere and speaks for itself."""
    write_atomic(receipt, f"{launch.id}\n".encode())


def _opened(plan_file: Path, launch_id: str) -> tuple[WorkflowPlan, PlannedLaunch]:
    plan = load_plan(plan_file)
    return plan, find_launch(plan, launch_id)


@click.command(hidden=True)
@click.argument("launch_id")
@_plan
@_receipt
def freeze(launch_id: str, plan_file: Path, receipt: Path) -> None:
    """Write the frozen datasets and sealed sources of a launch's runs."""
    project = project_here()
    plan, launch = _opened(plan_file, launch_id)
    ref = launch_order(plan, launch).ref
    _, runs = valid(read_eval(project, ref))
    specs = {spec.run_id: spec for spec in runs.runs}
    for run_id in launch.runs:
        if run_id not in specs:
            raise ChangedSincePlan(f"{ref}: its files changed since the plan was made; start again")
        freeze_run(project, specs[run_id], runs.datasets[specs[run_id].arm])
    _done(receipt, launch)


@click.command(hidden=True)
@click.argument("launch_id")
@_plan
@_receipt
def execute(launch_id: str, plan_file: Path, receipt: Path) -> None:
    """Make one attempt at each of a launch's runs."""
    project = project_here()
    receipt = receipt.resolve()
    plan, launch = _opened(plan_file, launch_id)
    if launch.refusal is not None:
        raise Refused(launch.refusal)
    if launch.mode == "execute":
        execute_launch(project, launch_order(plan, launch), say)
    _done(receipt, launch)


@click.command(hidden=True)
@click.argument("launch_id")
@_plan
@_receipt
def ingest(launch_id: str, plan_file: Path, receipt: Path) -> None:
    """Write item results and run.yml of a launch's runs."""
    project = project_here()
    receipt = receipt.resolve()
    plan, launch = _opened(plan_file, launch_id)
    ingest_launch(project, launch_order(plan, launch), lambda _line: None)
    _done(receipt, launch)


@click.command(hidden=True)
@click.argument("name")
def metrics(name: str) -> None:
    """Write tables/items.csv and tables/runs.csv of an eval."""
    project = project_here()
    cache = digest_cache(project)
    planned = plan_eval(project, find_ref(project, name), Grouping.BATCHED, Retries.BOUNDED, cache)
    make_tables(project, planned, cache)
    cache.save()


@click.command()
@click.argument("name")
def report(name: str) -> None:
    """Write leaderboard.md, evaluation-report.md and the result page of an eval."""
    project = project_here()
    cache = digest_cache(project)
    planned = plan_eval(project, find_ref(project, name), Grouping.BATCHED, Retries.BOUNDED, cache)
    make_report(project, planned, cache)
    cache.save()
    say(f"report: {project.relative(project.eval(planned.evaluation.ref).report)}")


@click.command(hidden=True)
@_plan
def complete(plan_file: Path) -> None:
    """Fail, with a line per reason, while a run of the plan is not banked."""
    project = project_here()
    plan = load_plan(plan_file)
    reasons = list(plan.broken)
    cache = digest_cache(project)
    for one in plan.evals:
        planned = plan_eval(project, find_ref(project, one.name), Grouping.BATCHED, Retries.BOUNDED, cache)
        if one.refusal is not None and planned.plan.incomplete:
            reasons.append(one.refusal)
        else:
            reasons += [f"{one.name}: {slot_line(slot)}" for slot in planned.plan.incomplete]
    for reason in reasons:
        click.echo(f"tamesu: {reason}", err=True)
    if reasons:
        raise SystemExit(1)
