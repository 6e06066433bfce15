"""Where review stands: owed, done, disputed, stale with its cause, and how far reviewers agree."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import Any

from tamesu.core.review.progress import PairAgreement, ReviewerCount, StaleCount, review_progress
from tamesu.core.rows import SlotEvidence, build_rows
from tamesu.core.votes import seen_of
from tests.cli.calling import Caller
from tests.factories import POLICY, RUBRIC, make_review, reviewed, scored_slot
from tests.projects import EXPERIMENT, ShapesProject
from tests.review.packs import NAME, export, item_of, one_run_only, responses, review_all, take_in, write


def view(call: Caller, project: ShapesProject, *names: str) -> dict[str, Any]:
    done = call(project, "review", "status", *names, "--json")
    assert (done.code, done.err) == (0, "")
    (one,) = json.loads(done.out)
    return one


def test_nothing_is_reviewed_yet(banked_shapes: ShapesProject, call: Caller) -> None:
    done = call(banked_shapes, "review", "status")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        f"{NAME}: 0 of 22 outputs reviewed, 22 owed (22 reviews), 0 disagreements",
        f"  next: `tamesu review export {NAME} --reviewer NAME`",
    ]
    assert view(call, banked_shapes) == {
        "eval": NAME,
        "outputs": 22,
        "done": 0,
        "owed": 22,
        "missing": 22,
        "disagreements": 0,
        "stale": [],
        "reviewers": [],
        "agreement": [],
        "elsewhere": 0,
        "left_out": [],
    }


def test_two_reviewers_are_counted_and_compared(two_reviewers: ShapesProject, call: Caller) -> None:
    one_run_only(two_reviewers)
    ada = review_all(call, two_reviewers, "ada")
    found = view(call, two_reviewers, NAME)
    assert (found["outputs"], found["owed"], found["missing"], found["agreement"]) == (11, 11, 11, [])
    bo = export(call, two_reviewers, "bo")
    disputed = {item_of(ada, entry) for entry in ada.ids[:2]}
    given = responses(bo, lambda entry: item_of(bo, entry) not in disputed)
    assert take_in(call, two_reviewers, write(two_reviewers.root / "bo.yml", given)).code == 0
    found = view(call, two_reviewers)
    assert (found["done"], found["owed"], found["missing"], found["disagreements"]) == (9, 0, 0, 2)
    assert found["agreement"] == [{"first": "ada", "second": "bo", "shared": 11, "agreed": 9, "raw": 9 / 11}]
    assert found["reviewers"] == [
        {"reviewer": name, "counted": 11, "adjudicated": 0, "stale": 0} for name in ("ada", "bo")
    ]
    told = call(two_reviewers, "review", "status").out
    assert "  ada and bo: agree on 9 of 11 outputs (82%)\n" in told
    assert f"  next: `tamesu review export {NAME} --reviewer NAME --adjudicate`\n" in told


def test_what_went_stale_says_why(banked_shapes: ShapesProject, call: Caller) -> None:
    one_run_only(banked_shapes)
    review_all(call, banked_shapes, "ada")
    banked_shapes.edit(EXPERIMENT / "rubrics" / "drawing.yml", "visible in the drawing?", "visible?")
    found = view(call, banked_shapes)
    assert found["stale"] == [{"cause": "rubric changed", "records": 11}]
    assert (found["done"], found["owed"]) == (0, 11)
    assert found["reviewers"] == [{"reviewer": "ada", "counted": 0, "adjudicated": 0, "stale": 11}]
    told = call(banked_shapes, "review", "status").out
    assert "  stale: 11 reviews (rubric changed); kept, not counted\n" in told


def test_an_invalid_eval_is_named_and_one_without_review_left_out(banked_shapes: ShapesProject, call: Caller) -> None:
    other = banked_shapes.eval.parent / "second"
    other.mkdir()
    text = banked_shapes.manifest.read_text().replace("name: replayed", "name: second")
    text = text.replace("  human_review:\n    rubric: ../../rubrics/drawing.yml\n", "")
    text = text.replace("requires: [mechanical, human]", "requires: [mechanical]")
    (other / "eval.yml").write_text(
        text.replace("    human: {required_reviews_per_item: 1, on_disagreement: adjudicate}\n", "")
    )
    assert [one["eval"] for one in json.loads(call(banked_shapes, "review", "status", "--json").out)] == [NAME]
    banked_shapes.edit_eval("name: replayed", "name: other")
    told = call(banked_shapes, "review", "status").out
    assert told.startswith(f"{NAME}: invalid: ")
    shutil.rmtree(banked_shapes.eval)
    assert call(banked_shapes, "review", "status").out == "no eval declares human review\n"


# --- the counting itself

WANTS_REVIEW = replace(POLICY, human_rubric=RUBRIC)


def progress(slot: SlotEvidence) -> Any:
    records = {(slot.spec.run_id, item): judged.reviews for item, judged in slot.judged.items()}
    seen = {(slot.spec.run_id, item): seen_of(result) for item, result in slot.results.items()}
    return review_progress(build_rows([slot], WANTS_REVIEW), records, seen, RUBRIC)


def test_every_cause_is_told_apart() -> None:
    slot = scored_slot({"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0})
    output, rubric = {"seen": {"render": "0" * 64}}, {"rubric": "1" * 64}
    found = progress(
        reviewed(
            slot,
            make_review(slot, "a", True, **output),
            make_review(slot, "b", True, **rubric),
            make_review(slot, "c", True, **output, **rubric),
            make_review(slot, "d", True),
        )
    )
    assert found.stale == (
        StaleCount("output changed", 1),
        StaleCount("rubric and output changed", 1),
        StaleCount("rubric changed", 1),
    )
    assert found.reviewers == (ReviewerCount("ada", 1, 0, 3),)
    assert (found.outputs, found.done, found.owed) == (4, 1, 3)


def test_agreement_counts_shared_outputs_by_their_verdicts() -> None:
    slot = scored_slot({"a": 1.0, "b": 1.0, "c": 1.0})
    found = progress(
        reviewed(
            slot,
            make_review(slot, "a", True),
            make_review(slot, "a", True, "bo"),
            make_review(slot, "b", True),
            make_review(slot, "b", False, "bo"),
            make_review(slot, "c", True, "bo"),
            make_review(slot, "c", True, "cy"),
        )
    )
    assert found.agreement == (PairAgreement("ada", "bo", 2, 1), PairAgreement("bo", "cy", 1, 1))
    assert found.agreement[0].raw == 0.5
