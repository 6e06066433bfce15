"""What the reports say that an evaluation cannot tell, each sentence only where it holds."""

from __future__ import annotations

import re
from dataclasses import replace

from tamesu.base.model.evidence import Outcome
from tamesu.base.model.manifest import Item
from tamesu.base.model.plan import SlotState
from tamesu.core.metrics import measure
from tamesu.core.report.evaluation import evaluation_markdown
from tamesu.core.report.leaderboard import leaderboard_markdown
from tamesu.core.report.limits import limits
from tamesu.core.report.summary import EvalSummary
from tamesu.core.rows import SlotEvidence, build_rows
from tests.factories import (
    POLICY,
    REVIEWED,
    make_eval,
    make_failure,
    make_result,
    make_slot,
    make_spec,
    make_summary,
    scored_slot,
)

RIGHT: dict[str, float | None] = {f"i{n}": 1.0 for n in range(8)}
WRONG: dict[str, float | None] = {**dict.fromkeys(RIGHT, 0.0), "i0": 1.0}


def refused(*items: str, answered: tuple[str, ...] = (), arm: str = "plain") -> SlotEvidence:
    """A run in which the named items failed at the first of three attempts."""
    spec = make_spec((*items, *answered), arm=arm)
    failures = [replace(make_failure(spec, item), retryable=True) for item in items]
    return make_slot(spec, [*failures, *(make_result(spec, item) for item in answered)], SlotState.PARTIAL)


def arms(*scores: dict[str, float | None]) -> EvalSummary:
    return make_summary([scored_slot(one, arm=f"arm{number}") for number, one in enumerate(scores)])


def views(summary: EvalSummary) -> list[str]:
    return [leaderboard_markdown(summary), evaluation_markdown(summary)]


class TestFailedButNotFinal:
    def test_a_run_of_refused_calls_has_no_figure(self) -> None:
        summary = make_summary([refused("a", "b", "c")])
        for name in ("mean_score:works", "completion_rate", "mean_cost_usd"):
            value = summary.cells[0].value(name)
            assert (value.value, value.interval) == (None, None)
            assert value.lacking == "nothing is final, 3 failed and asked again"
        for view in views(summary):
            assert "not known: nothing is final, 3 failed and asked again" in view
            assert "0.000" not in view

    def test_a_figure_over_items_that_are_asked_again_is_provisional(self) -> None:
        rows = build_rows([refused("a", answered=("b", "c"))], POLICY)
        value = measure(rows, POLICY, "mean_score:works")
        assert (value.value, value.interval, value.provisional) == (2 / 3, None, True)
        assert value.lacking == "provisional, 1 of 3 failed and asked again"

    def test_owed_and_asked_again_are_told_apart(self) -> None:
        slot = refused("a", answered=("b",))
        slot = replace(slot, spec=make_spec(("a", "b", "c")))
        value = measure(build_rows([slot], POLICY), POLICY, "completion_rate")
        assert value.lacking == "provisional, 1 of 3 failed and asked again, 1 of 3 owed"

    def test_no_leader_is_named_over_them(self) -> None:
        slot = replace(refused("i0", answered=tuple(RIGHT)[1:]), state=SlotState.BANKED)
        summary = make_summary([slot, scored_slot(WRONG, arm="rich")])
        assert summary.leader.sentence == "No leader is named: 1 failed item to be asked again."
        assert not summary.ranked

    def test_they_are_no_part_of_a_comparison(self) -> None:
        summary = make_summary([refused("i0", answered=tuple(RIGHT)[1:]), scored_slot(WRONG, arm="rich")])
        (entry,) = summary.comparisons
        assert entry.difference is not None
        assert (entry.difference.items, entry.difference.value) == (7, -1.0)


