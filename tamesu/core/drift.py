"""Drift: attempts whose requests were not what the plan says, as far as results still rest on them."""

from __future__ import annotations

from collections.abc import Sequence

from tamesu.base.model.evidence import AttemptRecord


def drifted_attempts(attempts: Sequence[AttemptRecord]) -> tuple[AttemptRecord, ...]:
    """Return the attempts with differences on the wire that are the latest to finish any item."""
    latest = {item: attempt.attempt for attempt in attempts for item in attempt.finished}
    counting = set(latest.values())
    return tuple(a for a in attempts if a.wire is not None and a.wire.differences and a.attempt in counting)


def drifted_items(attempts: Sequence[AttemptRecord]) -> frozenset[str]:
    """Return the items whose latest result comes from an attempt that drifted."""
    latest = {item: attempt.attempt for attempt in attempts for item in attempt.finished}
    drifted = {attempt.attempt for attempt in drifted_attempts(attempts)}
    return frozenset(item for item, attempt in latest.items() if attempt in drifted)


def drift_line(attempts: Sequence[AttemptRecord]) -> str | None:
    """Return in one line how results came to be that the plan does not describe; None without drift."""
    told = [
        str(difference) for attempt in attempts if attempt.wire is not None for difference in attempt.wire.differences
    ]
    if not told:
        return None
    more = f" (and {len(told) - 1} more, see attempts/)" if len(told) > 1 else ""
    return f"drifted: {told[0]}{more}; correct eval.yml or the endpoint, or ask again with `tamesu resume --again`"
