"""Sizing: what an interval will be, what items will cost and take, and breadth before repetitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tamesu.base.model.evidence import ExecutionRecord, RunRecord
from tamesu.base.model.manifest import Dataset, Eval, Item
from tamesu.base.model.plan import Price, RunSpec, Slot, SlotState
from tamesu.core.pace import forecasts, measure_pace
from tamesu.core.rows import ItemRow, build_rows
from tamesu.core.sizing import size
from tamesu.core.slots import NOTHING, slot
from tests.factories import POLICY, make_eval, make_failure, make_result, make_slot, make_spec, scored_slot
from tests.run_factories import ALL, DONE, ITEMS, RETRY, record

EXECUTION = ExecutionRecord(
    "inspect",
    "0",
    1,
    "0",
    "3",
    "openai/model-a",
    None,
    None,
    None,
    {},
    {},
    0,
    1,
    4,
    4,
    Price(2.0, 8.0),
    False,
    (),
    8.0,
    4.0,
)


def eval_of(items: int, metric: str = "mean_score:works") -> Eval:
    dataset = Dataset("items", "dataset.yml", tuple(Item(f"i{n}", "x") for n in range(items)))
    return replace(make_eval(replace(POLICY, primary_metric=metric)), dataset=dataset)


def owed(spec: RunSpec) -> Slot:
    return slot(spec, NOTHING)


def planned(items: int, repetitions: int = 1) -> list[Slot]:
    names = [f"i{n}" for n in range(items)]
    return [owed(make_spec(names, repetition=number)) for number in range(1, repetitions + 1)]


def rows_of(*scores: Mapping[str, float | None], **options: Any) -> tuple[ItemRow, ...]:
    cells = [scored_slot(one, arm=f"arm-{n}", **options) for n, one in enumerate(scores)]
    return build_rows(cells, POLICY)


def run_of(model: str = "model-a", usd: float = 0.4, **execution: Any) -> RunRecord:
    spec = make_spec(ITEMS, model=model)
    return record(spec, ALL, spent_usd=usd, execution=replace(EXECUTION, **execution))


class TestPrecision:
    def test_a_score_is_judged_by_the_worst_spread_until_something_is_measured(self) -> None:
        """1.96 x 0.5 / sqrt(100)."""
        told = size(eval_of(100), planned(100), (), ()).precision
        assert told.half_width == pytest.approx(0.0980, abs=1e-4)
        assert told.basis == "worst case for scores between 0 and 1, no spread measured yet"

    def test_a_rate_is_judged_by_the_worst_rate(self) -> None:
        """Wilson at 50 of 100: 0.4038 to 0.5962."""
        told = size(eval_of(100, "completion_rate"), planned(100), (), ()).precision
        assert told.half_width == pytest.approx(0.0962, abs=1e-4)

    def test_what_has_no_bounds_is_not_known_until_measured(self) -> None:
        told = size(eval_of(9, "mean_cost_usd"), planned(9), (), ()).precision
        assert (told.half_width, told.basis) == (None, "nothing measured yet, and the metric has no bounds")

    def test_a_measured_spread_replaces_the_worst_case(self) -> None:
        """Standard deviation of 0.2, 0.4, 0.6 is 0.2; t for 8 degrees of freedom is 2.306."""
        rows = rows_of({"a": 0.2, "b": 0.4, "c": 0.6})
        told = size(eval_of(9), planned(9), rows, ()).precision
        assert told.half_width == pytest.approx(2.306 * 0.2 / 3, abs=1e-4)
        assert told.basis == "the spread between items of 3 items of 1 pilot"

    def test_items_that_score_alike_prove_no_certainty(self) -> None:
        told = size(eval_of(4), planned(4), rows_of({"a": 0.5, "b": 0.5, "c": 0.5}), ()).precision
        assert told.half_width == pytest.approx(1.96 * 0.5 / 2, abs=1e-3)
        assert told.basis.startswith("worst case")

    def test_an_interval_is_no_wider_than_the_scale(self) -> None:
        assert size(eval_of(1), planned(1), (), ()).precision.half_width == 0.5

    def test_a_measured_rate_gives_its_own_interval(self) -> None:
        """Wilson at 90 of 100 instead of 50 of 100."""
        rows = rows_of({f"i{n}": float(n > 0) for n in range(10)})
        told = size(eval_of(100), planned(100), rows, ()).precision
        assert told.half_width == pytest.approx((0.9448 - 0.8256) / 2, abs=1e-3)
        assert told.basis == "the rate of 10 items of 1 pilot"


def advice(items: int, selected: int, repetitions: int, *rows: ItemRow, runs: Sequence[RunRecord] = ()) -> list[str]:
    return list(size(eval_of(items), planned(selected, repetitions), rows, runs).advice)


class TestAdvice:
    def test_unselected_items_come_first(self) -> None:
        first, second = advice(40, 10, 1)
        assert first == "breadth first: 30 items of the dataset are not selected, all 40 give ±0.155"
        assert second.startswith("no earlier run")

    def test_repetitions_before_breadth_are_compared_with_the_same_money(self) -> None:
        told = advice(40, 10, 3)[1]
        assert told == (
            "3 repetitions are planned before breadth shows signal: 30 items once give ±0.179 instead of ±0.310"
        )

    def test_repetitions_are_suggested_only_after_signal(self) -> None:
        clear = rows_of({f"i{n}": 0.1 + n / 100 for n in range(8)}, {f"i{n}": 0.8 + n / 90 for n in range(8)})
        (told,) = advice(8, 8, 1, *clear, runs=[run_of()])
        assert told.startswith("breadth shows signal (arm-1 − arm-0 (openai/model-a)): repetitions would tell")
        unclear = rows_of({f"i{n}": n % 2 / 2 for n in range(8)}, {f"i{n}": (n + 1) % 2 / 2 for n in range(8)})
        assert advice(8, 8, 1, *unclear, runs=[run_of()]) == [
            "no difference is clear yet: add items before repetitions"
        ]

    def test_a_wider_selection_of_measured_runs_is_not_free(self) -> None:
        assert advice(40, 10, 1, runs=[run_of()])[0].endswith("; that makes the finished runs stale")


class TestPace:
    def test_runs_are_pooled_by_item(self) -> None:
        pace = measure_pace([run_of(usd=0.4), run_of(usd=0.8, busy_seconds=16.0)], Price(2.0, 8.0))
        assert pace is not None
        assert (pace.pilots, pace.items) == (2, 8)
        assert pace.usd == pytest.approx(0.15)
        assert (pace.lowest_usd, pace.highest_usd) == (pytest.approx(0.1), pytest.approx(0.2))
        assert pace.seconds == pytest.approx(3.0)
        assert pace.concurrency == pytest.approx(3.0)

    def test_what_was_paid_at_another_price_says_nothing(self) -> None:
        """Runs that were free before a price was stated would forecast nothing at all."""
        pace = measure_pace([run_of(usd=0.0, price=Price(0.0, 0.0, free=True))], Price(2.0, 8.0))
        assert pace is not None
        assert (pace.usd, pace.lowest_usd, pace.seconds) == (None, None, pytest.approx(2.0))

    def test_runs_without_items_say_nothing(self) -> None:
        assert measure_pace([replace(run_of(), items={})], Price(2.0, 8.0)) is None

    def test_runs_in_which_every_item_failed_forecast_nothing(self) -> None:
        """An endpoint that refuses every call is quick and free, which says nothing about an answer."""
        refused = record(make_spec(ITEMS), dict.fromkeys(ITEMS, RETRY), spent_usd=0.0, execution=EXECUTION)
        assert measure_pace([refused], Price(2.0, 8.0)) is None
        assert measure_pace([refused, run_of(usd=0.4)], Price(2.0, 8.0)) == measure_pace(
            [run_of(usd=0.4)], Price(2.0, 8.0)
        )

    def test_time_is_not_known_where_it_was_not_measured(self) -> None:
        pace = measure_pace([run_of(busy_seconds=None, wall_seconds=None)], Price(2.0, 8.0))
        assert pace is not None
        assert (pace.seconds, pace.concurrency) == (None, None)
        adopted = measure_pace([run_of(wall_seconds=None)], Price(2.0, 8.0))
        assert adopted is not None
        assert (adopted.seconds, adopted.concurrency) == (pytest.approx(2.0), None)

    def test_a_start_longer_than_its_work_is_no_concurrency_below_one(self) -> None:
        pace = measure_pace([run_of(busy_seconds=1.0, wall_seconds=10.0)], Price(2.0, 8.0))
        assert pace is not None
        assert pace.concurrency == 1.0

    def test_a_forecast_is_items_times_pace(self) -> None:
        (told,) = forecasts([owed(make_spec(ITEMS))], [run_of(), run_of(model="model-b", usd=9.0)])
        assert (told.model, told.pending) == ("model-a", 4)
        assert told.usd == pytest.approx(0.4)
        assert told.single_stream_seconds == pytest.approx(8.0)
        assert told.seconds == pytest.approx(4.0)
        assert told.exposure_usd == pytest.approx(4 * 0.35)

    def test_a_rented_endpoint_is_forecast_by_the_clock(self) -> None:
        """4 items of 2 s at 2 in flight are 4 s; 3 USD an hour make 1/300 USD, whatever the items were charged."""
        rented = replace(make_spec(ITEMS), price=Price(0.0, 0.0, usd_per_hour=3.0))
        (told,) = forecasts([owed(rented)], [run_of(usd=9.0)])
        assert told.usd == pytest.approx(3.0 * 4.0 / 3600)
        assert told.usd_per_hour == 3.0
        (unknown,) = forecasts([owed(rented)], [run_of(wall_seconds=None)])
        assert unknown.usd is None

    def test_without_runs_nothing_is_made_up(self) -> None:
        (told,) = forecasts([owed(make_spec(ITEMS))], [])
        assert (told.pace, told.usd, told.seconds, told.single_stream_seconds) == (None, None, None, None)
        free = replace(make_spec(ITEMS), price=Price(0.0, 0.0, free=True))
        assert forecasts([owed(free)], [])[0].usd == 0.0

    def test_what_is_banked_is_not_forecast(self) -> None:
        spec = make_spec(ITEMS)
        banked = replace(owed(spec), state=SlotState.BANKED, pending=())
        (told,) = forecasts([banked], [run_of()])
        assert (told.pending, told.usd, told.seconds) == (0, 0.0, 0.0)
        assert ALL["a"] == DONE


class TestPilotsThatAreNotFinal:
    def test_refused_calls_are_no_measurement(self) -> None:
        """A pilot in which every call was refused says nothing of the spread: zeros would promise certainty."""
        spec = make_spec(ITEMS)
        refused = [replace(make_failure(spec, item), retryable=True) for item in ITEMS]
        rows = build_rows([make_slot(spec, refused, SlotState.PARTIAL)], POLICY)
        assert (
            size(eval_of(100), planned(100), rows, ()).precision == size(eval_of(100), planned(100), (), ()).precision
        )

    def test_items_that_are_asked_again_are_left_out(self) -> None:
        answered = {"a": 0.2, "b": 0.4, "c": 0.6}
        spec = make_spec((*answered, "d"))
        again = replace(make_failure(spec, "d"), retryable=True)
        results = [*(make_result(spec, item, score) for item, score in answered.items()), again]
        rows = build_rows([make_slot(spec, results, SlotState.PARTIAL)], POLICY)
        assert size(eval_of(9), planned(9), rows, ()).precision.basis == (
            "the spread between items of 3 items of 1 pilot"
        )
