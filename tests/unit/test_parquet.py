"""items.parquet and runs.parquet: the values of the CSV with their types."""

from __future__ import annotations

import io
from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tamesu.base.model.plan import SlotState
from tamesu.core.parquet import table_parquet
from tamesu.core.rows import build_rows
from tamesu.core.tables import ITEM_COLUMNS, RUN_COLUMNS, Table, item_table, run_table, table_csv
from tests.factories import POLICY, make_failure, make_result, make_slot, make_spec, scored_slot
from tests.unit.test_tables import IDS

TYPES = {"text": pa.string(), "integer": pa.int64(), "number": pa.float64(), "flag": pa.bool_()}


def read(table: Table) -> pa.Table:
    return pq.read_table(io.BytesIO(table_parquet(table)))


def mixed() -> tuple[Table, Table]:
    """Complete, failed with unknown cost, and owed items."""
    spec = make_spec(["007", "failed", "owed"])
    failure = replace(make_failure(spec, "failed"), cost_usd=None, usage=None)
    slot = make_slot(spec, [make_result(spec, "007", 0.5), failure], SlotState.PARTIAL)
    rows = build_rows([slot], POLICY)
    return item_table(rows), run_table(rows, [slot])


def test_c42_ids_stay_text() -> None:
    table = read(item_table(build_rows([scored_slot(dict.fromkeys(IDS, 1.0))], POLICY)))
    assert table.column("item").to_pylist() == IDS
    assert table.schema.field("item").type == pa.string()


def test_every_column_has_the_type_that_its_kind_says_even_when_it_is_empty() -> None:
    for table, columns in zip(mixed(), (ITEM_COLUMNS, RUN_COLUMNS), strict=True):
        schema = read(table).schema
        expected = {column.name: TYPES[column.kind] for column in columns}
        assert {name: schema.field(name).type for name in expected} == expected
        assert schema.names == list(table.names)
    empty = read(item_table(()))
    assert (empty.num_rows, empty.schema.field("attempts").type) == (0, pa.int64())


def test_what_is_not_known_is_null_and_integers_stay_integers() -> None:
    items, runs = (read(table).to_pydict() for table in mixed())
    assert items["total_tokens"] == [150, None, None]
    assert items["cost_usd"] == [0.01, None, None]
    assert items["mechanical_pass"] == [False, False, None]
    assert items["human_pass"] == [None, None, None]
    assert items["score:works"] == [0.5, None, None]
    assert items["pass:works"] == [False, None, None]
    assert (runs["planned"], runs["cost_usd"], runs["total_tokens"]) == ([3], [None], [None])
    assert runs["mean_score:works"] == [0.5 / 3]


def test_pandas_keeps_the_types() -> None:
    frame = pd.read_parquet(io.BytesIO(table_parquet(mixed()[0])), dtype_backend="numpy_nullable")
    assert [str(frame[name].dtype) for name in ("item", "total_tokens", "cost_usd", "mechanical_pass")] == [
        "string",
        "Int64",
        "Float64",
        "boolean",
    ]


@pytest.mark.parametrize("which", [0, 1])
def test_both_forms_hold_the_same(which: int) -> None:
    table = mixed()[which]
    lines = pd.read_csv(io.BytesIO(table_csv(table)), dtype=str, keep_default_na=False).to_dict("list")
    for name, values in read(table).to_pydict().items():
        shown = ["" if v is None else str(v).lower() if isinstance(v, bool) else str(v) for v in values]
        assert lines[name] == shown, name


def test_same_rows_give_the_same_bytes() -> None:
    for first, second in zip(mixed(), mixed(), strict=True):
        assert table_parquet(first) == table_parquet(second)


def test_half_a_surrogate_pair_is_written_visibly() -> None:
    spec = make_spec(["a"])
    rows = build_rows([make_slot(spec, [make_failure(spec, "a", "bad \ud800 text")])], POLICY)
    assert read(item_table(rows)).column("error_message").to_pylist() == ["bad \\ud800 text"]
