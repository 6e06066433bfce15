"""Waiting for an endpoint is told at once and every half minute."""

from __future__ import annotations

from tamesu.stages.awaiting import told_patience


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def pass_by(self, seconds: float) -> None:
        self.now += seconds


def test_a_wait_is_told_before_it_begins_and_every_half_minute() -> None:
    time, told = Time(), list[float]()
    patience = told_patience(100.0, lambda: told.append(time.now), lambda: time.now, time.pass_by)
    assert patience.until(lambda: False, bool) == (False, 100.0)
    # looks at 0, 1, 3, 7, 15, then every 15 seconds
    assert told == [0.0, 30.0, 60.0, 90.0]


def test_what_is_ready_at_once_is_not_told() -> None:
    time, told = Time(), list[float]()
    patience = told_patience(100.0, lambda: told.append(time.now), lambda: time.now, time.pass_by)
    assert patience.until(lambda: True, bool) == (True, 0.0)
    assert told == []
