"""What a judge owes, what of it is asked now, and what acceptance and figures make of that."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamesu.base.model.evidence import Balance, Fault, Usage
from tamesu.base.model.judgement import ItemJudged, JudgmentFailure, JudgmentRecord
from tamesu.base.model.judging import JudgeStanding
from tamesu.base.model.manifest import FileDigest, Prompt
from tamesu.base.model.plan import Price, RoleRun
from tamesu.core.judging.blockers import judge_blockers
from tamesu.core.judging.figures import agreement_with_people, judge_figures
from tamesu.core.judging.money import CallCost, call_cost
from tamesu.core.judging.owed import owed_of
from tamesu.core.metrics import measure
from tamesu.core.report.evaluation import evaluation_markdown
from tamesu.core.rows import SlotEvidence, build_rows
from tamesu.core.tables import item_table, table_csv
from tamesu.core.votes import judge_digest
from tests.factories import REVIEWED, RUBRIC, make_eval, make_review, make_summary, scored_slot
from tests.unit.test_votes import GATED, JUDGE, judgment

SLOT = scored_slot({"a": 1.0})
KNOWN = judge_digest(JUDGE)


def failure(number: int, kind: str, **options: object) -> JudgmentFailure:
    call = judgment(1, True).call
    record = JudgmentFailure(number, SLOT.spec.run_id, "a", {}, RUBRIC.digest, Fault(kind, "why"), None, call)
    return replace(record, **options)  # type: ignore[arg-type]


def asked(
    *records: JudgmentRecord | JudgmentFailure, again: bool = False, max_attempts: int = 3
) -> tuple[int, int, int]:
    """Return what is owed, what of it is asked for now, and how many calls were made."""
    judged = ItemJudged(
        judgments=tuple(one for one in records if isinstance(one, JudgmentRecord)),
        failures=tuple(one for one in records if isinstance(one, JudgmentFailure)),
    )
    found = owed_of(JUDGE, KNOWN, judged, {}, max_attempts, again)
    return found.verdict.owed, found.askable, found.made


def test_declared_repetitions_less_those_that_count_are_asked() -> None:
    assert asked() == (3, 3, 0)
    assert asked(judgment(1, True)) == (2, 2, 1)
    assert asked(*(judgment(number, True) for number in (1, 2, 3))) == (0, 0, 3)


def test_a_failure_that_would_repeat_itself_is_final_until_it_is_asked_again() -> None:
    assert asked(failure(1, "UnknownReason")) == (3, 2, 1)
    assert asked(failure(1, "Truncated"), failure(2, "Drift"), judgment(3, True)) == (2, 0, 3)
    assert asked(failure(1, "Truncated"), failure(2, "Drift"), judgment(3, True), again=True) == (2, 2, 3)


def test_a_failure_that_may_pass_is_asked_again_up_to_max_attempts() -> None:
    down = [failure(number, "ProviderUnavailable") for number in range(1, 4)]
    assert asked(*down[:2]) == (3, 3, 2)
    assert asked(*down) == (3, 2, 3)
    assert asked(*down[:2], max_attempts=1) == (3, 1, 2)


def test_failures_of_another_rubric_output_or_prompt_use_up_nothing() -> None:
    other = replace(JUDGE, user=Prompt("p", "other", True))
    stale = [
        failure(1, "Truncated", rubric="1" * 64),
        failure(2, "Truncated", seen={"render": "0" * 64}),
        failure(3, "Truncated", call=replace(failure(1, "x").call, judge_digest=judge_digest(other))),
    ]
    assert asked(*stale) == (3, 3, 0)


def test_recorded_verdicts_count_by_content_wherever_they_lie() -> None:
    here = replace(JUDGE, parameters={"recordings": "a"}, recordings=FileDigest("a", "1" * 64, 1))
    moved = replace(here, parameters={"recordings": "b"}, recordings=FileDigest("b", "1" * 64, 1))
    edited = replace(here, recordings=FileDigest("a", "2" * 64, 1))
    assert judge_digest(here) == judge_digest(moved) != judge_digest(edited)


@pytest.mark.parametrize(
    ("usage", "unaccounted", "cost"),
    [
        (Usage(input=100, output=50), 0, CallCost(0.0006, 0.0)),
        (Usage(input=100, output=50), 2, CallCost(0.0006, 0.2)),  # two tries before it had no reply
        (None, 1, CallCost(None, 0.1)),  # a reply without usage
        (None, 0, CallCost(0.0, 0.0)),  # refused: nothing was worked on
        (Usage(input=-5), 0, CallCost(None, 0.1)),
    ],
)
def test_what_is_not_known_is_charged_at_the_bound(usage: Usage | None, unaccounted: int, cost: CallCost) -> None:
    assert call_cost(Price(2.0, 8.0), usage, unaccounted, 0.1) == cost


def test_a_free_judge_costs_nothing_whatever_it_says() -> None:
    assert call_cost(Price(0.0, 0.0, free=True), None, 3, 0.1) == CallCost(0.0, 0.0)


def with_judgments(*passes: bool | None) -> SlotEvidence:
    """Return a run of one item per verdict; None owes it."""
    names = "abcdef"[: len(passes)]
    slot = scored_slot(dict.fromkeys(names, 1.0))
    once = replace(JUDGE, repetitions=1)
    judged = {
        name: ItemJudged(judgments=(judgment(1, passed, once, item=name, run_id=slot.spec.run_id),))
        for name, passed in zip(names, passes, strict=True)
        if passed is not None
    }
    return replace(slot, judged=judged)


ONCE = replace(GATED, judges=(replace(JUDGE, repetitions=1),))


def test_pass_rate_is_blocked_by_what_is_owed_and_completion_shows_it() -> None:
    rows = build_rows([with_judgments(True, False, None)], ONCE)
    rate = measure(rows, ONCE, "judge_pass_rate:critic")
    assert (rate.value, rate.lacking) == (None, "1 judgment owed")
    done = measure(rows, ONCE, "judge_completion_rate:critic")
    assert (round(done.value or 0, 3), done.n) == (0.667, 3)
    rows = build_rows([with_judgments(True, False, True, True)], ONCE)
    assert measure(rows, ONCE, "judge_pass_rate:critic").value == 0.75


def test_acceptance_that_waits_for_a_gate_shows_no_rate() -> None:
    waiting = build_rows([with_judgments(True, None)], ONCE)
    assert [row.accepted for row in waiting] == [True, None]
    value = measure(waiting, ONCE, "accepted_rate")
    assert (value.value, value.lacking) == (None, "1 judgment owed")
    assert measure(build_rows([with_judgments(True, False)], ONCE), ONCE, "accepted_rate").value == 0.5


def test_a_screening_judge_holds_nothing_up() -> None:
    screen = replace(ONCE.judges[0], role="screen")
    policy = replace(ONCE, judges=(screen,), acceptance=replace(ONCE.acceptance, requires=("mechanical",)))
    rows = build_rows([with_judgments(True, None)], policy)
    assert measure(rows, policy, "accepted_rate").value == 1.0


def test_agreement_with_people_is_about_items_with_both_verdicts() -> None:
    slot = with_judgments(True, True, False, None)
    policy = replace(REVIEWED, judges=ONCE.judges)
    reviews = {"a": True, "b": False, "d": True}
    judged = dict(slot.judged)
    for item, passed in reviews.items():
        known = judged.get(item, ItemJudged())
        judged[item] = replace(known, reviews=(make_review(slot, item, passed),))
    rows = build_rows([replace(slot, judged=judged)], policy)
    found = agreement_with_people(rows, "critic")
    assert (found.n, found.agreeing, found.raw, found.kappa) == (2, 1, 0.5, None)
    assert agreement_with_people(rows[3:], "critic").raw is None


def test_figures_count_verdicts_failures_by_kind_and_cost() -> None:
    slot = with_judgments(True, False, None)
    kinds = ("Truncated", "ProviderUnavailable", "Truncated")
    failed = [failure(number, kind, item="c") for number, kind in enumerate(kinds, 1)]
    failed[0] = replace(failed[0], call=replace(failed[0].call, cost_usd=None, lost_usd=0.25))
    slot = replace(slot, judged={**slot.judged, "c": ItemJudged(failures=tuple(failed))})
    rows = build_rows([slot], ONCE)
    (found,) = judge_figures(rows, [slot], ONCE)
    assert (found.asked, found.verdicts, found.passes, found.owed) == (3, 2, 1, 1)
    assert found.failures == {"ProviderUnavailable": 1, "Truncated": 2}
    assert (found.spent_usd, found.lost_usd, found.recorded) == (0.0, 0.25, True)


def test_the_report_labels_recorded_verdicts_and_the_table_has_a_column_per_judge() -> None:
    slot = with_judgments(True, False, None)
    page = evaluation_markdown(make_summary([slot], ONCE))
    assert "## Judges" in page and "replay/critic-1 (recorded)" in page and "**Recorded verdicts**: critic" in page
    assert "## Judges" not in evaluation_markdown(make_summary([scored_slot({"a": 1.0})]))
    table = table_csv(item_table(build_rows([slot], ONCE), ["critic"])).decode().splitlines()
    assert [line.rpartition(",")[2] for line in table] == ['"judge:critic"', '"true"', '"false"', '""']


def test_what_may_not_be_asked_is_told_with_what_to_do() -> None:
    standing = JudgeStanding("critic", "gate", "vllm", "big", True, False, 3, 0, 3, 3, 0, 0.5)
    model = RoleRun("critic", "vllm", "big", "u", None, {}, None, None, Price(0.0, 0.0, usd_per_hour=2.0), None)
    active = make_eval(GATED)
    found = judge_blockers(active, [standing], {"critic": model}, [], Balance(0.0, 0.0, 0.0), 0.0)
    assert [blocker.kind for blocker in found] == ["price", "budget"]
    assert "rented by the hour" in found[0].message
    nothing = replace(standing, askable=0)
    assert judge_blockers(active, [nothing], {"critic": model}, [], Balance(0.0, 0.0, 0.0), 9.0) == ()