class TestComparisons:
    def test_clear_is_decided_by_the_adjusted_p_value(self) -> None:
        """Six of six items: p = 0.031 alone, 0.094 among three comparisons."""
        six: dict[str, float | None] = {f"i{n}": float(n < 6) for n in range(8)}
        none: dict[str, float | None] = dict.fromkeys(six, 0.0)
        (alone,) = arms(none, six).comparisons
        assert (alone.clear, alone.adjusted_p) == (True, 0.03125)
        three = arms(none, six, {**none, "i7": 1.0}).comparisons
        assert [(entry.clear, entry.family) for entry in three] == [(False, 3)] * 3
        assert three[0].adjusted_p == 0.09375

    def test_the_leader_needs_the_adjusted_decision(self) -> None:
        six: dict[str, float | None] = {f"i{n}": float(n < 6) for n in range(8)}
        none: dict[str, float | None] = dict.fromkeys(six, 0.0)
        assert arms(none, six).leader.cell is not None
        summary = arms(none, six, none)
        assert summary.leader.cell is None
        assert "p = 0.094 adjusted for 3 comparisons" in summary.leader.sentence

    def test_what_a_leader_rests_on_is_shown_and_counted_even_if_two_factors_differ(self) -> None:
        slots = [
            scored_slot(RIGHT, arm="rich", model="m1"),
            scored_slot({**RIGHT, "i1": 0.0}, arm="plain", model="m2"),
            scored_slot(WRONG, arm="plain", model="m1"),
        ]
        summary = make_summary(slots)
        assert [entry.factor for entry in summary.comparisons] == ["arm", "model", "both"]
        assert summary.comparisons[2].label == "openai/m1 · rich − openai/m2 · plain"
        assert "adjusted for 3 comparisons" in summary.leader.sentence

    def test_what_could_not_have_been_seen_stands_beside_what_is_not_clear(self) -> None:
        close = arms({**RIGHT, "i1": 0.0, "i2": 0.0}, {**RIGHT, "i3": 0.0})
        (entry,) = close.comparisons
        assert entry.difference is not None and entry.difference.detectable is not None
        told = f"a difference below {entry.difference.detectable:.3f} could not have been seen reliably"
        assert all(told in view for view in views(close))
        assert "could not have been seen" not in views(arms(WRONG, RIGHT))[1]

    def test_fewer_than_six_items_cannot_show_any_difference(self) -> None:
        few = arms({f"i{n}": 0.0 for n in range(5)}, {f"i{n}": 1.0 for n in range(5)})
        assert few.comparisons[0].remark == "5 shared items cannot show any difference"
        assert "1 comparison rests on fewer than 6 shared items, where no difference could be clear." in few.limits

    def test_the_note_for_a_table_without_a_column_holds_the_p_value(self) -> None:
        assert arms(WRONG, RIGHT).comparisons[0].note == "p = 0.016"

    def test_p_values_are_shown_with_the_size_of_their_family(self) -> None:
        report = evaluation_markdown(arms(WRONG, RIGHT, WRONG))
        assert "| first − second | difference | p (Holm, 3) | items |" in report
        assert re.search(r"arm1 − arm0 \(openai/model-a\) \| \+0\.875 \S+ \S+ \| 0\.047 \| 8 \|", report)
        assert "adjusted for the 3 comparisons of this report (Holm 1979)" in report
        assert "not adjusted" not in report


class TestC04:
    """Groups of unequal size: the pooled figure, declared as such, with n beside every row."""

    def test_c04_the_pooled_row_equals_the_pooled_items_and_not_the_mean_of_its_rows(self) -> None:
        first: dict[str, float | None] = {f"i{n}": 1.0 if n < 6 else None for n in range(10)}
        second: dict[str, float | None] = {f"i{n}": float(n < 1) for n in range(10)}
        policy = replace(POLICY, primary_metric="mean_score_scored:works")
        summary = make_summary([scored_slot(first), scored_slot(second, repetition=2)], policy)
        rows = [(run.primary.value, run.primary.n) for run in summary.runs]
        pooled = summary.cells[0].value(summary.primary)
        assert rows == [(1.0, 6), (0.1, 10)]
        assert (pooled.value, pooled.n) == (7 / 16, 16)
        assert pooled.value == sum((value or 0) * n for value, n in rows) / sum(n for _, n in rows)
        report = evaluation_markdown(summary)
        assert re.search(r"2 runs pooled \|  \| 20 \| 16 \| 4 \| 0 \| 0\.438 \S+ \S+ \(n=16\) \|", report)

    def test_c04_every_view_says_that_rows_are_pooled(self) -> None:
        told = "Each row pools all its items and repetitions (micro average); n is what a figure was divided by."
        assert all(told in view for view in views(arms(RIGHT, WRONG)))

    def test_c04_every_figure_has_its_n(self) -> None:
        for line in leaderboard_markdown(arms(RIGHT, WRONG)).splitlines():
            if line.startswith("| openai"):
                assert line.count("(n=8)") == 2


class TestC01:
    def test_c01_failed_items_are_a_limit_and_stand_beside_the_figures(self) -> None:
        scores: dict[str, float | None] = {f"i{n}": 1.0 if n < 6 else 0.0 if n < 8 else None for n in range(10)}
        summary = make_summary([scored_slot(scores)])
        assert "2 answers of 10 failed for good and count as 0" in summary.limits[0]
        for view in views(summary):
            assert "| 10 | 8 | 2 | 0 | 0.600" in view

    def test_c01_all_items_failed_for_good(self) -> None:
        summary = make_summary([scored_slot(dict.fromkeys(("a", "b", "c")))])
        value = summary.cells[0].value("mean_score:works")
        assert (value.value, value.n, value.provisional) == (0.0, 3, False)
        assert "3 answers of 3 failed for good" in summary.limits[0]


