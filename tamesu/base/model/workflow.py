"""The plan as one Snakemake invocation and all of its jobs see it: frozen once, read by every parse."""

from __future__ import annotations

from dataclasses import dataclass

from tamesu.base.model.plan import LaunchMode
from tamesu.base.model.trust import TrustedCode


@dataclass(frozen=True, slots=True)
class PlannedLaunch:
    """One launch; `allowed` says that it may start, else `refusal` is the line that says why not."""

    id: str
    eval: str
    runs: tuple[str, ...]
    mode: LaunchMode
    paid: bool
    exposure_usd: float
    budget_usd: float
    allowed: bool
    refusal: str | None


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One slot of the plan. Paths are POSIX, relative to the project; `launch` is None when nothing is owed."""

    run_id: str
    eval: str
    folder: str
    launch: str | None
    attempt: int
    frozen: bool
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlannedJudging:
    """One eval whose judges are asked after its runs are ingested, as far as that is free or may be paid."""

    id: str
    eval: str


@dataclass(frozen=True, slots=True)
class PlannedEval:
    """One eval's derived files, a line per slot that is not banked, and why nothing may start, if so.

    `stale` are the derived files that were not made from the evidence of now. A `draft` is worked off only
    when it is asked for. `unjudged` says that its judges may owe verdicts that nobody pays for here.
    """

    name: str
    folder: str
    page: str
    runs: tuple[str, ...]
    incomplete: tuple[str, ...]
    refusal: str | None
    stale: tuple[str, ...]
    draft: bool
    unjudged: bool = False


@dataclass(frozen=True, slots=True)
class PlannedCase:
    """The page of a case; `folders` are those of its planned evals, whose views it goes with.

    It is made without being asked for when one of them is no `draft`; `stale` says that other evidence made it.
    """

    name: str
    page: str
    folders: tuple[str, ...]
    stale: bool
    draft: bool


@dataclass(frozen=True, slots=True)
class PlannedPackage:
    """The archive of a case that says under which name it is published: its path, and what it is made after.

    `folders` are those of the case's planned evals; `views` are files that it holds and that rules make.
    """

    case: str
    archive: str
    folders: tuple[str, ...]
    views: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WorkflowPlan:
    """Everything rules look up. `invocation` is unique; reservations under it add up to at most `pay_usd`.

    `broken` are lines about evals that do not read, `left_out` names evals that may not start while others do.
    `trusted` is the word for foreign code that was given with this invocation. `judge_pay_usd` is the part of `pay_usd`
    that judges may use; None: only free ones are asked. Of each run `limit_items` are asked at most; None: all.
    """

    invocation: str
    pay_usd: float | None
    again: bool
    launches: tuple[PlannedLaunch, ...]
    runs: tuple[PlannedRun, ...]
    evals: tuple[PlannedEval, ...]
    broken: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    trusted: tuple[TrustedCode, ...] = ()
    judging: tuple[PlannedJudging, ...] = ()
    judge_pay_usd: float | None = None
    cases: tuple[PlannedCase, ...] = ()
    packages: tuple[PlannedPackage, ...] = ()
    limit_items: int | None = None

    @property
    def stale(self) -> bool:
        """Whether a derived file was not made from the evidence of now."""
        return any(one.stale for one in self.evals) or any(one.stale for one in self.cases)
