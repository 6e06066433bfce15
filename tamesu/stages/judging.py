"""Judging: what an eval's judges owe is asked for, within the judges' own budget. Runs no code of the project."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field

from tamesu.base.errors import BudgetRefused, PaymentNeeded, Refused
from tamesu.base.model.evidence import LedgerEntry
from tamesu.base.model.judging import JudgePlan
from tamesu.base.model.manifest import EvalRef
from tamesu.base.model.plan import RunSpec
from tamesu.core.judging.models import judge_run
from tamesu.core.ledger import open_reservations
from tamesu.core.planning import Grouping, Retries
from tamesu.edge.backends.chosen import backend
from tamesu.edge.credentials import Access
from tamesu.edge.providers.calls import Caller
from tamesu.edge.providers.opening import open_caller
from tamesu.edge.providers.recordings import parse_recordings
from tamesu.edge.providers.replayed import ReplayedCalls
from tamesu.edge.providers.work import work_off
from tamesu.edge.store.journal import append_entry, ledger_held, read_ledger
from tamesu.edge.store.judgments import Series, judge_wire, next_session, recorded_call
from tamesu.edge.store.locks import held
from tamesu.edge.store.paths import Project
from tamesu.edge.store.places import places_held
from tamesu.stages.clock import now
from tamesu.stages.judge_desk import JudgeDesk, Tally, Voices
from tamesu.stages.judge_plan import Choice, JudgeWork, plan_judges
from tamesu.stages.payment import Invocation
from tamesu.stages.plan import Planned, digest_cache, plan_eval

_PATIENCE_SECONDS = 5.0
_ENDPOINT_PATIENCE_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class Payer:
    """Who asks for judgments: an identifier, and the ceiling for everything under it (None: free work only)."""

    id: str
    pay_usd: float | None


@dataclass(frozen=True, slots=True)
class JudgedEval:
    """What a session of judging came to: by judge what it said, what is owed after it, and the signal that ended it."""

    ref: EvalRef
    tallies: Mapping[str, Tally]
    after: JudgePlan
    signal: int = 0


@dataclass(frozen=True, slots=True)
class _Session:
    project: Project
    planned: Planned
    work: JudgeWork
    payer: Payer
    tell: Callable[[str], None]
    runs: Mapping[str, RunSpec] = field(default_factory=dict)


def judge_eval(project: Project, ref: EvalRef, choice: Choice, payer: Payer, tell: Callable[[str], None]) -> JudgedEval:
    """Ask for what the judges of an eval owe, as far as `choice` says, and return what came of it.

    Raises Refused before anything leaves when something forbids it, above all BudgetRefused and PaymentNeeded, and
    RunHeld while another process judges the eval.
    """
    with held(project.judging_lock(ref), f"judging of {ref}", _PATIENCE_SECONDS):
        settle_what_a_death_left(project, ref)
        cache = digest_cache(project)
        planned = plan_eval(project, ref, Grouping.BATCHED, Retries.BOUNDED, cache)
        work = plan_judges(project, planned, cache, choice)
        refuse(ref, work.plan, payer)
        session = _Session(project, planned, work, payer, tell, _runs(planned, work))
        desk, signal = _worked(session) if work.asks else (None, 0)
        after = plan_judges(project, planned, cache, Choice(judge=choice.judge)).plan
        cache.save()
        return JudgedEval(ref, {} if desk is None else desk.tallies, after, signal)


def refuse(ref: EvalRef, plan: JudgePlan, payer: Payer) -> None:
    """Raise the first reason why what is askable may not be asked for; nothing when it may."""
    if not plan.askable:
        return
    budget = [one for one in plan.blockers if one.kind == "budget"]
    for blocker in plan.blockers:
        raise BudgetRefused(str(blocker)) if blocker in budget else Refused(str(blocker))
    if not plan.paid:
        return
    if payer.pay_usd is None:
        raise PaymentNeeded(payment_line(ref, plan))
    if plan.exposure_usd > payer.pay_usd + 1e-9:
        raise BudgetRefused(
            f"{ref}: judging may cost up to {plan.exposure_usd:.4f} USD, above pay_usd {payer.pay_usd:.4f}, the "
            "ceiling of this command; raise --pay-usd or ask fewer (--judge, --limit)"
        )


def payment_line(ref: EvalRef, plan: JudgePlan) -> str:
    """Return the line that names the price of what the judges of an eval owe, and who may pay it."""
    paid = sum(one.askable for one in plan.judges if one.paid)
    return (
        f"{ref}: {paid} paid judgment(s) owed, up to {plan.exposure_usd:.4f} USD; "
        f"use `tamesu judge {ref}`, or --config pay_usd=<ceiling>"
    )


def settle_what_a_death_left(project: Project, ref: EvalRef) -> None:
    """Settle the calls that a dead process had reserved: as recorded, else as lost. The caller holds the judging."""
    paths = project.eval(ref)
    with ledger_held(project):
        for (account, number), reserved in open_reservations(read_ledger(paths.judge_ledger)).items():
            series = Series.of_account(account)
            call = None if series is None else recorded_call(paths.run(series.run_id), series, number)
            spent, lost = (0.0, reserved.usd) if call is None else (call.cost_usd or 0.0, call.lost_usd)
            entry = LedgerEntry("settled", now(), account, number, reserved.invocation, spent_usd=spent, lost_usd=lost)
            append_entry(paths.judge_ledger, entry)


def _runs(planned: Planned, work: JudgeWork) -> dict[str, RunSpec]:
    """Return by judge the run as which its model is asked; what is its own does not depend on the judged run."""
    concurrency = planned.evaluation.defaults.concurrency
    first = {ask.judge.id: ask.run for ask in reversed(work.asks)}
    return {name: judge_run(run, work.models[name], concurrency) for name, run in first.items()}


def _worked(session: _Session) -> tuple[JudgeDesk, int]:
    project = session.project
    live = {name: run for name, run in session.runs.items() if run.provider != "replay"}
    accesses = _accesses(project, live.values())
    workdir = project.state / "judging" / session.payer.id
    if live:
        # what is stray in environment and folders cannot change what is sent
        backend("inspect").isolate(workdir)
    try:
        with ExitStack() as stack:
            for endpoint, (wanted, cap) in sorted(_places(session.runs.values()).items()):
                stack.enter_context(places_held(project, endpoint, wanted, cap, _ENDPOINT_PATIENCE_SECONDS))
            desk, signal = asyncio.run(_asked(session, accesses))
    finally:
        if live:
            os.chdir(project.root)
            shutil.rmtree(workdir, ignore_errors=True)
    return desk, signal


def _accesses(project: Project, live: Iterable[RunSpec]) -> Mapping[str, Access]:
    specs = list(live)
    if not specs:
        return {}
    from tamesu.stages.access import read_accesses

    return read_accesses(project, specs)


def _places(runs: Iterable[RunSpec]) -> Mapping[str, tuple[int, int | None]]:
    wanted: dict[str, tuple[int, int | None]] = {}
    for run in runs:
        most = max(run.concurrency, wanted.get(run.endpoint, (0, None))[0])
        wanted[run.endpoint] = (most, run.max_connections)
    return wanted


async def _asked(session: _Session, accesses: Mapping[str, Access]) -> tuple[JudgeDesk, int]:
    payer = Invocation(session.payer.id, session.payer.pay_usd, session.work.plan.budget_usd)
    voices = Voices(_live(session, accesses), _recorded(session))
    desk = JudgeDesk(session.project, payer, session.work.models, voices, session.tell)
    signal = 0
    for name, run in session.runs.items():
        asks = [ask for ask in session.work.asks if ask.judge.id == name]
        signal = signal or await work_off(asks, run.concurrency, desk)
    return desk, signal


def _live(session: _Session, accesses: Mapping[str, Access]) -> dict[str, Caller]:
    paths = session.project.eval(session.planned.evaluation.ref)
    found = {}
    for name, run in session.runs.items():
        if run.provider != "replay":
            wire = judge_wire(paths, name)
            found[name] = open_caller(run, accesses[run.provider], wire, next_session(wire), name)
    return found


def _recorded(session: _Session) -> dict[str, ReplayedCalls]:
    found = {}
    for name, run in session.runs.items():
        if run.provider == "replay" and run.recordings is not None:
            path = session.project.root / run.recordings.path
            recordings = parse_recordings(path.read_bytes(), run.recordings.path)
            found[name] = ReplayedCalls(recordings, session.project.replay_calls)
    return found
