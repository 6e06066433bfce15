"""The tables as Parquet: the same values as the CSV, with their types, for notebooks.

Text stays text (IDs such as 007 or NA), integers and flags may be null without becoming floats. The bytes
follow from the values and the version of pyarrow; which those were stands in the file.
"""

from __future__ import annotations

from tamesu.core.tables import Kind, Table, Value


def table_parquet(table: Table) -> bytes:
    """Return a table as one Parquet file, null for what is not known."""
    import pyarrow as pa  # only this stage needs it
    import pyarrow.parquet as pq

    types = {"text": pa.string(), "integer": pa.int64(), "number": pa.float64(), "flag": pa.bool_()}
    columns = [
        pa.array([_typed(line[index], kind) for line in table.lines], type=types[kind])
        for index, kind in enumerate(table.kinds)
    ]
    schema = pa.schema([pa.field(name, types[kind]) for name, kind in zip(table.names, table.kinds, strict=True)])
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_arrays(columns, schema=schema), sink, compression="zstd")
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _typed(value: Value, kind: Kind) -> Value:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()  # half a surrogate pair has no UTF-8
    return float(value) if kind == "number" and value is not None else value
