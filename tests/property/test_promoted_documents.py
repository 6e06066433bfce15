"""Whatever runs and items an eval has: IDs are unique, and what is written reads back as what it was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from tamesu.base.canonical import Json
from tamesu.base.model.evidence import Artifact
from tamesu.base.model.judgement import Closing
from tamesu.base.model.manifest import Dataset, Item
from tamesu.base.model.promotion import PromotionRecord, Selection
from tamesu.core.promotion import AcceptedOutput, PromotedDataset, PromotionSource, accepted_rows, promoted_dataset
from tamesu.core.rows import build_rows
from tamesu.edge.documents.dataset_reader import read_dataset
from tamesu.edge.documents.reading import Reading
from tamesu.edge.store.records import dump_record, parse_record
from tests.factories import EVIDENCE, POLICY, make_eval, scored_slot

# IDs that another reader takes for numbers, words or dates, and ones as long as they may be.
AWKWARD = ("1e3", "0x1f", "no", "null", "2026-03-01", "1-2", "12e03", "true", f"{'a' * 99}b", f"{'a' * 99}c", "a" * 86)
IDS = st.one_of(st.sampled_from(AWKWARD), st.from_regex(r"[a-z0-9]{1,9}(-[a-z0-9]{1,9}){0,3}", fullmatch=True))
TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=30)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-(2**53) + 1, 2**53 - 1), TEXT)
FRACTIONS = st.floats(allow_nan=False, allow_infinity=False, width=32).filter(lambda number: number % 1 != 0)
VALUES: st.SearchStrategy[Json] = st.recursive(
    st.one_of(SCALARS, FRACTIONS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=6,
)
ITEMS = st.builds(Item, IDS, VALUES, VALUES, st.dictionaries(TEXT, VALUES, max_size=3))
RUNS = st.lists(st.tuples(IDS, IDS, st.integers(1, 3)), min_size=1, max_size=4, unique=True)


def folded(item: Item) -> str:
    """As lint compares IDs: without leading zeros."""
    return "-".join(part.lstrip("0") or "0" for part in item.id.split("-"))


DATASETS = st.lists(ITEMS, min_size=1, max_size=5, unique_by=folded)


def promote(items: list[Item], runs: list[tuple[str, str, int]], selection: Selection) -> PromotedDataset:
    """Promote everything of an eval in which every output was accepted."""
    scores = {item.id: 1.0 for item in items}
    slots = [scored_slot(scores, model=model, arm=arm, repetition=repetition) for model, arm, repetition in runs]
    rows = build_rows(slots, POLICY)
    evaluation = replace(make_eval(), dataset=Dataset("things-v1", "datasets/things-v1/dataset.yml", tuple(items)))
    closing = Closing("2026-03-02T10:00:00.000+00:00", EVIDENCE, False, (), len(runs), len(rows), len(rows))
    picture = Artifact("output", "artifacts/output-0001.png", "9" * 64, 4, "image/png")
    outputs = [AcceptedOutput(row, picture, "a/b.png", True) for row in accepted_rows(rows, selection)]
    return promoted_dataset(PromotionSource(evaluation, closing, "e" * 64, "d" * 64, "0"), rows, outputs, selection)


@given(DATASETS, RUNS, st.sampled_from(Selection))
@settings(deadline=None)
def test_ids_are_unique_and_depend_on_no_other_output(
    items: list[Item], runs: list[tuple[str, str, int]], selection: Selection
) -> None:
    every = [one.id for one in promote(items, runs, selection).record.items]
    assert len(set(every)) == len(every) == len(items) * (len(runs) if selection is Selection.NONE else 1)
    fewer = {one.id for one in promote(items[:1], runs[:1], selection).record.items}
    assert fewer <= set(every)


@given(DATASETS, RUNS, st.sampled_from(Selection))
@settings(deadline=None, max_examples=60)
def test_what_is_written_is_a_clean_dataset_with_the_items_that_it_came_from(
    items: list[Item], runs: list[tuple[str, str, int]], selection: Selection
) -> None:
    made = promote(items, runs, selection)
    with TemporaryDirectory() as place:
        folder = Path(place) / "cases/case/datasets/things-v2"
        (folder / "assets").mkdir(parents=True)
        for one in made.record.items:
            (folder / one.asset).write_bytes(b"\x89PNG")
        (folder / "items.jsonl").write_bytes(made.items)
        (folder / "dataset.yml").write_bytes(made.manifest(folder.name))
        reading = Reading(Path(place))
        read = read_dataset(reading, folder / "dataset.yml")
    assert [finding for finding in reading.told() if finding.severity == "error"] == []
    assert read is not None
    source = {item.id: item for item in items}
    for one, item in zip(made.record.items, read.items, strict=True):
        origin = source[one.item]
        assert (item.id, item.input, item.expected) == (one.id, origin.input, origin.expected)
        assert dict(item.metadata or {}) == dict(origin.metadata or {})
        assert [asset.path.rpartition("things-v2/")[2] for asset in item.assets] == [one.asset]


@given(DATASETS, RUNS)
@settings(deadline=None)
def test_provenance_reads_back_as_it_was(items: list[Item], runs: list[tuple[str, str, int]]) -> None:
    record = promote(items, runs, Selection.NONE).record
    assert parse_record(dump_record(record), PromotionRecord, "promotion.yml") == record
