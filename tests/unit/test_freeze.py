"""Freezing: selection of items, targets, digests, and the bytes of input.jsonl."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamesu.base.canonical import digest
from tamesu.base.errors import InvalidDocument
from tamesu.base.model.manifest import Arm, Dataset, FileDigest, Item, ItemSelection, Prompt
from tamesu.core.freeze import dataset_bytes, freeze, sample_digest, sample_record, select_items

NAMES = tuple(f"item-{number:02d}" for number in range(20))
DATASET = Dataset("items", "dataset.yml", tuple(Item(name, name) for name in NAMES))
ARM = Arm("plain", "", None, None, {})


def chosen(selection: ItemSelection, dataset: Dataset = DATASET) -> list[str]:
    return [item.id for item in select_items(dataset, selection)]


def test_all_first_and_named_items_in_dataset_order() -> None:
    assert chosen(ItemSelection("all")) == list(NAMES)
    assert chosen(ItemSelection("first", count=3)) == ["item-00", "item-01", "item-02"]
    assert chosen(ItemSelection("ids", ids=("item-07", "item-02"))) == ["item-02", "item-07"]


def test_a_random_selection_is_pinned() -> None:
    """These names change only with the rule itself, which would make runs stale."""
    assert chosen(ItemSelection("random", count=4, seed=7)) == ["item-08", "item-11", "item-12", "item-14"]
    assert chosen(ItemSelection("random", count=4, seed=8)) == ["item-04", "item-12", "item-13", "item-17"]


@given(seed=st.integers(), count=st.integers(1, 20))
def test_a_random_selection_is_stable_ordered_and_exact(seed: int, count: int) -> None:
    picked = chosen(ItemSelection("random", count=count, seed=seed))
    assert len(picked) == count == len(set(picked))
    assert picked == sorted(picked)
    shuffled = replace(DATASET, items=tuple(reversed(DATASET.items)))
    assert sorted(chosen(ItemSelection("random", count=count, seed=seed), shuffled)) == picked


def test_a_random_selection_depends_on_the_seed_and_grows_with_the_count() -> None:
    picks = {tuple(chosen(ItemSelection("random", count=5, seed=seed))) for seed in range(20)}
    assert len(picks) > 15
    five, six = (set(chosen(ItemSelection("random", count=count, seed=1))) for count in (5, 6))
    assert five < six


def test_a_grown_dataset_keeps_most_of_a_random_selection() -> None:
    grown = replace(DATASET, items=(*DATASET.items, Item("new", "new")))
    before = set(chosen(ItemSelection("random", count=6, seed=3)))
    after = set(chosen(ItemSelection("random", count=6, seed=3), grown))
    assert len(before & after) >= 5


@pytest.mark.parametrize(
    ("selection", "named"),
    [
        (ItemSelection("ids", ids=("item-01", "item-99")), "item-99"),
        (ItemSelection("first", count=21), "21"),
        (ItemSelection("random", count=21, seed=1), "21"),
    ],
)
def test_a_selection_that_cannot_be_served_is_refused(selection: ItemSelection, named: str) -> None:
    with pytest.raises(InvalidDocument, match=f"dataset.yml: .*{named}"):
        select_items(DATASET, selection)


@pytest.mark.parametrize(
    ("expected", "target"),
    [
        (None, ""),
        ("yes", "yes"),
        ("", ""),
        (["a", "b"], ["a", "b"]),
        ([], []),
        (["a", 1], '["a",1]'),
        ({"b": 1, "a": None}, '{"a":null,"b":1}'),
        (3, "3"),
        (0.5, "0.5"),
        (False, "false"),
        ([["a"]], '[["a"]]'),
    ],
)
def test_targets(expected: object, target: object) -> None:
    (sample,) = freeze([Item("x", "ask", expected=expected)], ARM).samples
    assert sample.target == target
    assert sample_record(sample)["target"] == target


def test_the_record_holds_what_the_task_reads_and_nothing_else() -> None:
    arm = replace(ARM, system=Prompt("s", "Be brief.", False))
    (sample,) = freeze([Item("x", "ask", expected="yes", metadata={"level": 1})], arm).samples
    assert sample_record(sample) == {
        "id": "x",
        "input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "ask"}],
        "target": "yes",
        "metadata": {"level": 1},
    }
    assert sample.digest == sample_digest(sample_record(sample), ())


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=5))
def test_one_item_is_one_line_whatever_it_holds(texts: list[str]) -> None:
    items = [Item(f"item-{number}", text, expected=text, metadata={"m": text}) for number, text in enumerate(texts)]
    content = dataset_bytes(freeze(items, ARM))
    lines = content.split(b"\n")
    assert lines.pop() == b""
    assert [json.loads(line)["input"][0]["content"] for line in lines] == texts
    assert [json.loads(line)["id"] for line in lines] == [item.id for item in items]


@pytest.mark.parametrize(
    "change",
    [
        {"id": "y"},
        {"input": "other"},
        {"expected": "no"},
        {"metadata": {"level": 2}},
        {"assets": (FileDigest("a.png", "1" * 64, 3),)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_part_of_an_item_changes_the_digests(change: dict[str, object]) -> None:
    item = Item("x", "ask", expected="yes", metadata={"level": 1})
    before, after = freeze([item], ARM), freeze([replace(item, **change)], ARM)  # type: ignore[arg-type]
    assert before.samples[0].digest != after.samples[0].digest
    assert before.digest != after.digest


def test_where_an_asset_lies_does_not_count() -> None:
    items = [Item("x", "ask", assets=(FileDigest(path, "1" * 64, 3),)) for path in ("a.png", "b/c.png")]
    assert freeze(items[:1], ARM).digest == freeze(items[1:], ARM).digest


def test_the_datasets_digest_is_over_items_in_order() -> None:
    first, second = Item("a", "1"), Item("b", "2")
    both = freeze([first, second], ARM)
    assert both.digest == digest([[sample.item, sample.digest] for sample in both.samples])
    assert both.digest != freeze([second, first], ARM).digest
    assert freeze([], ARM).digest == digest([])


def test_metadata_that_is_missing_and_empty_are_the_same() -> None:
    assert freeze([Item("x", "ask")], ARM).digest == freeze([Item("x", "ask", metadata={})], ARM).digest
