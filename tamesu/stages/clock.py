"""The clock, UTC, to the millisecond."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """Return the present time in ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def seconds_between(earlier: str, later: str) -> float:
    """Return the seconds between two times in ISO 8601."""
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()


def seconds_since(earlier: str) -> float:
    """Return the seconds from a time in ISO 8601 until now."""
    return seconds_between(earlier, now())
