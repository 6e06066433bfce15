"""What is listed stands with its settings in report and page, and a page judges by the settings of now."""

from __future__ import annotations

from dataclasses import asdict, replace

from tamesu.base.model.evidence import Outcome, ScoreRecord
from tamesu.base.model.manifest import Item, MechanicalCheck
from tamesu.core.checks.measured import Measured
from tamesu.core.report.checks import named
from tamesu.core.report.evaluation import evaluation_markdown
from tamesu.core.report.page import evaluation_page
from tamesu.core.report.study.items import Card, Line, make_book
from tamesu.core.rows import SlotEvidence, build_rows
from tests.factories import POLICY, make_failure, make_result, make_slot, make_spec, make_summary

LISTED = (
    MechanicalCheck("decodable_image", settings={"prerequisite": True}),
    MechanicalCheck("min_resolution", settings={"width": 320, "height": 240, "prerequisite": False}),
    MechanicalCheck("format_match", 0.5, {"format": "webp"}),
)
PICTURES = replace(POLICY, mechanical=LISTED)


def measured_slot() -> SlotEvidence:
    """Return a run with one picture of 300 x 300, recorded as too small for 320 x 320."""
    facts = asdict(Measured(None, "png", 300, 300, uniform=False, transparent=False))
    spec = make_spec(["mug"])
    record = ScoreRecord(0.0, False, 0.0, explanation="is 300 x 300, below 320 x 320", metadata=facts)
    return make_slot(spec, [replace(make_result(spec, "mug"), scores={"min_resolution": record})])


def card(slot: SlotEvidence, check: MechanicalCheck) -> Card:
    policy = replace(POLICY, mechanical=(check,))
    return make_book(build_rows([slot], policy), [slot], [Item("mug", "")], policy, {}).entries[0].cards[0]


def test_a_check_is_named_with_what_it_asks_for() -> None:
    assert [named(check) for check in LISTED] == [
        "decodable_image (prerequisite of review and judging)",
        "min_resolution (width 320, height 240)",
        "format_match (format webp)",
    ]


def test_report_and_page_list_every_scorer_with_its_settings() -> None:
    spec = make_spec(["mug"])
    summary = make_summary(
        [make_slot(spec, [make_result(spec, "mug")])], replace(PICTURES, primary_metric="accepted_rate")
    )
    report, page = evaluation_markdown(summary), evaluation_page(summary, {})
    assert "| min_resolution | 1 | width 320, height 240 |" in report
    assert "width 320, height 240" in page and "format webp" in page


def test_a_page_says_of_a_picture_what_the_settings_of_now_say() -> None:
    smaller = card(measured_slot(), MechanicalCheck("min_resolution", settings={"width": 300, "height": 300}))
    assert smaller.scorers.lines == (Line("pass", "min_resolution (width 300, height 300): 1.000, passes at 1"),)
    larger = card(measured_slot(), MechanicalCheck("min_resolution", settings={"width": 512, "height": 512}))
    assert larger.scorers.lines[0].detail == "is 300 x 300, below 512 x 512"
    assert larger.scorers.tone == larger.scorers.lines[0].tone == "fail"


def test_an_item_has_one_word_for_its_state_wherever_it_stands() -> None:
    spec = make_spec(["failed", "invalid", "withheld"])
    slot = make_slot(
        spec,
        [
            replace(make_failure(spec, "failed"), retryable=False),
            replace(make_result(spec, "invalid"), outcome=Outcome("invalid_artifact", "undecodable_image")),
            replace(make_result(spec, "withheld"), outcome=Outcome("safety_filtered", "content_filter")),
        ],
    )
    items = [Item(name, "") for name in spec.items]
    book = make_book(build_rows([slot], POLICY), [slot], items, POLICY, {})
    assert [(entry.cards[0].state, entry.cards[0].flags, entry.tally) for entry in book.entries] == [
        ("failed", "fn", "0 of 1 accepted, 1 failed"),
        ("complete, invalid artifact", "in", "0 of 1 accepted, 1 without a valid output"),
        ("complete, withheld by a filter", "in", "0 of 1 accepted, 1 without a valid output"),
    ]
    report = evaluation_markdown(make_summary([slot]))
    section = report.partition("## Failed items and outputs that are not valid")[2]
    assert [line.split(" | ")[2] for line in section.splitlines()[4:7]] == ["failed", "complete", "complete"]
    assert "| model | arm | planned | complete | failed | owed |" in report
