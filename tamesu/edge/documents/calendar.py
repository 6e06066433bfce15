"""Days and times of documents that the calendar has: a pattern lets 31 February pass."""

from __future__ import annotations

import functools
from datetime import date, datetime

from jsonschema import FormatChecker


@functools.cache
def calendar() -> FormatChecker:
    """Return what checks the formats `date` and `date-time`; other formats are descriptions."""
    checker = FormatChecker(formats=())
    checker.checks("date", raises=ValueError)(_is_day)
    checker.checks("date-time", raises=ValueError)(_is_time)
    return checker


def _is_day(value: object) -> bool:
    return not isinstance(value, str) or bool(date.fromisoformat(value))


def _is_time(value: object) -> bool:
    return not isinstance(value, str) or bool(datetime.fromisoformat(value))
