"""Commands that derive files from evidence: metrics, report, and the check that nothing is missing."""

from __future__ import annotations

from pathlib import Path

import click

from tamesu.cli.session import project_here, say, warn
from tamesu.core.planning import Grouping, Retries
from tamesu.stages.metrics import make_tables
from tamesu.stages.plan import digest_cache, plan_eval
from tamesu.stages.plan_file import load_plan
from tamesu.stages.report import make_report
from tamesu.stages.workflow import slot_line


@click.command(hidden=True)
@click.argument("name")
def metrics(name: str) -> None:
    """Write the tables of items and runs of an eval, as CSV and Parquet."""
    project = project_here()
    cache = digest_cache(project)
    planned = plan_eval(project, project.find_ref(name), Grouping.BATCHED, Retries.BOUNDED, cache)
    make_tables(project, planned, cache)
    cache.save()


@click.command(short_help="Write leaderboard, report and result page.")
@click.argument("name")
def report(name: str) -> None:
    """Write leaderboard.md, evaluation-report.md and the result page of an eval."""
    project = project_here()
    cache = digest_cache(project)
    planned = plan_eval(project, project.find_ref(name), Grouping.BATCHED, Retries.BOUNDED, cache)
    make_report(project, planned, cache)
    cache.save()
    say(f"report: {project.relative(project.eval(planned.evaluation.ref).report)}")


@click.command(hidden=True)
@click.option("--plan", "plan_file", required=True, type=click.Path(path_type=Path))
def complete(plan_file: Path) -> None:
    """Fail, with a line per reason, while a run of the plan is not banked."""
    # what judges are asked with takes a tenth of a second to import, which tables and reports need not
    from tamesu.stages.judge_plan import plan_judges
    from tamesu.stages.judging import payment_line

    project = project_here()
    plan = load_plan(plan_file)
    reasons = list(plan.broken)
    cache = digest_cache(project)
    for one in (one for one in plan.evals if not one.draft):
        planned = plan_eval(project, project.find_ref(one.name), Grouping.BATCHED, Retries.BOUNDED, cache)
        if one.refusal is not None and planned.plan.incomplete:
            reasons.append(one.refusal)
        else:
            reasons += [f"{one.name}: {slot_line(slot)}" for slot in planned.plan.incomplete]
        judging = plan_judges(project, planned, cache).plan
        if judging.paid:
            blocked = next(iter(judging.blockers), None)
            reasons.append(payment_line(planned.evaluation.ref, judging) if blocked is None else str(blocked))
    for reason in reasons:
        warn(reason)
    if reasons:
        raise SystemExit(1)
