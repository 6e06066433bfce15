"""Figures worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamesu.base.errors import UnknownName
from tamesu.base.model.evidence import Outcome
from tamesu.base.model.manifest import MechanicalCheck
from tamesu.base.model.plan import SlotState
from tamesu.core.metrics import MetricValue, cell_metrics, known_metric_names, measure
from tamesu.core.rows import ItemRow, SlotEvidence, build_rows
from tests.factories import (
    POLICY,
    REVIEWED,
    make_failure,
    make_result,
    make_review,
    make_slot,
    make_spec,
    reviewed,
    scored_slot,
)

C01 = {f"r{n}": 1.0 for n in range(6)} | {f"w{n}": 0.0 for n in range(2)} | {f"e{n}": None for n in range(2)}


def figures(rows: tuple[ItemRow, ...], *names: str) -> list[float | None]:
    return [measure(rows, POLICY, name).value for name in names]


def test_c01_items_that_raise_stay_in_the_denominator() -> None:
    rows = build_rows([scored_slot(C01)], POLICY)
    names = ("mean_score:works", "mean_score_scored:works", "completion_rate")
    (cell,) = cell_metrics(rows, POLICY, names)
    headline, scored, completion = cell.values
    assert (headline.value, headline.n) == (0.6, 10)
    assert headline.note == "8 of 10 scored, 2 failed; those not scored count as 0"
    assert (scored.value, scored.n) == (0.75, 8)
    assert scored.note == "of 8 scored; 10 planned"
    assert completion.value == 0.8
    assert (cell.planned, cell.complete, cell.failed, cell.owed) == (10, 8, 2, 0)


def test_c01_all_items_raise() -> None:
    rows = build_rows([scored_slot(dict.fromkeys("abc"))], POLICY)
    assert figures(rows, "mean_score:works", "mean_score_scored:works", "full_credit_rate:works") == [
        0.0,
        None,
        0.0,
    ]


def test_c04_groups_of_unequal_size_are_pooled() -> None:
    large = {f"a{n}": float(n < 180) for n in range(200)}
    small = {f"b{n}": float(n < 3) for n in range(10)}
    value = measure(build_rows([scored_slot(large | small)], POLICY), POLICY, "mean_score:works")
    assert value.value == pytest.approx(183 / 210)
    assert value.n == 210


def test_c06_first_attempts_are_shown_apart() -> None:
    spec = make_spec(["a", "b", "c", "d"])
    results = [replace(make_result(spec, item), attempts=1 + (item in "cd")) for item in spec.items]
    rows = build_rows([make_slot(spec, results)], POLICY)
    assert figures(rows, "mean_score:works", "mean_score_first_attempt:works") == [1.0, 0.5]


def test_full_credit_and_partial_credit_differ() -> None:
    rows = build_rows([scored_slot({"a": 1.0, "b": 0.5, "c": 0.0, "d": None})], POLICY)
    assert figures(rows, "mean_score:works", "full_credit_rate:works") == [0.375, 0.25]


def test_owed_items_count_as_zero_and_are_named() -> None:
    spec = make_spec(["a", "b"])
    rows = build_rows([make_slot(spec, [make_result(spec, "a")], SlotState.PARTIAL)], POLICY)
    value = measure(rows, POLICY, "mean_score:works")
    assert (value.value, value.note) == (0.5, "1 of 2 scored, 1 owed; those not scored count as 0")


def test_a_figure_over_owed_items_is_provisional() -> None:
    spec = make_spec(["a", "b", "c"])
    results = [make_result(spec, "a"), make_result(spec, "b", 0.0)]
    value = measure(build_rows([make_slot(spec, results, SlotState.PARTIAL)], POLICY), POLICY, "completion_rate")
    assert (value.provisional, value.interval, value.lacking) == (True, None, "provisional, 1 of 3 owed")


def test_what_has_not_run_has_no_figure() -> None:
    rows = build_rows([make_slot(make_spec(["a", "b"]), [], SlotState.OWED)], POLICY)
    for name in known_metric_names(POLICY, has_review_role=True):
        value = measure(rows, POLICY, name)
        assert (value.value, value.lacking) == (None, "nothing has run, 2 owed")


def test_kinds_of_answers_are_rates_of_all_planned_items() -> None:
    spec = make_spec(["a", "b", "c", "d"])
    answers = ("truncated", "empty", "filtered", "truncated")
    results = [
        replace(make_result(spec, item), answer=answer)  # type: ignore[arg-type]
        for item, answer in zip(spec.items, answers, strict=True)
    ]
    rows = build_rows([make_slot(spec, results)], POLICY)
    assert figures(rows, "truncated_rate", "empty_rate", "filtered_rate") == [0.5, 0.25, 0.25]


def test_time_tokens_and_money() -> None:
    spec = make_spec(["a", "b", "c"])
    results = [
        replace(make_result(spec, item), latency_ms=latency, cost_usd=cost)
        for item, latency, cost in (("a", 100, 0.01), ("b", 900, 0.02), ("c", 200, 0.06))
    ]
    rows = build_rows([make_slot(spec, results)], POLICY)
    names = ("median_latency_ms", "mean_total_tokens", "mean_cost_usd")
    assert [200.0, 150.0, pytest.approx(0.03)] == figures(rows, *names)


def test_one_unknown_cost_makes_the_mean_unknown() -> None:
    spec = make_spec(["a", "b"])
    rows = build_rows(
        [make_slot(spec, [make_result(spec, "a"), replace(make_failure(spec, "b"), cost_usd=None)])], POLICY
    )
    value = measure(rows, POLICY, "mean_cost_usd")
    assert (value.value, value.note) == (None, "cost unknown for 1 of 2")
    assert measure(rows, POLICY, "cost_per_accepted_usd").value is None


def test_artifacts_must_all_be_there() -> None:
    spec = make_spec(["a", "b", "c"])
    lacking = replace(make_result(spec, "b"), missing_artifacts=("run-log",))
    rows = build_rows([make_slot(spec, [make_result(spec, "a"), lacking, make_failure(spec, "c")])], POLICY)
    assert [pytest.approx(1 / 3)] == figures(rows, "artifact_complete_rate")


def generated_slot() -> SlotEvidence:
    """Five items: right, right, wrong, right without a valid artifact, failed."""
    spec = make_spec(["r1", "r2", "wrong", "broken", "failed"])
    broken = replace(make_result(spec, "broken"), outcome=Outcome("invalid_artifact", "undecodable_image"))
    results = [
        make_result(spec, "r1"),
        make_result(spec, "r2"),
        make_result(spec, "wrong", 0.0),
        broken,
        make_failure(spec, "failed"),
    ]
    return make_slot(spec, results)


def reviewed_rows() -> tuple[ItemRow, ...]:
    return build_rows([generated_slot()], REVIEWED)


def value_of(rows: tuple[ItemRow, ...], name: str) -> MetricValue:
    return measure(rows, REVIEWED, name)


def test_owed_reviews_leave_verdicts_unknown() -> None:
    rows = reviewed_rows()
    accepted = value_of(rows, "accepted_rate")
    # The item that failed mechanically is rejected whatever its review will say.
    assert (accepted.value, accepted.lacking) == (None, "2 reviews owed")
    assert value_of(rows, "human_pass_rate").lacking == "3 reviews owed"
    assert value_of(rows, "cost_per_accepted_usd").value is None
    assert value_of(rows, "review_completion_rate").value == 0.0
    assert "0 of 3 reviewable items reviewed; 5 planned" in value_of(rows, "review_completion_rate").note


def test_verdicts_over_planned_items_and_given_an_artifact() -> None:
    verdicts = {"r1": True, "r2": False, "wrong": True}
    slot = generated_slot()
    rows = build_rows([reviewed(slot, *(make_review(slot, item, said) for item, said in verdicts.items()))], REVIEWED)
    expected = {
        "render_rate": 3 / 5,
        "mechanical_pass_rate": 3 / 5,
        "mechanical_pass_rate_given_artifact": 2 / 3,
        "human_pass_rate": 2 / 5,
        "human_pass_rate_given_artifact": 2 / 3,
        "accepted_rate": 1 / 5,
        "accepted_rate_given_artifact": 1 / 3,
        "review_completion_rate": 3 / 5,
        "cost_per_accepted_usd": 0.05,
    }
    actual = {name: value_of(rows, name).value for name in expected}
    assert pytest.approx(expected) == actual
    assert tuple(
        value_of(rows, name).n for name in ("cost_per_accepted_usd", "accepted_rate", "accepted_rate_given_artifact")
    ) == (1, 5, 3)


def test_nothing_accepted_has_no_price() -> None:
    value = measure(build_rows([scored_slot({"a": 0.0})], POLICY), POLICY, "cost_per_accepted_usd")
    assert (value.value, value.lacking) == (None, "nothing accepted")


def test_cells_are_model_by_arm_with_their_own_counts() -> None:
    slots = [
        scored_slot({"a": 1.0, "b": 0.0}, arm=arm, repetition=number) for arm in ("plain", "rich") for number in (1, 2)
    ]
    cells = cell_metrics(build_rows(slots, POLICY), POLICY, ["mean_score:works"])
    assert [str(cell.cell) for cell in cells] == ["openai/model-a · plain", "openai/model-a · rich"]
    assert [(cell.items, cell.repetitions, cell.planned) for cell in cells] == [(2, 2, 4)] * 2


def test_known_names_depend_on_scorers_role_and_rubric() -> None:
    policy = replace(POLICY, mechanical=(MechanicalCheck("works"), MechanicalCheck("grader.style")))
    plain = known_metric_names(policy, has_review_role=False)
    assert "mean_score:grader.style" in plain and "render_rate" not in plain
    rendering = known_metric_names(policy, has_review_role=True)
    assert "accepted_rate_given_artifact" in rendering and "human_pass_rate" not in rendering
    assert "human_pass_rate_given_artifact" in known_metric_names(REVIEWED, has_review_role=True)


def test_an_unknown_metric_names_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean mean_score:works"):
        measure((), POLICY, "mean_score:work")


def test_medians_ratios_and_equal_amounts_have_no_interval_and_say_why() -> None:
    rows = build_rows([scored_slot({"a": 1.0, "b": 1.0, "c": 0.0})], POLICY)
    told = {
        "median_latency_ms": "no interval for a median",
        "cost_per_accepted_usd": "no interval for a ratio of totals",
        "mean_cost_usd": "no interval: every item has the same mean",
    }
    for name, lacking in told.items():
        value = measure(rows, POLICY, name)
        assert (value.interval, value.lacking) == (None, lacking)
        assert value.value is not None
    (one,) = cell_metrics(build_rows([scored_slot({"a": 0.5})], POLICY), POLICY, ["mean_score:works"])
    assert (one.values[0].value, one.values[0].interval) == (0.5, None)
    assert one.values[0].lacking == "no interval from one item"


def test_c06_attempts_stand_beside_the_items_that_took_them() -> None:
    """A tool that fails whenever an answer goes wrong: 0.5 at first, 1.0 after tries that only those items had."""
    spec = make_spec(["a", "b", "c", "d"])
    results = [replace(make_result(spec, item), attempts=3 if item in "cd" else 1) for item in spec.items]
    slot = make_slot(spec, results)
    rows = build_rows([slot], POLICY)
    assert {row.item: row.attempts for row in rows} == {"a": 1, "b": 1, "c": 3, "d": 3}
    value = measure(rows, POLICY, "mean_score_first_attempt:works")
    assert (value.value, value.note) == (0.5, "2 of 4 took more than one attempt, these count as 0")
