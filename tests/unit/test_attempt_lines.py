"""The line that closes an attempt says what calls without a known usage may have cost."""

from __future__ import annotations

from dataclasses import replace

from tamesu.core.attempt_lines import closing_line, endpoint_awaited
from tests.factories import make_spec
from tests.run_factories import ITEMS, attempt


def test_calls_of_unknown_usage_are_told_with_what_they_may_have_cost() -> None:
    line = closing_line(make_spec(ITEMS), replace(attempt(), failed=4, spent_usd=0.0, lost_usd=0.6152))
    assert line.endswith(
        "0/4 items good, 4 failed, 0.0000 USD, up to 0.6152 USD more for calls whose usage is unknown"
    ), line


def test_lost_calls_beyond_the_reservation_are_told() -> None:
    spec = make_spec(ITEMS)
    reserved = spec.exposure_usd(4)
    within = closing_line(spec, replace(attempt(), spent_usd=0.1, lost_usd=reserved - 0.1))
    beyond = closing_line(spec, replace(attempt(), spent_usd=0.1, lost_usd=reserved))
    told = f"together more than the {reserved:.4f} USD that were reserved (calls were retried unanswered)"
    assert told not in within
    assert beyond.endswith(told), beyond


def test_an_attempt_that_lost_nothing_says_nothing_of_it() -> None:
    line = closing_line(make_spec(ITEMS), replace(attempt(), spent_usd=0.25))
    assert line.endswith("4/4 items good, 0.2500 USD"), line


def test_who_waits_for_an_endpoint_reads_which_and_how_long() -> None:
    spec = replace(make_spec(ITEMS), base_url_origin="http://gpu-1:8000")
    event = endpoint_awaited(spec, 600.0, "2026-01-01T00:00:00.000+00:00")
    assert event.run_id == spec.run_id
    assert "waiting up to 600 s for http://gpu-1:8000, which is not ready or idle" in event.line
