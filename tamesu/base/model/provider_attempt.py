"""One call of an attempt as its journal tells it, for the call log; what it yielded stands in the sample's evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CallState = Literal["answered", "failed", "interrupted", "lost"]


@dataclass(frozen=True, slots=True)
class ProviderAttempt:
    """One call with its retries; times are seconds since the epoch, UTC.

    `sample` is the digest of the item's record in the frozen dataset, `messages` that of what was handed to the
    provider's client, None in journals of before it was noted. `ended` is None for a call that never came to its end:
    `interrupted` by a person, or `lost` at a death.
    """

    item: str
    state: CallState
    sample: str
    messages: str | None
    started: float
    ended: float | None
    request_id: str | None = None
    served: str | None = None
