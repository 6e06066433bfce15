"""Events of a run at work, folded into where each of its runs stands, and what of that is shown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from tamesu.base.model.progress import AttemptBegun, AttemptClosed, EndpointAwaited, ProgressEvent
from tamesu.core.attempt_lines import run_label

AT_WORK = "at work"

Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class RunProgress:
    """Where one attempt stands: items that ended and how many of them failed, cost so far, state in one word."""

    begun: AttemptBegun
    done: int = 0
    failed: int = 0
    cost_usd: float | None = None
    closed: AttemptClosed | None = None

    @property
    def state(self) -> str:
        return AT_WORK if self.closed is None else self.closed.state


@dataclass(frozen=True, slots=True)
class Progress:
    """All attempts seen so far by run and number, in the order in which they began."""

    runs: Mapping[Key, RunProgress] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over the attempts seen; `cost_usd` is None when none of them costs or nothing is known."""

    closed: int
    done: int
    asked: int
    failed: int
    cost_usd: float | None
    recorded: bool


def advanced(progress: Progress, events: Iterable[ProgressEvent]) -> Progress:
    """Return the progress after these events; one about an attempt that never began does not count."""
    runs = dict(progress.runs)
    for event in events:
        if isinstance(event, EndpointAwaited):
            continue
        key = (event.run_id, event.attempt)
        if isinstance(event, AttemptBegun):
            runs[key] = RunProgress(event)
        elif key in runs and runs[key].closed is None:
            runs[key] = _after(runs[key], event)
    return Progress(runs)


def _after(run: RunProgress, event: ProgressEvent) -> RunProgress:
    if event.event == "attempt_closed":
        cost = event.cost_usd if run.begun.paid else None
        return replace(run, done=event.finished, failed=event.failed, cost_usd=cost, closed=event)
    if event.event == "item_ended":
        return replace(run, done=run.done + 1, failed=run.failed + event.failed, cost_usd=_later(run, event.cost_usd))
    if event.event == "calls_ended":
        return replace(run, cost_usd=_later(run, event.cost_usd))
    return run


def _later(run: RunProgress, cost_usd: float | None) -> float | None:
    return run.cost_usd if cost_usd is None else cost_usd


def totals(progress: Progress) -> Totals:
    """Return the sums over all attempts."""
    runs = progress.runs.values()
    costs = [run.cost_usd for run in runs if run.cost_usd is not None]
    return Totals(
        closed=sum(run.closed is not None for run in runs),
        done=sum(run.done for run in runs),
        asked=sum(run.begun.asked for run in runs),
        failed=sum(run.failed for run in runs),
        cost_usd=round(math.fsum(costs), 9) if costs else None,
        recorded=any(run.begun.recorded for run in runs),
    )


@dataclass(frozen=True, slots=True)
class Shown:
    """The attempts that fit on the screen, in their order, and how many more there are."""

    runs: tuple[RunProgress, ...]
    more: int


def shown(progress: Progress, most: int) -> Shown:
    """Return at most so many attempts: those at work, then those not all good, then the latest that are."""
    late_first = sorted(reversed(list(progress.runs.values())), key=_rank)
    chosen = {(run.begun.run_id, run.begun.attempt) for run in late_first[:most]}
    kept = tuple(run for key, run in progress.runs.items() if key in chosen)
    return Shown(kept, len(progress.runs) - len(kept))


def _rank(run: RunProgress) -> int:
    if run.closed is None:
        return 0
    return 1 if run.failed or run.state != "finished" else 2


def cost_text(run: RunProgress) -> str:
    """Return what a cell says about cost: an amount, why there is none, or nothing while it is unknown."""
    if run.begun.paid:
        return "" if run.cost_usd is None else f"{run.cost_usd:.4f}"
    return "recorded" if run.begun.recorded else "free"


_TENTH = 0.1
_SECONDS_AFTER_A_TENTH = 10.0
_SECONDS_AFTER_ANYTHING = 30.0


@dataclass(frozen=True, slots=True)
class Told:
    """When something was last told of an attempt, in seconds of any steady clock, and what stood there."""

    seconds: float
    done: int
    cost_usd: float | None


def lines_due(
    progress: Progress, told: Mapping[Key, Told], seconds: float
) -> tuple[tuple[str, ...], Mapping[Key, Told]]:
    """Return the lines to print now about attempts at work, and what was told by then.

    A line is due ten seconds after the last one when another tenth of the items ended, and after thirty when
    anything changed; time runs from the first news on. Begin and end are told by the attempt's own process, so
    nothing is due once all items ended.
    """
    lines: list[str] = []
    after: dict[Key, Told] = {}
    for key, run in progress.runs.items():
        if run.closed is not None or (run.done, run.cost_usd) == (0, None):
            continue
        last = told.get(key)
        if last is None:
            after[key] = Told(seconds, run.done, run.cost_usd)
        elif _due(run, last, seconds):
            lines.append(_line(run))
            after[key] = Told(seconds, run.done, run.cost_usd)
        else:
            after[key] = last
    return tuple(lines), after


def _due(run: RunProgress, last: Told, seconds: float) -> bool:
    if run.done >= run.begun.asked:
        return False
    passed = seconds - last.seconds
    if passed >= _SECONDS_AFTER_ANYTHING:
        return (run.done, run.cost_usd) != (last.done, last.cost_usd)
    return passed >= _SECONDS_AFTER_A_TENTH and run.done - last.done >= max(1.0, run.begun.asked * _TENTH)


def _line(run: RunProgress) -> str:
    begun = run.begun
    parts = [f"{run_label(begun.model, begun.arm, begun.repetition)}: {run.done}/{begun.asked} items ended"]
    if run.failed:
        parts.append(f"{run.failed} failed")
    if begun.paid and run.cost_usd is not None:
        parts.append(f"{run.cost_usd:.4f} USD so far")
    return ", ".join(parts) + (" (recorded)" if begun.recorded else "")
