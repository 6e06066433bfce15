"""One row per planned item, judged by the policy of now."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamesu.base.errors import EvidenceError
from tamesu.base.model.evidence import Outcome
from tamesu.base.model.manifest import Acceptance, MechanicalCheck, Policy
from tamesu.base.model.plan import SlotState
from tamesu.core.rows import build_rows, rows_by_run
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


def test_every_planned_item_has_a_row_in_plan_order() -> None:
    spec = make_spec(["b", "a", "c"])
    slot = make_slot(spec, [make_result(spec, "a"), make_failure(spec, "c")], SlotState.PARTIAL)
    rows = build_rows([slot], POLICY)
    assert [(row.item, row.state) for row in rows] == [("b", "owed"), ("a", "complete"), ("c", "failed")]
    assert [row.mechanical_pass for row in rows] == [None, True, False]
    assert [row.attempts for row in rows] == [0, 1, 1]


def test_a_failed_item_has_no_number() -> None:
    spec = make_spec(["a"])
    failed = replace(make_failure(spec, "a"), scores=make_result(spec, "a", 0.0).scores)
    (row,) = build_rows([make_slot(spec, [failed])], POLICY)
    assert (row.scores[0].value, row.scores[0].passed) == (None, None)
    assert (row.error_type, row.error_message) == ("TimeoutError", "connection reset")


def test_pass_flags_follow_the_policy_of_now_and_not_the_recorded_ones() -> None:
    slot = scored_slot({"a": 0.5})
    lenient = replace(POLICY, mechanical=(MechanicalCheck("works", pass_at=0.5),))
    assert [build_rows([slot], policy)[0].mechanical_pass for policy in (POLICY, lenient)] == [False, True]


def test_every_listed_scorer_must_pass() -> None:
    spec = make_spec(["a", "b"])
    policy = replace(POLICY, mechanical=(MechanicalCheck("works"), MechanicalCheck("fast", 0.5)))
    results = [
        make_result(spec, "a", {"works": 1.0, "fast": 0.4}),
        make_result(spec, "b", {"fast": 0.5, "works": 1.0}),
    ]
    rows = build_rows([make_slot(spec, results)], policy)
    assert [row.mechanical_pass for row in rows] == [False, True]
    assert [score.scorer for score in rows[1].scores] == ["works", "fast"]


@pytest.mark.parametrize(("retryable", "attempts", "final"), [(True, 1, False), (True, 3, True), (False, 1, True)])
def test_a_failure_is_final_when_no_attempt_is_left(retryable: bool, attempts: int, final: bool) -> None:
    spec = make_spec(["a"])
    failure = replace(make_failure(spec, "a"), retryable=retryable, attempts=attempts)
    assert final == build_rows([make_slot(spec, [failure])], POLICY)[0].final


def test_items_of_a_drifted_run_are_owed() -> None:
    spec = make_spec(["a"])
    (row,) = build_rows([make_slot(spec, [make_result(spec, "a")], SlotState.DRIFTED)], POLICY)
    assert row.state == "owed"
    assert row.scores[0].value is None


def test_a_result_filed_under_another_item_is_refused() -> None:
    spec = make_spec(["a", "b"])
    slot = replace(make_slot(spec, []), results={"a": make_result(spec, "b")})
    with pytest.raises(EvidenceError, match="filed under item 'a' is of item 'b'"):
        build_rows([slot], POLICY)


def test_review_is_owed_for_what_was_generated_and_leaves_acceptance_unknown() -> None:
    spec = make_spec(["good", "wrong", "broken", "failed"])
    broken = replace(make_result(spec, "broken"), outcome=Outcome("invalid_artifact", "undecodable_image"))
    results = [
        make_result(spec, "good"),
        make_result(spec, "wrong", 0.0),
        broken,
        make_failure(spec, "failed"),
    ]
    rows = build_rows([make_slot(spec, results)], REVIEWED)
    assert [row.review for row in rows] == ["owed", "owed", "none", "none"]
    assert [row.accepted for row in rows] == [None, False, False, False]


def test_acceptance_never_blends_kinds_of_evidence() -> None:
    slot = scored_slot({"right": 1.0, "wrong": 0.0})

    def accepted(item: str, said: bool, policy: Policy) -> bool | None:
        rows = build_rows([reviewed(slot, make_review(slot, item, said))], policy)
        return next(row.accepted for row in rows if row.item == item)

    assert [accepted("right", said, REVIEWED) for said in (True, False)] == [True, False]
    assert accepted("wrong", True, REVIEWED) is False
    assert accepted("wrong", True, replace(REVIEWED, acceptance=Acceptance(requires=("human",)))) is True


def test_rows_are_grouped_by_run() -> None:
    slots = [scored_slot({"a": 1.0}, repetition=number) for number in (1, 2)]
    groups = rows_by_run(build_rows(slots, POLICY))
    assert [slot.spec.run_id for slot in slots] == list(groups)
