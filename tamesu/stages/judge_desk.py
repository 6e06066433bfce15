"""One session of judging: each call reserved, asked, recorded and settled by itself, so that a death loses no other.

The order is what makes a death at any moment harmless: reserve, then ask, then write the record, then settle. What is
reserved and not settled tells where it stopped.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tamesu.base.canonical import digest
from tamesu.base.errors import BudgetRefused
from tamesu.base.model.evidence import Fault, LedgerEntry
from tamesu.base.model.judgement import JudgeCall, JudgmentFailure, JudgmentRecord
from tamesu.base.model.plan import RoleRun, is_paid
from tamesu.core.judging.blockers import budget_left
from tamesu.core.judging.money import CallCost, call_cost
from tamesu.core.judging.owed import DRIFT, EMPTY, FILTERED, TRUNCATED
from tamesu.core.judging.reply import read_verdict
from tamesu.core.ledger import balance, invocation_total
from tamesu.core.response_schema import SCHEMA
from tamesu.edge.providers.calls import Called, Caller, turns_digest
from tamesu.edge.providers.recordings import Cell
from tamesu.edge.providers.replayed import RecordedCall, ReplayedCalls
from tamesu.edge.store.journal import all_ledgers, append_entry, ledger_held, read_ledger
from tamesu.edge.store.judgments import Series, last_number, write_judgment
from tamesu.edge.store.paths import Project
from tamesu.stages.clock import now
from tamesu.stages.judge_messages import Sent, judge_messages
from tamesu.stages.judge_plan import Ask
from tamesu.stages.payment import Invocation

_STOPS = {"max_tokens": TRUNCATED, "model_length": TRUNCATED, "content_filter": FILTERED}
Record = JudgmentRecord | JudgmentFailure


@dataclass(slots=True)
class Tally:
    """What one judge said in this session, and what it cost in US dollars."""

    verdicts: int = 0
    passes: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    cut: int = 0
    spent_usd: float = 0.0
    lost_usd: float = 0.0


@dataclass(frozen=True, slots=True)
class Voices:
    """Who answers, by judge: a live model, or recorded answers."""

    live: Mapping[str, Caller]
    recorded: Mapping[str, ReplayedCalls]


class JudgeDesk:
    """Begins, makes and keeps the calls of judges."""

    def __init__(
        self,
        project: Project,
        payer: Invocation,
        models: Mapping[str, RoleRun],
        voices: Voices,
        tell: Callable[[str], None],
    ) -> None:
        self._project, self._payer, self._models, self._voices = project, payer, models, voices
        self._tell = tell
        self._numbers: dict[int, int] = {}
        self._last: dict[str, int] = {}
        self.tallies: dict[str, Tally] = {}

    def begin(self, ask: Ask) -> None:
        """Take the next number, and reserve what one try may cost. Raises BudgetRefused and reserves nothing then."""
        series = _series(ask)
        ledger = self._project.eval(ask.run.ref).judge_ledger
        if not self._paid(ask):
            self._numbers[ask.place] = self._next(ask, series, ())
            return
        with ledger_held(self._project):
            entries = read_ledger(ledger)
            self._check(ask, entries)
            number = self._next(ask, series, entries)
            append_entry(
                ledger,
                LedgerEntry(
                    "reserved", now(), series.account, number, self._payer.id, usd=round(ask.bound_usd, 9), samples=1
                ),
            )
        self._numbers[ask.place] = number

    def _next(self, ask: Ask, series: Series, entries: tuple[LedgerEntry, ...]) -> int:
        if series.account not in self._last:
            run = self._project.eval(ask.run.ref).run(ask.run.run_id)
            self._last[series.account] = last_number(run, series, entries)
        self._last[series.account] += 1
        return self._last[series.account]

    def _check(self, ask: Ask, entries: tuple[LedgerEntry, ...]) -> None:
        total, bound = balance(entries).total_usd, ask.bound_usd
        if total + bound > self._payer.budget_usd + 1e-9:
            raise BudgetRefused(
                f"{ask.run.ref}: a call of judge '{ask.judge.id}' may cost up to {bound:.4f} USD; of judge_budget_usd "
                f"{self._payer.budget_usd:.4f} {budget_left(self._payer.budget_usd, total):.4f} USD are left; raise "
                "defaults.judge_budget_usd in eval.yml"
            )
        ceiling = self._payer.pay_usd or 0.0
        committed = invocation_total(all_ledgers(self._project), self._payer.id)
        if committed + bound > ceiling + 1e-9:
            raise BudgetRefused(
                f"{ask.run.ref}: a call of judge '{ask.judge.id}' may cost up to {bound:.4f} USD; of the ceiling of "
                f"this command, {ceiling:.4f} USD, {budget_left(ceiling, committed):.4f} are left; raise --pay-usd"
            )

    async def ask(self, ask: Ask) -> Record:
        """Make one call and return what becomes of it on disk."""
        folder = self._project.eval(ask.run.ref).run(ask.run.run_id).item(ask.item)
        sent = await asyncio.to_thread(judge_messages, ask, folder)
        if isinstance(sent, Fault):
            return self._failure(ask, Sent((), (), {}), Called(None, None, None, 0), sent)
        called = await self._called(ask, sent)
        fault = _fault(called)
        if fault is not None:
            return self._failure(ask, sent, called, fault)
        assert called.text is not None and ask.judge.rubric is not None
        found = await asyncio.to_thread(read_verdict, called.text, ask.judge.rubric.dimensions, sent.texts)
        if isinstance(found, Fault):
            return self._failure(ask, sent, called, found)
        return JudgmentRecord(
            number=self._numbers[ask.place],
            run_id=ask.run.run_id,
            item=ask.item,
            seen=ask.seen,
            rubric=ask.judge.rubric.digest,
            answers=found,
            raw=called.text,
            call=self._call(ask, sent, called),
        )

    async def _called(self, ask: Ask, sent: Sent) -> Called:
        recorded = self._voices.recorded.get(ask.judge.id)
        if recorded is not None:
            run, judge = ask.run, ask.judge
            cell = Cell(judge.model, run.arm, run.repetition, judge.id, run.model)
            return await recorded.call(RecordedCall(ask.item, cell, ask.made))
        name = f"{ask.run.run_id}/{ask.item}#{self._numbers[ask.place]:04d}"
        return await self._voices.live[ask.judge.id].call(name, sent.turns)

    def _failure(self, ask: Ask, sent: Sent, called: Called, fault: Fault) -> JudgmentFailure:
        assert ask.judge.rubric is not None, "lint refuses a judge without a rubric"
        return JudgmentFailure(
            number=self._numbers[ask.place],
            run_id=ask.run.run_id,
            item=ask.item,
            seen=ask.seen,
            rubric=ask.judge.rubric.digest,
            fault=fault,
            raw=called.text,
            call=self._call(ask, sent, called),
        )

    def _call(self, ask: Ask, sent: Sent, called: Called) -> JudgeCall:
        model = self._models[ask.judge.id]
        cost = (
            call_cost(model.price, called.usage, called.unaccounted, ask.bound_usd)
            if sent.turns
            else CallCost(0.0, 0.0)
        )
        parameters = {
            name: f"sha256:{digest(value)}" if name == SCHEMA else value for name, value in model.parameters.items()
        }
        return JudgeCall(
            judge=ask.judge.id,
            judge_digest=ask.judge_digest,
            provider=model.provider,
            model_uri=model.model_uri,
            base_url_origin=model.base_url_origin,
            parameters=parameters,
            prompt=turns_digest(sent.turns),
            time=now(),
            latency_ms=called.latency_ms,
            usage=called.usage,
            cost_usd=cost.known,
            price=model.price,
            recorded=model.provider == "replay",
            served=called.served,
            request_id=called.request_id,
            stop_reason=called.stop_reason,
            lost_usd=cost.lost,
            shown=sent.shown,
        )

    def ended(self, ask: Ask, record: Record) -> None:
        """Write the record, settle what the call cost, and tell of it."""
        run = self._project.eval(ask.run.ref).run(ask.run.run_id)
        write_judgment(run, _series(ask), record)
        tally = self._tally(ask)
        where = f"{ask.judge.id}: {ask.run.run_id} {ask.item}"
        if isinstance(record, JudgmentRecord):
            tally.verdicts += 1
            tally.passes += record.passed
            self._tell(f"{where}: {'pass' if record.passed else 'fail'}")
        else:
            tally.failures[record.fault.type] += 1
            self._tell(f"{where}: no verdict: {record.fault}")
        if record.call.lost_usd:
            self._tell(f"{where}: warning: up to {record.call.lost_usd:.6f} USD are charged for what stated no usage")
        self._settle(ask, record.call.cost_usd or 0.0, record.call.lost_usd)

    def cut(self, ask: Ask) -> None:
        """Charge a call that was cut off at the most that it may have cost."""
        self._tally(ask).cut += 1
        self._settle(ask, 0.0, ask.bound_usd)

    def _settle(self, ask: Ask, spent_usd: float, lost_usd: float) -> None:
        if not self._paid(ask):
            return
        tally = self._tally(ask)
        tally.spent_usd += spent_usd
        tally.lost_usd += lost_usd
        entry = LedgerEntry(
            "settled",
            now(),
            _series(ask).account,
            self._numbers[ask.place],
            self._payer.id,
            spent_usd=round(spent_usd, 9),
            lost_usd=round(lost_usd, 9),
        )
        with ledger_held(self._project):
            append_entry(self._project.eval(ask.run.ref).judge_ledger, entry)

    def _paid(self, ask: Ask) -> bool:
        return is_paid(self._models[ask.judge.id].price)

    def _tally(self, ask: Ask) -> Tally:
        return self.tallies.setdefault(ask.judge.id, Tally())


def _series(ask: Ask) -> Series:
    assert ask.judge.rubric is not None, "lint refuses a judge without a rubric"
    return Series(ask.run.run_id, ask.item, ask.judge.id, ask.judge.rubric.digest)


def _fault(called: Called) -> Fault | None:
    """Return why a call has no reply that may be read as a verdict."""
    if called.fault is not None:
        return called.fault
    if called.drift:
        return Fault(DRIFT, "; ".join(called.drift)[:500])
    stopped = _STOPS.get(called.stop_reason or "")
    if stopped is not None:
        return Fault(stopped, f"the reply ended with stop reason '{called.stop_reason}'")
    if called.text is None or not called.text.strip():
        return Fault(EMPTY, "the reply holds no text")
    return None
