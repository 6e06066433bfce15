"""The command `status`: where each eval stands."""

from __future__ import annotations

import click

from tamesu.base.errors import InvalidDocument
from tamesu.base.model.plan import SlotState
from tamesu.cli.plan_json import standing_json
from tamesu.cli.plan_text import show_notes
from tamesu.cli.session import chosen, emit_json, project_here, say
from tamesu.core.planning import Grouping, Retries
from tamesu.core.rows import SlotEvidence, build_rows
from tamesu.core.standing import Standing, standing
from tamesu.edge.documents.reading import Shelf
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.paths import Project
from tamesu.stages.plan import Planned, digest_cache, plan_eval
from tamesu.stages.summary import slot_results
from tamesu.stages.workflow import slot_line


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.option("--check", is_flag=True, help="Exit 1 when a run is not banked.")
def status(name: str | None, as_json: bool, check: bool) -> None:
    """Say where each eval stands."""
    project = project_here()
    cache, shelf = digest_cache(project), Shelf()
    incomplete = False
    views: list[dict[str, object]] = []
    for ref in chosen(project, name):
        try:
            one = plan_eval(project, ref, Grouping.BATCHED, Retries.BOUNDED, cache, shelf)
        except InvalidDocument as error:
            incomplete = True
            views.append({"eval": str(ref), "standing": Standing.INVALID.value, "problem": str(error)})
            if not as_json:
                say(f"{ref}: {Standing.INVALID.value}: {error}")
            continue
        incomplete = incomplete or bool(one.plan.incomplete)
        word = _standing(project, one, cache)
        views.append({"standing": word.value, **standing_json(one.plan)})
        if not as_json:
            _show_status(one, word)
    cache.save()
    if as_json:
        emit_json(views)
    if check and incomplete:
        raise SystemExit(1)


def _standing(project: Project, one: Planned, cache: DigestCache) -> Standing:
    slots = [SlotEvidence(slot.spec, slot.state, slot_results(project, slot, cache)) for slot in one.plan.slots]
    return standing(one.evaluation, one.plan.slots, build_rows(slots, one.evaluation.policy))


def _show_status(one: Planned, word: Standing) -> None:
    banked = sum(slot.state is SlotState.BANKED for slot in one.plan.slots)
    say(f"{one.plan.ref}: {word.value}; {banked}/{len(one.plan.slots)} runs banked")
    for slot in one.plan.incomplete:
        say(f"  {slot_line(slot)}")
    show_notes(one.plan)
