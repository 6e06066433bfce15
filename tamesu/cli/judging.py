"""The command `judge`: asks model judges for the verdicts they owe, and says what they said."""

from __future__ import annotations

import math
import uuid
from collections.abc import Sequence
from pathlib import Path

import click

from tamesu.base.errors import Refused, RunHeld, UsageError
from tamesu.base.model.judging import JudgeStanding
from tamesu.base.model.manifest import EvalRef
from tamesu.cli.config_dir import config_dir_option
from tamesu.cli.judge_text import judge_lines
from tamesu.cli.session import chosen, emit_json, project_here, say, warn
from tamesu.core.planning import Grouping, Retries
from tamesu.edge.store.files import write_atomic
from tamesu.edge.store.paths import Project
from tamesu.stages.judge_plan import Choice, JudgeWork, plan_judges
from tamesu.stages.judging import JudgedEval, Payer, judge_eval, refuse
from tamesu.stages.plan import digest_cache, plan_eval
from tamesu.stages.plan_file import load_plan

_UNLIMITED = 1e12


@click.command(short_help="Ask model judges for the verdicts they owe, up to their budget.")
@click.argument("name", required=False)
@config_dir_option
@click.option("--judge", "judge_id", help="Ask this judge only.")
@click.option("--limit", type=click.IntRange(min=1), help="Make so many calls at most.")
@click.option("--pay-usd", type=float, help="Ceiling for this invocation; the default is each eval's judge budget.")
@click.option("--again", is_flag=True, help="Ask once more for verdicts that are final by failure.")
@click.option("--dry-run", is_flag=True, help="Say what is owed, what it may cost and what forbids it; ask nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
def judge(
    name: str | None,
    judge_id: str | None,
    limit: int | None,
    pay_usd: float | None,
    again: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Ask model judges for the verdicts they owe on outputs that are there. Spends up to `judge_budget_usd`.

    Nothing that was judged is asked again; a change of rubric, prompt, model, parameters or output makes new verdicts
    owed. Exit code 1 while some are owed afterwards.
    """
    project = project_here()
    choice = Choice(judge_id, limit, again)
    payer = Payer(uuid.uuid4().hex[:16], _ceiling(pay_usd))
    refs = _judged_refs(project, name)
    if dry_run:
        _show_owed(project, refs, choice, payer, as_json=as_json)
        return
    tell = (lambda _: None) if as_json else say
    done: list[JudgedEval] = []
    for ref in refs:
        done.append(judge_eval(project, ref, choice, payer, tell))
        if done[-1].signal:
            break
    if as_json:
        emit_json([_outcome(one) for one in done])
    else:
        for one in done:
            _show_outcome(one)
        if any(one.tallies for one in done):
            say("`tamesu run` or `snakemake` writes tables and reports anew")
    signal = next((one.signal for one in done if one.signal), 0)
    if signal:
        warn("interrupted; run again to go on, what was judged is kept")
        raise SystemExit(128 + signal)
    if any(one.after.owed for one in done):
        raise SystemExit(1)


def _ceiling(pay_usd: float | None) -> float:
    if pay_usd is None:
        return _UNLIMITED
    if not (math.isfinite(pay_usd) and pay_usd >= 0):
        raise UsageError(f"--pay-usd {pay_usd}: is no amount in US dollars; give a number from 0 up")
    return pay_usd


def _judged_refs(project: Project, name: str | None) -> tuple[EvalRef, ...]:
    """Return the named eval, or all with judges that may spend. Raises UsageError when there is none."""
    cache = digest_cache(project)
    found, left_out = [], False
    for ref in chosen(project, name):
        evaluation = plan_eval(project, ref, Grouping.BATCHED, Retries.BOUNDED, cache).evaluation
        if not evaluation.policy.judges and name is not None:
            raise UsageError(f"{ref}: declares no judge; write evaluation.model_judges in eval.yml")
        if evaluation.policy.judges and (name is not None or evaluation.status == "active"):
            found.append(ref)
        elif evaluation.policy.judges:
            warn(f"{ref}: {evaluation.status}, left out")
            left_out = True
    if not found:
        fix = "activate one that was left out" if left_out else "write evaluation.model_judges in an eval.yml"
        raise UsageError(f"no active eval here declares a judge; {fix}")
    return tuple(found)


def _work(project: Project, ref: EvalRef, choice: Choice) -> JudgeWork:
    cache = digest_cache(project)
    planned = plan_eval(project, ref, Grouping.BATCHED, Retries.BOUNDED, cache)
    return plan_judges(project, planned, cache, choice)


def _show_owed(project: Project, refs: Sequence[EvalRef], choice: Choice, payer: Payer, *, as_json: bool) -> None:
    refused = False
    told = []
    for ref in refs:
        plan = _work(project, ref, choice).plan
        try:
            refuse(ref, plan, payer)
            why = None
        except Refused as error:
            why, refused = str(error), True
        told.append({"eval": str(ref), "refusal": why, "judging": plan})
        if not as_json:
            for line in judge_lines(plan):
                say(f"{ref}: {line}")
            if why is not None:
                warn(why)
    if as_json:
        emit_json(told)
    if refused:
        raise SystemExit(2)


def _outcome(one: JudgedEval) -> dict[str, object]:
    return {"eval": str(one.ref), "signal": one.signal, "asked": dict(one.tallies), "judging": one.after}


def _show_outcome(one: JudgedEval) -> None:
    for name, tally in one.tallies.items():
        failed = ", ".join(f"{count} {kind}" for kind, count in sorted(tally.failures.items()))
        parts = [f"{tally.verdicts} verdicts, {tally.passes} pass"]
        parts += [f"no verdict: {failed}"] if failed else []
        parts += [f"{tally.cut} cut off"] if tally.cut else []
        parts.append(f"{tally.spent_usd:.4f} USD")
        parts += [f"up to {tally.lost_usd:.4f} USD more for what stated no usage"] if tally.lost_usd else []
        say(f"{one.ref}: {name}: {'; '.join(parts)}")
    for standing in one.after.judges:
        say(f"{one.ref}: {_owed(standing)}")


def _owed(standing: JudgeStanding) -> str:
    if not standing.owed:
        return f"{standing.judge}: nothing owed, {standing.counted} verdicts count"
    final = standing.owed - standing.askable
    more = f", {final} of them final by failure (`--again` asks once more)" if final else ""
    return f"{standing.judge}: {standing.owed} of {standing.planned} verdicts owed{more}"


@click.command(hidden=True)
@click.argument("name")
@click.option("--plan", "plan_file", required=True, type=click.Path(path_type=Path))
@click.option("--receipt", required=True, type=click.Path(path_type=Path))
def judging(name: str, plan_file: Path, receipt: Path) -> None:
    """Work off what the judges of an eval owe: what is free, and what is paid up to the plan's ceiling."""
    project = project_here()
    receipt = receipt.resolve()
    plan = load_plan(plan_file)
    ref = project.find_ref(name)
    for free_only in (True,) if plan.judge_pay_usd is None else (True, False):
        payer = Payer(plan.invocation, None if free_only else plan.judge_pay_usd)
        try:
            done = judge_eval(project, ref, Choice(free_only=free_only), payer, say)
        except (Refused, RunHeld) as error:
            warn(str(error))
            continue
        if done.signal:
            raise SystemExit(128 + done.signal)
    write_atomic(receipt, f"{ref}\n".encode())
