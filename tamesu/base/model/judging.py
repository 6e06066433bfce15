"""Where model judges stand: what they owe, what asking for it may cost, and what forbids it. Money is in US dollars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tamesu.base.model.plan import Blocker


@dataclass(frozen=True, slots=True)
class JudgeStanding:
    """One judge over all outputs of an eval that can be judged now.

    `planned` = `counted` + `owed` verdicts; of those owed `askable` would be asked for now, the others are final by
    failure. `stale` verdicts saw another output, rubric, prompt, model or parameters. `largest_call_usd` is None when
    nothing bounds what a call may cost, and means nothing while nothing is askable.
    """

    judge: str
    role: Literal["screen", "gate"]
    provider: str
    model: str
    paid: bool
    recorded: bool
    planned: int
    counted: int
    owed: int
    askable: int
    stale: int
    largest_call_usd: float | None

    @property
    def exposure_usd(self) -> float:
        """The most that asking for everything askable may cost; means nothing when nothing bounds a call."""
        return self.askable * (self.largest_call_usd or 0.0) if self.paid else 0.0


@dataclass(frozen=True, slots=True)
class JudgePlan:
    """All judges of an eval, the money in judge-ledger.jsonl, and why paid or any judging may not start."""

    judges: tuple[JudgeStanding, ...]
    spent_usd: float
    reserved_usd: float
    budget_usd: float
    blockers: tuple[Blocker, ...]

    @property
    def owed(self) -> int:
        return sum(one.owed for one in self.judges)

    @property
    def askable(self) -> int:
        return sum(one.askable for one in self.judges)

    @property
    def paid(self) -> bool:
        """Whether any of what is askable costs money."""
        return any(one.paid and one.askable for one in self.judges)

    @property
    def exposure_usd(self) -> float:
        return sum(one.exposure_usd for one in self.judges)
