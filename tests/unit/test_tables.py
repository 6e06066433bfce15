"""items.csv and runs.csv keep what they were given."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from tamesu.base.model.manifest import MechanicalCheck
from tamesu.base.model.plan import SlotState
from tamesu.core.rows import ItemRow, SlotEvidence, build_rows
from tamesu.core.tables import ITEM_COLUMNS, RUN_COLUMNS, item_table, run_table, table_csv
from tests.factories import POLICY, make_failure, make_result, make_slot, make_spec, scored_slot

IDS = ["007", "12e3", "NA", "null", "True", "1.10", "a,b", 'say "x"', "two\nlines", "café", "-1"]


def items_csv(rows: Sequence[ItemRow]) -> bytes:
    return table_csv(item_table(rows))


def runs_csv(rows: Sequence[ItemRow], slots: Sequence[SlotEvidence]) -> bytes:
    return table_csv(run_table(rows, slots))


def test_c42_ids_stay_text_in_csv_and_pandas() -> None:
    content = items_csv(build_rows([scored_slot(dict.fromkeys(IDS, 1.0))], POLICY))
    rows = list(csv.DictReader(io.StringIO(content.decode(), newline="")))
    assert [row["item"] for row in rows] == IDS
    frame = pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False)
    assert list(frame["item"]) == IDS


def test_text_is_quoted_and_numbers_are_bare() -> None:
    content = items_csv(build_rows([scored_slot({"007": 0.1})], POLICY))
    (row,) = list(csv.reader(io.StringIO(content.decode()), quoting=csv.QUOTE_NONNUMERIC))[1:]
    values: dict[str, object] = dict(zip([column.name for column in ITEM_COLUMNS], row, strict=False))
    expected = {"item": "007", "repetition": 1.0, "total_tokens": 150.0, "final": "true"}
    assert expected == {name: values[name] for name in expected}


def test_floats_are_written_shortest_and_lines_end_with_lf() -> None:
    content = items_csv(build_rows([scored_slot({"a": 0.1 + 0.2})], POLICY)).decode()
    assert "0.30000000000000004" in content
    assert "\r" not in content and content.endswith("\n")


def test_scorers_become_columns_in_declared_order() -> None:
    policy = replace(POLICY, mechanical=(MechanicalCheck("z"), MechanicalCheck("a")))
    spec = make_spec(["i"])
    slot = make_slot(spec, [make_result(spec, "i", {"a": 0.0, "z": 1.0})])
    header, line = csv.reader(io.StringIO(items_csv(build_rows([slot], policy)).decode()))
    assert [column.name for column in ITEM_COLUMNS] == header[:-4]
    assert header[-4:] == ["score:z", "pass:z", "score:a", "pass:a"]
    assert line[-4:] == ["1.0", "true", "0.0", "false"]


def test_what_is_not_known_is_empty_and_never_zero() -> None:
    spec = make_spec(["failed", "owed"])
    failure = replace(make_failure(spec, "failed"), cost_usd=None, usage=None)
    slot = make_slot(spec, [failure], SlotState.PARTIAL)
    rows = build_rows([slot], POLICY)
    lines = list(csv.DictReader(io.StringIO(items_csv(rows).decode())))
    assert [(line["score:works"], line["cost_usd"], line["mechanical_pass"]) for line in lines] == [
        ("", "", "false"),
        ("", "", ""),
    ]
    (run,) = csv.DictReader(io.StringIO(runs_csv(rows, [slot]).decode()))
    assert (run["cost_usd"], run["total_tokens"]) == ("", "")


def test_runs_have_counts_and_a_mean_over_planned_items() -> None:
    slots = [scored_slot({"a": 1.0, "b": None}), scored_slot({"a": 0.5, "b": 0.5}, repetition=2)]
    lines = list(csv.DictReader(io.StringIO(runs_csv(build_rows(slots, POLICY), slots).decode())))
    assert [slot.spec.run_id for slot in slots] == [line["run_id"] for line in lines]
    assert [(line["planned"], line["complete"], line["failed"], line["mean_score:works"]) for line in lines] == [
        ("2", "1", "1", "0.5"),
        ("2", "2", "0", "0.5"),
    ]


def test_same_rows_give_the_same_bytes() -> None:
    slots = [scored_slot(dict.fromkeys(IDS, 1.0))]
    rows = build_rows(slots, POLICY)
    assert (items_csv(rows), runs_csv(rows, slots)) == (items_csv(rows), runs_csv(rows, slots))


def test_half_a_surrogate_pair_is_written_visibly() -> None:
    spec = make_spec(["a"])
    rows = build_rows([make_slot(spec, [make_failure(spec, "a", "bad \ud800 text")])], POLICY)
    assert rb"bad \ud800 text" in items_csv(rows)


def test_every_column_is_described_once() -> None:
    items = {column.name: column.description for column in ITEM_COLUMNS}
    runs = {column.name: column.description for column in RUN_COLUMNS}
    assert (len(items), len(runs)) == (len(ITEM_COLUMNS), len(RUN_COLUMNS))
    assert all((*items.values(), *runs.values()))
