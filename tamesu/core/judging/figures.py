"""What judges said over a whole eval, in figures: verdicts, calls without one, cost, agreement with people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Literal

from tamesu.base.model.judgement import JudgeCall
from tamesu.base.model.manifest import ModelJudge, Policy
from tamesu.core.agreement import Agreement, agreement
from tamesu.core.rows import ItemRow, SlotEvidence


@dataclass(frozen=True, slots=True)
class JudgeFigures:
    """One judge over all planned items.

    `asked` counts items that it is asked about, `verdicts` those with its verdict, `passes` the positive ones, `owed`
    judgments that are missing. `failures` counts calls without a verdict by fault, stale ones included, as is the
    cost in US dollars: `spent_usd` by usage, `lost_usd` an upper bound for what stated none. `recorded` says that the
    verdicts were replayed.
    """

    judge: str
    role: Literal["screen", "gate"]
    provider: str
    model: str
    recorded: bool
    asked: int
    verdicts: int
    passes: int
    owed: int
    stale: int
    failures: Mapping[str, int]
    spent_usd: float
    lost_usd: float
    agreement: Agreement


def judge_figures(rows: Sequence[ItemRow], slots: Sequence[SlotEvidence], policy: Policy) -> tuple[JudgeFigures, ...]:
    """Return the figures of every declared judge, in declared order."""
    return tuple(_figures(rows, slots, judge) for judge in policy.judges)


def _figures(rows: Sequence[ItemRow], slots: Sequence[SlotEvidence], judge: ModelJudge) -> JudgeFigures:
    verdicts = [found for row in rows if (found := row.judge(judge.id)) is not None]
    judged = [one for slot in slots for one in slot.judged.values()]
    failures = [one for item in judged for one in item.failures if one.call.judge == judge.id]
    calls: list[JudgeCall] = [one.call for item in judged for one in item.judgments if one.call.judge == judge.id]
    calls += [one.call for one in failures]
    return JudgeFigures(
        judge=judge.id,
        role=judge.role,
        provider=judge.provider,
        model=judge.model,
        recorded=judge.provider == "replay",
        asked=len(verdicts),
        verdicts=sum(one.passed is not None for one in verdicts),
        passes=sum(one.passed is True for one in verdicts),
        owed=sum(one.owed for one in verdicts),
        stale=sum(one.stale for one in verdicts),
        failures=dict(sorted(Counter(one.fault.type for one in failures).items())),
        spent_usd=fsum(call.cost_usd or 0.0 for call in calls),
        lost_usd=fsum(call.lost_usd for call in calls),
        agreement=agreement_with_people(rows, judge.id),
    )


def agreement_with_people(rows: Sequence[ItemRow], judge: str) -> Agreement:
    """Return how far a judge and people agree on the items that have both verdicts."""
    both = ((row.judge(judge), row.human_pass) for row in rows)
    return agreement(
        (verdict.passed, human)
        for verdict, human in both
        if verdict is not None and verdict.passed is not None and human is not None
    )
