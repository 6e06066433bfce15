"""Commands that may spend: run and resume."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import click

from tamesu.base.errors import UsageError
from tamesu.base.model.manifest import EvalRef
from tamesu.base.model.trust import TrustedCode
from tamesu.base.model.workflow import WorkflowPlan
from tamesu.cli.config_dir import config_dir_option
from tamesu.cli.outcome import outcomes, show_outcome
from tamesu.cli.outcome_json import outcome_json
from tamesu.cli.pricing import accept_price_option
from tamesu.cli.progress import Display, chosen_display, say_json
from tamesu.cli.session import chosen, project_here
from tamesu.cli.snakemake import Ended, run_snakemake
from tamesu.cli.starting import startable
from tamesu.cli.trusting import trust_option, words
from tamesu.core.planning import Retries
from tamesu.core.scope import ALL, Scope
from tamesu.core.situation import Unpriced
from tamesu.edge.store.paths import Project
from tamesu.stages.attempts import left_open, sweep
from tamesu.stages.lock import lock_missing
from tamesu.stages.plan_file import save_plan

_UNLIMITED = 1e12

_pay_option = click.option(
    "--pay-usd", type=float, help="Ceiling for this invocation; the default is each eval's budget."
)
_json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print progress and outcome as JSON lines; schemas/output/run.schema.json."
)


@click.command(short_help="Work off what is owed, up to the budget.")
@click.argument("name", required=False)
@config_dir_option
@_pay_option
@_json_option
@trust_option
@accept_price_option
@click.option("--only", multiple=True, metavar="MODEL", help="Work off the runs of this model; several may be named.")
@click.option("--limit-items", type=click.IntRange(min=1), metavar="N", help="Ask N items of each run, then stop.")
@click.option("--dry-run", is_flag=True, help="Check everything that `tamesu preflight` checks, then stop.")
def run(
    name: str | None,
    pay_usd: float | None,
    as_json: bool,
    trust_code: bool,
    unpriced: Unpriced,
    only: tuple[str, ...],
    limit_items: int | None,
    dry_run: bool,
) -> None:
    """Work off what is owed, then write tables and reports. Spends up to the budget.

    Shows a live table on a terminal, and lines in a pipe or a file. What --only and --limit-items leave out stays owed.
    """
    scope = Scope(frozenset(only), limit_items)
    if dry_run and scope != ALL:
        raise UsageError("--dry-run: checks all that is owed; leave --only and --limit-items out")
    if dry_run:
        from tamesu.cli.preflighting import check_before_paying

        raise SystemExit(check_before_paying(name, as_json=as_json, trust_code=trust_code, unpriced=unpriced))
    _work_off(_Order(name, _ceiling(pay_usd), Retries.BOUNDED, trust_code, unpriced, scope), as_json)


@click.command(short_help="Go on with partial runs; --again asks failures once more.")
@click.argument("name", required=False)
@config_dir_option
@click.option("--again", is_flag=True, help="Ask items once more that are final by failure.")
@_pay_option
@_json_option
@trust_option
@accept_price_option
def resume(
    name: str | None, again: bool, pay_usd: float | None, as_json: bool, trust_code: bool, unpriced: Unpriced
) -> None:
    """Go on with partial runs: only items that are not final, in a new attempt of the same run."""
    _work_off(
        _Order(name, _ceiling(pay_usd), Retries.AGAIN if again else Retries.BOUNDED, trust_code, unpriced), as_json
    )


@dataclass(frozen=True, slots=True)
class _Order:
    """What was asked for: one eval or all of them (None), up to which price, which failures again, on whose word."""

    name: str | None
    ceiling: float
    retries: Retries
    trust_code: bool
    unpriced: Unpriced
    scope: Scope = ALL


def _ceiling(pay_usd: float | None) -> float:
    if pay_usd is None:
        return _UNLIMITED
    if not (math.isfinite(pay_usd) and pay_usd >= 0):
        raise UsageError(f"--pay-usd {pay_usd}: is no amount in US dollars; give a number from 0 up")
    return pay_usd


@dataclass(frozen=True, slots=True)
class _Worked:
    """The last plan that was worked off, how Snakemake ended, and the runs that this invocation worked on."""

    plan: WorkflowPlan
    ended: Ended
    runs: frozenset[str]


def _work_off(order: _Order, as_json: bool) -> None:
    project = project_here()
    refs = chosen(project, order.name)
    trusted = words(project, order.name, order.trust_code)
    display = chosen_display(as_json)
    for ref in refs:
        if left_open(project, ref):
            # what the dead reserved and finished counts before anything is planned
            sweep(project, ref)
    lock_missing(project, refs, display.say, trusted)
    worked = _worked(project, refs, order, trusted, display)
    plan = worked.plan
    found = (
        ()
        if worked.ended.disk_full
        else outcomes(project, [project.find_ref(one.name) for one in plan.evals], worked.runs)
    )
    undone = [slot for one in found for slot in one.planned.plan.incomplete if order.scope.leaves_undone(slot)]
    incomplete = bool(undone or plan.left_out)
    code = _exit_code(worked.ended, incomplete)
    if as_json:
        say_json(outcome_json(project, found, plan.left_out, code))
    else:
        show_outcome(found)
    if code:
        raise SystemExit(code)


def _worked(
    project: Project, refs: Sequence[EvalRef], order: _Order, trusted: Sequence[TrustedCode], display: Display
) -> _Worked:
    """Plan and work off the plan. Raises Refused before anything starts when some of it may not."""

    def planned() -> WorkflowPlan:
        return startable(
            *(project, refs, order.retries, order.ceiling, order.name, display.say, trusted, order.unpriced),
            scope=order.scope,
        )

    plan = planned()
    runs = _runs(plan)
    ended = Ended(0, 0)
    if plan.launches or plan.judging or plan.stale:
        ended = run_snakemake(project, plan, save_plan(project, plan), display)
    if any(launch.mode == "ingest" for launch in plan.launches) and ended == Ended(0, 0):
        # what an earlier process left is judged only now; what still owes something is worked off as well
        plan = planned()
        runs |= _runs(plan)
        if plan.launches or plan.judging:
            ended = run_snakemake(project, plan, save_plan(project, plan), display)
    return _Worked(plan, ended, runs)


def _runs(plan: WorkflowPlan) -> frozenset[str]:
    return frozenset(run for launch in plan.launches for run in launch.runs)


def _exit_code(ended: Ended, incomplete: bool) -> int:
    if ended.disk_full:
        return 2
    return ended.interrupted or int(incomplete or bool(ended.failed))
