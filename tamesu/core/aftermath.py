"""How an unfinished run stands, in words: who holds it, or how its last attempt ended and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from tamesu.base.model.evidence import AttemptRecord
from tamesu.base.model.plan import Holder, SlotState

_ENDS = {
    "interrupted": "interrupted at {ended}",
    "died": "its process was killed (attempt {number}, begun at {started})",
    "corrupt": "the log of attempt {number} cannot be read",
    "faulted": "attempt {number} ended at {ended} before anything was asked",
}


def aftermath(
    state: SlotState,
    holder: Holder | None,
    unclosed: bool,
    attempts: Sequence[AttemptRecord],
    pending: Sequence[str],
    planned: int,
) -> str | None:
    """Return how a run under way or cut short stands; None for one that needs no word.

    `pending` are the items to be asked, of `planned`; `unclosed` says that a dead process left an attempt open.
    """
    if state is SlotState.RUNNING and holder is not None:
        return f"{describe(holder)} is at work on it; wait for it or stop it"
    if state is not SlotState.PARTIAL:
        return None
    if unclosed:
        return (
            "cut off (its process was killed, or its log is not visible yet); `tamesu run` counts what it did, goes on"
        )
    if not pending:
        return "all items are done and not counted yet; `tamesu run` counts them"
    end = _end(attempts)
    done = f"{planned - len(pending)} of {planned} items done"
    return f"{end}{done}; `tamesu run` goes on"


def _end(attempts: Sequence[AttemptRecord]) -> str:
    last = max(attempts, key=lambda attempt: attempt.attempt, default=None)
    if last is None or last.state not in _ENDS:
        return ""
    if last.state == "died" and last.error is not None and last.adopted is None:
        return f"attempt {last.attempt} broke off ({last.error.type}: {last.error.message}), "
    times = {"started": _short(last.started), "ended": _short(last.ended)}
    why = f" ({last.error.type}: {last.error.message})" if last.state == "faulted" and last.error is not None else ""
    return f"{_ENDS[last.state].format(number=last.attempt, **times)}{why}, "


def _short(time: str) -> str:
    """A time to the second; all are UTC."""
    return f"{time[:10]} {time[11:19]} UTC"


def describe(who: Holder) -> str:
    """Return a holder in words."""
    return f"process {who.pid} on {who.host} since {who.since}"
