"""The command `close`: the end of an eval, refused while evidence is owed."""

from __future__ import annotations

import click

from tamesu.cli.session import project_here, say, warn
from tamesu.core.closing import Owed, waiver_line
from tamesu.core.planning import Grouping, Retries
from tamesu.stages.closing import Refusal, close_eval
from tamesu.stages.metrics import make_tables
from tamesu.stages.plan import digest_cache, plan_eval
from tamesu.stages.present import present_case
from tamesu.stages.report import make_report
from tamesu.stages.workflow import slot_line


@click.command(short_help="Close an eval whose evidence is complete.")
@click.argument("name")
@click.option(
    "--allow-incomplete-review",
    is_flag=True,
    help="Close although reviews or judgments are owed; closing.yml records which.",
)
def close(name: str, allow_incomplete_review: bool) -> None:
    """Close an eval: write closing.yml, set its status to complete, make its tables, reports and page anew.

    While evidence is owed it is listed and nothing is written. Runs are never waived.
    """
    project = project_here()
    ref = project.find_ref(name)
    cache = digest_cache(project)
    planned = plan_eval(project, ref, Grouping.BATCHED, Retries.BOUNDED, cache)
    done = close_eval(project, planned, cache, allow_incomplete_review=allow_incomplete_review)
    if isinstance(done, Refusal):
        _refuse(name, done.owed)
    else:
        planned = plan_eval(project, ref, Grouping.BATCHED, Retries.BOUNDED, cache)
        make_tables(project, planned, cache)
        make_report(project, planned, cache)
        present_case(project, ref.case, cache)
        say(f"{ref}: {done.value}")
    cache.save()
    if isinstance(done, Refusal):
        raise SystemExit(2)


def _refuse(name: str, owed: Owed) -> None:
    for slot in owed.runs:
        say(slot_line(slot))
    for waiver in owed.judgement:
        say(waiver_line(waiver))
    if owed.runs:
        warn(f"{name}: not closed, {len(owed.runs)} run(s) owed; `tamesu run {name}` first")
    else:
        warn(f"{name}: not closed, judgement is owed; have it made, or --allow-incomplete-review to record its absence")
