"""What made an attempt slower than it was configured to be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamesu.base.model.load import LoadSummary
from tamesu.base.model.wire import WireCheck
from tamesu.core.speed import speed_remarks
from tests.factories import make_spec
from tests.run_factories import attempt

ITEMS = tuple(f"i{number}" for number in range(20))
SPEC = replace(make_spec(ITEMS), provider="openai", concurrency=8)
QUEUE = "a queue stands in front of it; raise the requests that one container serves at once before adding replicas"


@pytest.mark.parametrize(("reached", "told"), [(8, 0), (4, 0), (3, 1), (1, 1), (None, 0)])
def test_less_than_half_of_the_configured_concurrency_is_told(reached: int | None, told: int) -> None:
    record = replace(replace(attempt(), asked=ITEMS), concurrency_reached=reached)
    remarks = speed_remarks(SPEC, record)
    assert len(remarks) == told
    assert all(remark.startswith(f"{reached} calls at once were reached of 8 configured") for remark in remarks)


def test_few_items_or_recorded_answers_say_nothing_about_an_endpoint() -> None:
    one = replace(replace(attempt(), asked=ITEMS[:1]), concurrency_reached=1)
    assert speed_remarks(SPEC, one) == ()
    slow = replace(replace(attempt(), asked=ITEMS), concurrency_reached=1)
    assert speed_remarks(replace(SPEC, provider="replay"), slow) == ()


@pytest.mark.parametrize(
    ("ratio", "wall", "told"), [(1300.0, 121_000.0, True), (2.9, 121_000.0, False), (40.0, 900.0, False)]
)
def test_wall_time_far_above_the_servers_own_is_a_queue(ratio: float, wall: float, told: bool) -> None:
    """A reply of 121 s that the server worked on for 88 ms waited in a proxy, not in the model."""
    wire = WireCheck("http", 20, 20, queue_ratio=ratio, wall_ms=wall)
    remarks = speed_remarks(SPEC, replace(replace(attempt(), asked=ITEMS), concurrency_reached=8, wire=wire))
    assert remarks == ((f"replies took {ratio:.0f} times the server's own time: {QUEUE}",) if told else ())


@pytest.mark.parametrize(
    ("load", "told"),
    [
        (LoadSummary(9, 0, 1, 1.0, 0, 0.0), True),
        (LoadSummary(9, 0, 1, 1.0, 5, 2.0), False),  # they wait in the engine, where its own figures show it
        (LoadSummary(9, 0, 7, 6.0, 0, 0.0), False),
        (LoadSummary(2, 0, 1, 1.0, 0, 0.0), False),  # too few looks
    ],
)
def test_an_engine_with_little_work_and_nobody_waiting_has_a_queue_before_it(load: LoadSummary, told: bool) -> None:
    remarks = speed_remarks(SPEC, replace(replace(attempt(), asked=ITEMS), concurrency_reached=8, load=load))
    expected = f"the engine worked on {load.max_running} requests at most and none waited there: {QUEUE}"
    assert remarks == ((expected,) if told else ())
