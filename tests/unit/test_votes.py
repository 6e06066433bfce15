"""What reviews and judgments amount to: who counts, what is owed, what is stale."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamesu.base.model.judgement import Answer, ItemJudged, JudgeCall, JudgmentRecord
from tamesu.base.model.manifest import Acceptance, ModelJudge, Policy
from tamesu.core.rows import ItemRow, build_rows
from tamesu.core.votes import judge_digest
from tests.factories import REVIEWED, RUBRIC, make_review, reviewed, scored_slot

SLOT = scored_slot({"a": 1.0})
TWO = replace(REVIEWED, acceptance=Acceptance(("human",), 2, "adjudicate"))
JUDGE = ModelJudge("critic", "replay", "critic-1", "gate", RUBRIC, None, None, 3, {})
GATED = replace(REVIEWED, human_rubric=None, acceptance=Acceptance(("mechanical", "critic")), judges=(JUDGE,))


def row(policy: Policy, *reviews: object) -> ItemRow:
    return build_rows([reviewed(SLOT, *reviews)], policy)[0]  # type: ignore[arg-type]


def judgment(number: int, passed: bool, judge: ModelJudge = JUDGE, **options: object) -> JudgmentRecord:
    call = JudgeCall(judge.id, judge_digest(judge), "replay", "u", None, {}, "p", "t", 1, None, 0.0, None, True)
    answers = {"legible": Answer(passed, "none" if passed else "blurred")}
    record = JudgmentRecord(number, SLOT.spec.run_id, "a", {}, RUBRIC.digest, answers, "raw", call)
    return replace(record, **options)  # type: ignore[arg-type]


def judged(policy: Policy, *judgments: JudgmentRecord) -> ItemRow:
    return build_rows([replace(SLOT, judged={"a": ItemJudged(judgments=judgments)})], policy)[0]


def test_the_latest_review_of_a_person_counts() -> None:
    early = make_review(SLOT, "a", True)
    late = make_review(SLOT, "a", False, time="2026-03-02T10:00:00Z")
    assert (row(REVIEWED, late, early).human_pass, row(REVIEWED, early).human_pass) == (False, True)
    # One person twice is one review.
    assert (row(TWO, early, late).review, row(TWO, early, late).human.owed) == ("owed", 1)


def test_reviews_that_agree_are_a_verdict_and_others_are_decided_as_declared() -> None:
    ada, ben = make_review(SLOT, "a", True), make_review(SLOT, "a", False, "ben")
    agreed = row(TWO, ada, make_review(SLOT, "a", True, "ben"))
    assert (agreed.review, agreed.human_pass, agreed.accepted) == ("done", True, True)
    open_question = row(TWO, ada, ben)
    assert (open_question.review, open_question.human_pass, open_question.accepted) == ("disagreement", None, None)
    rejecting = replace(TWO, acceptance=replace(TWO.acceptance, on_disagreement="reject"))
    assert (row(rejecting, ada, ben).review, row(rejecting, ada, ben).human_pass) == ("done", False)


def test_an_adjudication_counts_while_it_settles_the_reviews_that_count() -> None:
    ada, ben = make_review(SLOT, "a", True), make_review(SLOT, "a", False, "ben")
    chair = make_review(SLOT, "a", True, "chair", settles=(ada.name, ben.name))
    assert (row(TWO, ada, ben, chair).review, row(TWO, ada, ben, chair).human_pass) == ("done", True)
    assert row(TWO, ada, chair).review == "owed"  # an adjudication is no review
    again = make_review(SLOT, "a", False, "ben", time="2026-03-03T10:00:00Z")
    assert row(TWO, ada, ben, chair, again).review == "disagreement"


@pytest.mark.parametrize("change", [{"seen": {"render": "0" * 64}}, {"rubric": "1" * 64}])
def test_a_review_of_another_output_or_rubric_is_kept_and_not_counted(change: dict[str, object]) -> None:
    stale = make_review(SLOT, "a", True, **change)
    assert (row(REVIEWED, stale).review, row(REVIEWED, stale).human.stale) == ("owed", 1)


@pytest.mark.parametrize(
    ("verdicts", "passed", "owed"),
    [((), None, 3), ((True, True), None, 1), ((True, True, False), True, 0), ((True, False, False), False, 0)],
)
def test_a_judge_passes_by_more_than_half_of_its_repetitions(
    verdicts: tuple[bool, ...], passed: bool | None, owed: int
) -> None:
    found = judged(GATED, *(judgment(number, verdict) for number, verdict in enumerate(verdicts, 1)))
    assert (found.judges[0].passed, found.judgments_owed, found.accepted) == (passed, owed, passed)


def test_an_even_split_of_a_judge_is_no_pass() -> None:
    twice = replace(JUDGE, repetitions=2)
    policy = replace(GATED, judges=(twice,))
    assert judged(policy, judgment(1, True, twice), judgment(2, False, twice)).judges[0].passed is False


def test_a_judgment_of_another_model_prompt_output_or_rubric_is_stale() -> None:
    once = replace(JUDGE, repetitions=1)
    policy = replace(GATED, judges=(once,))
    others = [
        judgment(1, True, replace(once, model="critic-2")),
        judgment(2, True, replace(once, parameters={"temperature": 0})),
        judgment(3, True, once, seen={"render": "0" * 64}),
        judgment(4, True, once, rubric="1" * 64),
    ]
    found = judged(policy, *others).judges[0]
    assert (found.passed, found.owed, found.stale) == (None, 1, 4)
    # Repetitions are how often, not what: more of them need not repeat those that are there.
    assert judged(policy, judgment(1, True, replace(once, repetitions=5))).judges[0].passed is True


def test_a_screen_decides_nothing() -> None:
    screen = replace(JUDGE, role="screen", repetitions=1)
    policy = replace(GATED, judges=(screen,), acceptance=Acceptance(("mechanical",)))
    found = judged(policy, judgment(1, False, screen))
    assert (found.judges[0].passed, found.accepted) == (False, True)
