"""What the page of a case says of items: kinds of evidence apart, nothing lost on the way into the page's data."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamesu.base.model.judgement import ItemJudged
from tamesu.base.model.manifest import Acceptance, Item
from tamesu.base.model.plan import SlotState
from tamesu.core.report.study.case import BrokenEval, anchor, answer, case_page, next_step
from tamesu.core.report.study.island import island
from tamesu.core.report.study.items import Book, BookRun, Card, Entry, Line, Shown, Verdict, excerpt, make_book
from tamesu.core.rows import SlotEvidence, build_rows
from tests.casebook import study_of
from tests.factories import (
    POLICY,
    REF,
    REVIEWED,
    make_failure,
    make_result,
    make_review,
    make_slot,
    make_spec,
    reviewed,
    scored_slot,
)

TWO = replace(REVIEWED, acceptance=Acceptance(("mechanical", "human"), required_reviews_per_item=2))


def book_of(*slots: SlotEvidence, policy: object = POLICY) -> Book:
    items = [Item(name, {"scene": f"do {name}"}, f"done {name}") for name in slots[0].spec.items]
    rows = build_rows(slots, policy)  # type: ignore[arg-type]
    return make_book(rows, slots, items, policy, {})  # type: ignore[arg-type]


def test_a_card_keeps_kinds_of_evidence_apart() -> None:
    slot = scored_slot({"a": 0.0})
    agreed = [make_review(slot, "a", True, name) for name in ("ada", "bea")]
    (card,) = book_of(reviewed(slot, *agreed), policy=TWO).entries[0].cards
    assert (card.scorers.tone, card.scorers.text) == ("fail", "not passed")
    assert (card.people.tone, card.people.text) == ("pass", "passed")
    assert card.judges.text == "none asked"
    assert (card.accepted.text, card.flags) == ("not accepted", "n")
    assert [line.text for line in card.people.lines] == ["ada, 2026-03-01T10:00:00Z", "bea, 2026-03-01T10:00:00Z"]
    assert card.scorers.lines == (Line("fail", "works: 0.000, passes at 1"),)
    assert card.took == "1 attempt · 150 tokens (100 in, 50 out) · 0.0100 USD · 1.2 s · stop: stop"


def test_reviewers_who_differ_are_an_open_question() -> None:
    slot = scored_slot({"a": 1.0})
    split = [make_review(slot, "a", True, "ada"), make_review(slot, "a", False, "bea", note="blurred at the edge")]
    (card,) = book_of(reviewed(slot, *split), policy=TWO).entries[0].cards
    assert (card.people.tone, card.people.text) == ("open", "reviewers disagree, to be settled")
    assert card.people.lines[1].detail == "legible: no (blurred); blurred at the edge"
    assert set(card.flags) == {"d", "o"}
    assert card.accepted.text == "acceptance: not decided"


def test_what_failed_and_what_is_owed() -> None:
    spec = make_spec(["a", "b", "c"])
    failed = replace(make_failure(spec, "a", "no\nroute"), attempts=3)
    slot = make_slot(spec, [failed, make_result(spec, "b")], SlotState.PARTIAL)
    a, b, c = (entry.cards[0] for entry in book_of(slot).entries)
    assert (a.state, a.flags, a.error) == ("failed", "fn", "TimeoutError: no\nroute")
    assert (b.state, b.flags) == ("complete", "")
    assert (c.state, c.flags, c.took, c.scorers.text) == ("owed", "o", "", "not scored yet")
    again = make_slot(spec, [replace(make_failure(spec, "a"), retryable=True)], SlotState.PARTIAL)
    assert book_of(again).entries[0].cards[0].state == "failed, to be asked again"


def test_an_item_shows_its_only_words_and_keeps_its_whole_input() -> None:
    (entry,) = book_of(scored_slot({"a": 1.0})).entries
    assert (entry.gist, json.loads(entry.input), entry.expected) == ("do a", {"scene": "do a"}, "done a")
    assert entry.tally == "1 of 1 accepted"


@pytest.mark.parametrize(("runs", "per_page"), [(1, 50), (8, 50), (16, 25), (1000, 5)])
def test_a_page_holds_fewer_items_the_more_runs_there_are(runs: int, per_page: int) -> None:
    slots = [scored_slot({"a": 1.0}, repetition=number) for number in range(1, runs + 1)]  # type: ignore[arg-type]
    assert book_of(*slots).per_page == per_page


def test_what_is_cut_says_how_much_is_left_and_where() -> None:
    assert excerpt("abc", 3, "x.txt") == "abc"
    assert excerpt("a\tb\r\nc" + "d" * 2000, 5, "x\n.txt") == "a   b\n… [2,001 more characters in x .txt]"


TEXTS = st.text() | st.sampled_from(["</script>", "<!--<script>", "]]>", "\u2028", "&lt;", "\\u003c"])


@given(st.lists(TEXTS.map(lambda text: text.encode("utf-8", "replace").decode()), min_size=8, max_size=8))
def test_data_in_a_page_is_what_went_in_and_ends_no_element(texts: list[str]) -> None:
    tone, said, line, detail, state, took, error, words = texts
    verdict = Verdict(tone, said, (Line(tone, line, detail),))
    shown = Shown(words, took, said)
    card = Card(0, tone, state, "f", (shown,), verdict, verdict, verdict, Line(tone, said), took, error)
    book = Book(50, (BookRun("m", "a", 1, "id"),), (Entry(words, line, said, None, detail, (card,)),))
    written = island(book)
    assert not re.search("[<>&\u2028\u2029]", written)
    data = json.loads(written)
    (item,) = data["i"]
    read = data["s"]
    assert [read[number] for number in (item[0], item[1], item[3], item[5])] == [words, said, detail, line]
    assert item[2] == -1
    (made,) = item[4]
    assert [read[number] for number in made[1:4]] == [tone, state, "f"]
    assert [read[number] for number in made[4][0][:3]] == [words, took, said]
    assert [[read[verdict[1]], read[verdict[2][0][2]]] for verdict in made[5]] == [[said, detail]] * 3
    assert [read[made[7]], read[made[8]]] == [took, error]


def test_the_answer_is_honest() -> None:
    owed = make_slot(make_spec(["a", "b"]), [], SlotState.OWED)
    one = study_of([owed]).evals[0]
    assert answer(one) == "Not answered yet: nothing is measured, 1 run owed."
    clear = [scored_slot({f"i{n}": 0.0 for n in range(9)}), scored_slot({f"i{n}": 1.0 for n in range(9)}, arm="rich")]
    assert answer(study_of(clear).evals[0]).startswith("openai/model-a · rich leads on mean_score:works")
    broken = BrokenEval(REF, ("eval.yml:1:1: error",))
    assert answer(broken) == "Not answered: the eval does not read."
    assert "tamesu lint" in next_step(broken)


def test_ids_of_sections_differ_whatever_evals_are_called() -> None:
    refs = [
        replace(REF, experiment=one, eval=two)
        for one, two in (("a", "b"), ("a-b", "c"), ("a", "b-c"), ("content", "x"))
    ]
    assert len({anchor(ref) for ref in refs}) == 4
    page = case_page(study_of([scored_slot({"a": 1.0})]))
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_records_that_are_no_longer_about_the_output_are_told() -> None:
    slot = scored_slot({"a": 1.0})
    old = make_review(slot, "a", True, rubric="f" * 64)
    judged = replace(slot, judged={"a": ItemJudged((old,))})
    (card,) = book_of(judged, policy=REVIEWED).entries[0].cards
    assert card.people.text == "1 review owed"
    assert card.people.lines[-1].text == "1 review of another output or rubric, not counted"
