"""What a run tells while it is at work; shown and forgotten, never evidence.

Times are UTC in ISO 8601, money is in US dollars; None means that nobody knows it (yet), never 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tamesu.base.model.evidence import AttemptState


@dataclass(frozen=True, slots=True)
class AttemptBegun:
    """An attempt asks `asked` items. `recorded` says that answers are read from a file, `paid` that they cost."""

    time: str
    eval: str
    run_id: str
    attempt: int
    provider: str
    model: str
    arm: str
    repetition: int
    asked: int
    paid: bool
    recorded: bool
    event: Literal["attempt_begun"] = "attempt_begun"


@dataclass(frozen=True, slots=True)
class CallsEnded:
    """Calls of items that are still at work ended; `cost_usd` is the cost of the attempt so far."""

    time: str
    run_id: str
    attempt: int
    cost_usd: float | None
    event: Literal["calls_ended"] = "calls_ended"


@dataclass(frozen=True, slots=True)
class ItemEnded:
    """An item ended; `cost_usd` is the cost of the attempt so far, items at work included."""

    time: str
    run_id: str
    attempt: int
    item: str
    failed: bool
    cost_usd: float | None
    event: Literal["item_ended"] = "item_ended"


@dataclass(frozen=True, slots=True)
class AttemptClosed:
    """The verdict on an attempt, from its log; `line` says it in words. From here on these figures hold.

    `cost_usd` is None where nobody knew the price.
    """

    time: str
    run_id: str
    attempt: int
    state: AttemptState
    finished: int
    failed: int
    cost_usd: float | None
    line: str
    event: Literal["attempt_closed"] = "attempt_closed"


@dataclass(frozen=True, slots=True)
class EndpointAwaited:
    """A launch waits for the endpoint of a run that is not ready; `line` says it in words."""

    time: str
    run_id: str
    line: str
    event: Literal["endpoint_awaited"] = "endpoint_awaited"


ProgressEvent = AttemptBegun | CallsEnded | ItemEnded | AttemptClosed | EndpointAwaited
