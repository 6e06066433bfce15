"""The command `plan`: what is owed, what it will tell and cost, and what blocks it."""

from __future__ import annotations

import click

from tamesu.base.errors import UnknownName
from tamesu.cli.config_dir import config_dir_option
from tamesu.cli.judge_text import judge_lines
from tamesu.cli.plan_json import plan_json
from tamesu.cli.plan_text import show_overview, show_plan
from tamesu.cli.session import chosen, emit_json, project_here, say
from tamesu.core.planning import Grouping, Retries
from tamesu.edge.documents.reading import Shelf
from tamesu.stages.judge_plan import plan_judges
from tamesu.stages.plan import Planned, digest_cache, plan_eval
from tamesu.stages.sizing import size_eval


@click.command()
@click.argument("name", required=False)
@config_dir_option
@click.option("--prompt", "arm", default="", help="Show the first item of this arm in full.")
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON; schemas/output/plan.schema.json.")
def plan(name: str | None, arm: str, as_json: bool) -> None:
    """Show what is owed, what it may cost and tell, what is sent first, and what blocks it."""
    project = project_here()
    cache, shelf = digest_cache(project), Shelf()
    refs = chosen(project, name)
    planned = [plan_eval(project, ref, Grouping.BATCHED, Retries.BOUNDED, cache, shelf) for ref in refs]
    _check_arm(planned, arm)
    # reading every result of every eval would take longer than an overview may
    sizing = size_eval(project, planned[0], cache) if len(planned) == 1 else None
    judging = [plan_judges(project, one, cache).plan for one in planned]
    cache.save()
    if as_json:
        emit_json([plan_json(one, sizing, judges) for one, judges in zip(planned, judging, strict=True)])
    elif sizing is not None:
        show_plan(planned[0], sizing, arm)
        for line in judge_lines(judging[0]):
            say(line)
    else:
        show_overview(planned)


def _check_arm(planned: list[Planned], arm: str) -> None:
    known = {one.id for plan in planned for one in plan.evaluation.arms}
    if arm and arm not in known:
        raise UnknownName("arm", arm, known)
