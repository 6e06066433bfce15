"""Promotion: which outputs become items, under which IDs and names, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from tamesu.base.errors import NothingAccepted, Refused, UsageError
from tamesu.base.model.evidence import Artifact
from tamesu.base.model.judgement import Closing, ClosingRecord, Waiver
from tamesu.base.model.manifest import Acceptance, Dataset, Item, Policy
from tamesu.base.model.promotion import PassedCheck, Selection, Verdicts
from tamesu.core.promotion import (
    AcceptedOutput,
    PromotedDataset,
    PromotionSource,
    accepted_rows,
    check_task,
    chosen_selection,
    description,
    item_id,
    next_version,
    promoted_dataset,
    same_promotion,
    standing_closing,
)
from tamesu.core.rows import ItemRow, SlotEvidence, build_rows
from tests.factories import EVIDENCE, POLICY, REVIEWED, make_eval, make_review, reviewed, scored_slot

CLOSING = Closing("2026-03-02T10:00:00.000+00:00", EVIDENCE, False, (), 2, 4, 3)
PICTURE = Artifact("output", "artifacts/output-0001.PNG", "9" * 64, 700, "image/png")
MANIFEST_KEYS = ["name", "description", "items_from"]


def rows_of(*slots: SlotEvidence, policy: Policy = POLICY) -> tuple[ItemRow, ...]:
    return build_rows(slots, policy)


def two_runs() -> tuple[ItemRow, ...]:
    """Two runs of three items: the first fails `b`, the second fails `a`, nobody makes `c`."""
    return rows_of(
        scored_slot({"a": 1.0, "b": 0.0, "c": 0.0}, repetition=1),
        scored_slot({"a": 0.0, "b": 1.0, "c": None}, repetition=2),
        scored_slot({"a": 1.0, "b": 1.0, "c": 0.0}, arm="other"),
    )


def names(rows: tuple[ItemRow, ...]) -> list[tuple[str, str, int]]:
    return [(row.item, row.arm, row.repetition) for row in rows]


def made(
    rows: tuple[ItemRow, ...],
    selection: Selection,
    recorded: Mapping[str, bool] | None = None,
    policy: Policy = POLICY,
    items: tuple[Item, ...] = (Item("a", "draw a"), Item("b", "draw b"), Item("c", "draw c")),
) -> PromotedDataset:
    evaluation = replace(make_eval(policy), dataset=Dataset("things-v1", "cases/case/datasets/things-v1/x.yml", items))
    source = PromotionSource(evaluation, CLOSING, "e" * 64, "d" * 64, "0.1.0")
    outputs = [
        AcceptedOutput(row, PICTURE, f"runs/{row.run_id}/{row.item}.png", (recorded or {}).get(row.item, False))
        for row in accepted_rows(rows, selection)
    ]
    return promoted_dataset(source, rows, outputs, selection)


# --- which


def test_without_selection_every_accepted_output_becomes_an_item_in_the_order_of_the_plan() -> None:
    assert names(accepted_rows(two_runs(), Selection.NONE)) == [
        ("a", "plain", 1),
        ("b", "plain", 2),
        ("a", "other", 1),
        ("b", "other", 1),
    ]


def test_first_pass_takes_of_each_item_the_first_that_was_accepted_in_the_order_of_the_plan() -> None:
    assert names(accepted_rows(two_runs(), Selection.FIRST_PASS)) == [("a", "plain", 1), ("b", "plain", 2)]


@pytest.mark.parametrize("selection", Selection)
def test_where_nothing_was_accepted_there_is_nothing_to_promote(selection: Selection) -> None:
    rows = rows_of(scored_slot({"a": 0.0, "b": None}))
    with pytest.raises(NothingAccepted, match=r"^case/experiment/eval: none of 2 outputs was accepted; evaluation-rep"):
        accepted_rows(rows, selection)
    assert NothingAccepted.exit_code == 1


def test_outputs_whose_review_was_waived_are_not_accepted_and_are_counted() -> None:
    slot = scored_slot({"a": 1.0, "b": 1.0}, policy=REVIEWED)
    rows = rows_of(slot, policy=REVIEWED)
    with pytest.raises(NothingAccepted, match="2 of them undecided"):
        accepted_rows(rows, Selection.NONE)
    rows = rows_of(reviewed(slot, make_review(slot, "b", True)), policy=REVIEWED)
    counts = made(rows, Selection.NONE, policy=REVIEWED).record.counts
    assert (counts.planned, counts.accepted, counts.undecided, counts.promoted) == (2, 1, 1, 1)


def test_another_task_holds_no_pictures_to_promote() -> None:
    check_task(replace(make_eval(), task="image_generation"))
    with pytest.raises(UsageError, match=r"^eval\.yml: its task is artifact_bundle; only pictures of image_generation"):
        check_task(make_eval())


@pytest.mark.parametrize(
    ("declared", "wanted", "chosen"),
    [
        ("none", None, Selection.NONE),
        ("first_pass", None, Selection.FIRST_PASS),
        ("first_pass", Selection.NONE, Selection.NONE),
        ("best_of_repetitions", Selection.FIRST_PASS, Selection.FIRST_PASS),
    ],
)
def test_the_eval_declares_the_selection_and_the_command_may_say_otherwise(
    declared: str, wanted: Selection | None, chosen: Selection
) -> None:
    policy = replace(POLICY, acceptance=Acceptance(selection=declared))
    assert chosen_selection(make_eval(policy), wanted) is chosen


def test_a_declared_selection_that_promote_does_not_know_has_to_be_said_on_the_command_line() -> None:
    policy = replace(POLICY, acceptance=Acceptance(selection="best_of_repetitions"))
    with pytest.raises(UsageError, match=r"'best_of_repetitions'; say --selection none or --selection first_pass$"):
        chosen_selection(make_eval(policy), None)


# --- only what is closed


def test_a_closing_that_stands_is_promoted_from() -> None:
    closed = replace(make_eval(), status="complete")
    assert standing_closing(closed, ClosingRecord((CLOSING,)), EVIDENCE) == CLOSING


@pytest.mark.parametrize(
    ("status", "record", "said"),
    [
        ("active", None, r"was never closed; `tamesu close case/experiment/eval` first$"),
        ("complete", None, "was never closed"),
        ("complete", ClosingRecord(()), "was never closed"),
        ("complete", ClosingRecord((replace(CLOSING, evidence="1" * 64),)), "evidence or policy changed after it was"),
        ("active", ClosingRecord((CLOSING,)), r"closed on 2026-03-02T10:00:00\.000\+00:00 and opened again since; "),
    ],
)
def test_whatever_does_not_stand_closed_is_refused(status: str, record: ClosingRecord | None, said: str) -> None:
    evaluation = replace(make_eval(), status=status)  # type: ignore[arg-type]
    with pytest.raises(Refused, match=said) as refused:
        standing_closing(evaluation, record, EVIDENCE)
    assert refused.value.exit_code == 2


def test_a_closing_with_waived_judgement_stands_too() -> None:
    waived = replace(CLOSING, waived=(Waiver("review", "run", ("a",)),))
    closed = replace(make_eval(), status="complete")
    assert standing_closing(closed, ClosingRecord((CLOSING, waived)), EVIDENCE) == waived


# --- names


@pytest.mark.parametrize(
    ("source", "existing", "expected"),
    [
        ("products-v1", ["products-v1"], "products-v2"),
        ("products-v1", ["products-v1", "products-v2", "products-v10"], "products-v11"),
        ("products-v3", [], "products-v4"),
        ("products", ["products", "others-v7"], "products-v2"),
        ("products-v1", ["PRODUCTS-V4", "products-v5-draft", ".unfinished-v9"], "products-v5"),
        ("a-v2-v3", ["a-v9"], "a-v2-v4"),
        ("v1", [], "v1-v2"),
    ],
)
def test_the_next_version_is_one_above_the_highest_of_that_name(
    source: str, existing: list[str], expected: str
) -> None:
    assert next_version(source, existing) == expected


def test_an_id_names_no_model_and_is_pinned() -> None:
    row = two_runs()[0]
    assert item_id(row, Selection.FIRST_PASS) == "a"
    assert item_id(row, Selection.NONE) == "a-b65ddd5103f9"
    assert row.model not in item_id(row, Selection.NONE)


# --- documents


def test_the_new_items_are_the_source_items_with_the_picture_in_the_place_of_their_assets() -> None:
    items = (
        Item("a", {"kettle": "rød", "lines": "a\nb"}, ["x", None], {"hard": True, "weight": 1.5}, ()),
        Item("b", "draw b"),
        Item("c", "draw c"),
    )
    done = made(two_runs(), Selection.FIRST_PASS, items=items)
    lines = [json.loads(line) for line in done.items.decode().splitlines()]
    assert lines == [
        {
            "id": "a",
            "input": {"kettle": "rød", "lines": "a\nb"},
            "expected": ["x", None],
            "metadata": {"hard": True, "weight": 1.5},
            "assets": ["assets/a.png"],
        },
        {"id": "b", "input": "draw b", "assets": ["assets/b.png"]},
    ]


def test_provenance_names_source_closing_policy_and_what_accepted_each_picture() -> None:
    record = made(two_runs(), Selection.NONE).record
    assert (record.eval, record.dataset) == ("case/experiment/eval", "cases/case/datasets/things-v1/x.yml")
    assert (record.closed, record.closing, record.evidence, record.policy) == (
        CLOSING.time,
        EVIDENCE,
        "e" * 64,
        "d" * 64,
    )
    assert (record.selection, record.declared_selection, record.recorded) == (Selection.NONE, "none", False)
    first = record.items[0]
    assert (first.run_id, first.item, first.sha256, first.size) == (two_runs()[0].run_id, "a", "9" * 64, 700)
    assert first.accepted_by == Verdicts(checks=(PassedCheck("works", 1.0, 1.0),))


def test_only_evidence_that_acceptance_requires_is_named_as_what_accepted() -> None:
    slot = scored_slot({"a": 1.0}, policy=REVIEWED)
    slot = reviewed(slot, make_review(slot, "a", True), make_review(slot, "a", True, reviewer="bea"))
    human = replace(REVIEWED, acceptance=Acceptance(requires=("human",)))
    (item,) = made(rows_of(slot, policy=human), Selection.NONE, policy=human).record.items
    assert item.accepted_by == Verdicts(reviews=("ada@2026-03-01T10:00:00Z", "bea@2026-03-01T10:00:00Z"))


def test_recorded_pictures_are_labelled_in_both_documents() -> None:
    some = made(two_runs(), Selection.FIRST_PASS, {"b": True})
    assert (some.record.recorded, [one.recorded for one in some.record.items]) == (True, [False, True])
    assert "1 of them are replayed recordings, not what a live model returned." in description(some.record)
    every = made(two_runs(), Selection.FIRST_PASS, {"a": True, "b": True})
    assert " They are replayed recordings" in every.manifest("things-v2").decode()
    assert "recording" not in description(made(two_runs(), Selection.NONE).record)


def test_the_manifest_is_small_and_every_value_is_quoted() -> None:
    lines = made(two_runs(), Selection.NONE).manifest("things-v2").decode().splitlines()
    assert [line.split(": ")[0] for line in lines] == MANIFEST_KEYS
    assert json.loads(lines[0].split(": ", 1)[1]) == "things-v2"
    assert lines[2] == 'items_from: "items.jsonl"'


def test_the_same_promotion_is_known_again_whatever_version_made_it() -> None:
    record = made(two_runs(), Selection.NONE).record
    assert same_promotion(record, replace(record, tamesu_version="9.9", evidence="f" * 64))
    assert not same_promotion(record, replace(record, closed="2026-04-01T00:00:00.000+00:00"))
    assert not same_promotion(record, made(two_runs(), Selection.FIRST_PASS).record)
