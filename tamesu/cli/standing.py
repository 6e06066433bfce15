"""The command `status`: where each eval stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import click

from tamesu.base.errors import DamagedLedger, InvalidDocument, TamesuError
from tamesu.base.model.judging import JudgePlan
from tamesu.base.model.manifest import EvalRef
from tamesu.base.model.plan import Slot, SlotState
from tamesu.cli.judge_text import judge_lines
from tamesu.cli.plan_json import standing_json
from tamesu.cli.plan_text import SINGLE_ROWS, grouped, show_notes
from tamesu.cli.review_text import review_lines
from tamesu.cli.session import chosen, emit_json, project_here, say, warn
from tamesu.core.planning import Grouping, Retries
from tamesu.core.rows import build_rows
from tamesu.core.standing import Standing
from tamesu.edge.documents.reading import Shelf
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.paths import Project
from tamesu.stages.judge_plan import plan_judges
from tamesu.stages.plan import Planned, digest_cache, plan_eval
from tamesu.stages.summary import closing_notes, eval_rows, eval_standing, slot_evidence
from tamesu.stages.workflow import slot_line


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.option("--check", is_flag=True, help="Exit 1 when a run is not banked.")
def status(name: str | None, as_json: bool, check: bool) -> None:
    """Say where each eval stands."""
    project = project_here()
    cache, shelf = digest_cache(project), Shelf()
    incomplete = damaged = False
    views: list[dict[str, object]] = []
    for case in project.reported_cases() if name is None and not as_json else ():
        say(f"{case}: holds reports alone (view-only.yml); nothing of it is planned or run")
    for ref in _meant(project, name):
        try:
            seen = _look(project, ref, cache, shelf)
        except DamagedLedger as error:  # the others are told all the same
            damaged = True
            views.append(_problem(ref, error))
            warn(f"{ref}: {error}")
        except InvalidDocument as error:
            incomplete = True
            views.append(_problem(ref, error))
            if not as_json:
                say(f"{ref}: {Standing.INVALID.value}: {error}")
        else:
            incomplete = incomplete or bool(seen.planned.plan.incomplete)
            views.append({"standing": seen.word.value, **standing_json(seen.planned.plan, seen.judging)})
            if not as_json:
                _show(project, seen, cache)
    cache.save()
    if as_json:
        emit_json(views)
    if damaged or (check and incomplete):
        raise SystemExit(1)


@dataclass(frozen=True, slots=True)
class _Seen:
    """An eval, the word for where it stands, and what its judges are to be asked."""

    planned: Planned
    word: Standing
    judging: JudgePlan


def _look(project: Project, ref: EvalRef, cache: DigestCache, shelf: Shelf) -> _Seen:
    """Return where an eval stands. Raises InvalidDocument, and DamagedLedger for one whose money is not known."""
    one = plan_eval(project, ref, Grouping.BATCHED, Retries.BOUNDED, cache, shelf)
    return _Seen(one, _standing(project, one, cache), plan_judges(project, one, cache).plan)


def _problem(ref: EvalRef, error: TamesuError) -> dict[str, object]:
    return {"eval": str(ref), "standing": Standing.INVALID.value, "problem": str(error)}


def _show(project: Project, seen: _Seen, cache: DigestCache) -> None:
    one = seen.planned
    _show_status(one, seen.word)
    rows = eval_rows(project, one, cache) if seen.word is Standing.AWAITING_REVIEW else ()
    reviews = review_lines(one.plan.ref, rows)
    for line in (*reviews, *closing_notes(project, one, cache), *judge_lines(seen.judging)):
        say(f"  {line}")


def _meant(project: Project, name: str | None) -> tuple[EvalRef, ...]:
    """Return the evals to tell of; a project may hold reports alone."""
    return () if name is None and not project.refs() and project.reported_cases() else chosen(project, name)


def _standing(project: Project, one: Planned, cache: DigestCache) -> Standing:
    """Results are read only when every run is banked, and only until the first review owed."""
    evidence = (slot_evidence(project, one, slot, cache) for slot in one.plan.slots)
    rows = (row for slot in evidence for row in build_rows([slot], one.evaluation.policy))
    return eval_standing(project, one, rows, cache)


def _show_status(one: Planned, word: Standing) -> None:
    banked = sum(slot.state is SlotState.BANKED for slot in one.plan.slots)
    say(f"{one.plan.ref}: {word.value}; {banked}/{len(one.plan.slots)} runs banked")
    for line in _incomplete_lines(one.plan.incomplete):
        say(f"  {line}")
    show_notes(one.plan)


def _incomplete_lines(slots: Sequence[Slot]) -> Iterator[str]:
    """One line per run; of a long list one line per model, arm and state."""
    if len(slots) <= SINGLE_ROWS:
        yield from map(slot_line, slots)
        return
    for members in grouped(slots):
        first, items = members[0], sum(len(slot.spec.items) for slot in members)
        done = (
            f"{sum(slot.complete for slot in members)}/{items} complete, {sum(slot.failed for slot in members)} failed"
        )
        yield f"{first.spec.model} x {first.spec.arm}: {len(members)} runs {first.state.value}, {done}"