class TestLimits:
    def test_a_study_without_a_limit_of_a_kind_does_not_claim_it(self) -> None:
        slots = [
            scored_slot(scores, arm=arm, repetition=repetition)
            for arm, scores in (("plain", WRONG), ("rich", RIGHT))
            for repetition in (1, 2)
        ]
        assert make_summary(slots).limits == (
            "Figures rest on 8 items: intervals say what other items drawn like these would give, not how well these "
            "stand for a task.",
        )

    def test_recorded_answers_and_one_repetition(self) -> None:
        summary = make_summary([scored_slot(RIGHT), scored_slot(WRONG, arm="rich", provider="replay")])
        assert summary.limits[0].startswith("1 of 2 runs replay recorded answers: what a live model answers today")
        assert any("planned once per model and arm" in limit for limit in summary.limits)

    def test_what_is_owed_unreviewed_cut_off_or_alone(self) -> None:
        spec = make_spec(("a", "b", "c"))
        cut = replace(make_result(spec, "b"), answer="truncated")
        slot = make_slot(spec, [make_result(spec, "a"), cut], SlotState.PARTIAL)
        told = make_summary([slot], REVIEWED).limits
        assert "Of 3 planned answers 1 owed: figures over them are provisional." in told
        assert "1 answer of 3 was cut off at the token limit: the whole might score otherwise." in told
        assert "2 reviews owed: nothing that needs people's verdicts is known." in told
        assert "There is one model x arm: whether another would do better is not known." in told

    def test_outputs_that_nobody_can_review_are_counted_with_their_reasons(self) -> None:
        spec = make_spec(("a", "b", "c"))
        results = [
            make_result(spec, "a"),
            replace(make_result(spec, "b"), outcome=Outcome("invalid_artifact", "undecodable_image")),
            replace(make_result(spec, "c"), outcome=Outcome("invalid_artifact", "missing_review_artifact")),
        ]
        told = make_summary([make_slot(spec, results)], REVIEWED).limits
        assert (
            "2 outputs of 3 were no valid artifact and counted as not accepted without review: "
            "1 missing_review_artifact, 1 undecodable_image."
        ) in told
        assert not any("valid artifact" in limit for limit in make_summary([scored_slot(RIGHT)], REVIEWED).limits)

    def test_a_failed_item_is_no_invalid_artifact_whatever_an_older_record_says_of_it(self) -> None:
        spec = make_spec(("a", "b"))
        failed = replace(make_failure(spec, "b"), outcome=Outcome("invalid_artifact", "missing_review_artifact"))
        summary = make_summary([make_slot(spec, [make_result(spec, "a"), failed])], REVIEWED)
        assert not any("valid artifact" in limit for limit in summary.limits)
        assert [(row.outcome_status, row.outcome_reason) for row in summary.rows] == [("generated", None), (None, None)]

    def test_items_that_are_not_selected_are_counted(self) -> None:
        evaluation = make_eval()
        items = tuple(Item(name, "") for name in ("a", "b", "c", "d"))
        evaluation = replace(evaluation, dataset=replace(evaluation.dataset, items=items))
        slot = scored_slot({"a": 1.0, "b": 0.0})
        (told, *_) = limits(evaluation, [slot], build_rows([slot], POLICY), (), ())
        assert told.endswith("2 items of the dataset were not selected.")
        one = scored_slot({"a": 1.0})
        (told, *_) = limits(evaluation, [one], build_rows([one], POLICY), (), ())
        assert told == (
            "Figures rest on one item: nothing is known of how much others differ. "
            "3 items of the dataset were not selected."
        )

    def test_an_evaluation_without_evidence_has_only_the_limit_that_all_is_owed(self) -> None:
        slot = make_slot(make_spec(("a",), repetition=2), [], SlotState.OWED)
        told = make_summary([slot]).limits
        assert told == (
            "Of 1 planned answer 1 owed: figures over them are provisional.",
            "There is one model x arm: whether another would do better is not known.",
        )
        assert make_summary([]).limits == ()

    def test_equal_results_are_no_proof_of_equality(self) -> None:
        told = arms({**RIGHT, "i1": 0.0}, {**RIGHT, "i2": 0.0}).limits
        assert any(line.startswith("1 of 1 comparison is not clear: that is no proof of equality.") for line in told)


class TestRange:
    def test_three_rows_or_more_have_a_range(self) -> None:
        summary = arms(WRONG, RIGHT, {**RIGHT, "i1": 0.0})
        assert summary.range == (
            "Over 3 rows mean_score:works goes from 0.125 (openai/model-a · arm0) to 1.000 (openai/model-a · arm1)."
        )
        assert all("goes from 0.125" in view for view in views(summary))
        assert arms(RIGHT, RIGHT, RIGHT).range == "All 3 rows have the same mean_score:works, 1.000."

    def test_two_rows_or_provisional_ones_have_none(self) -> None:
        assert arms(WRONG, RIGHT).range is None
        slots = [scored_slot(RIGHT), scored_slot(WRONG, arm="b"), refused("i0", answered=("i1",), arm="c")]
        assert make_summary(slots).range is None
