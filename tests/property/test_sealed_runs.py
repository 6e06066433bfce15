"""A seal holds after writing and reading, whatever a provider or a file name put into a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamesu.base.model.evidence import ExecutionRecord, Fault, ItemEntry
from tamesu.edge.store.records import parse_record
from tamesu.edge.store.seal import dump_sealed, is_intact
from tests.run_factories import ALL, SPEC, RunRecord, record

AMOUNTS = st.floats(min_value=0, max_value=1e12, allow_nan=False)


def execution(busy: float, remark: str) -> ExecutionRecord:
    return ExecutionRecord(
        "native", "0.3", 1, "0.1", "3.12", "replay/x", None, None, None, {"cost_limit": busy}, {"seed": 1, "a": remark},
        2, 60, 4, None, None, True, (), busy, busy, remarks=(remark,), served={remark: 2},
    )  # fmt: skip


@given(spent=AMOUNTS, busy=AMOUNTS, text=st.text())
def test_what_is_read_back_is_what_was_sealed(spent: float, busy: float, text: str) -> None:
    entries = {"a": ItemEntry("failed", True, 1, "5" * 64, "9" * 64, error=text, artifacts={text: "1" * 64})}
    error = Fault("Fault", text)
    made = record(SPEC, ALL, spent_usd=spent, error=error, items=entries, execution=execution(busy, text))
    content = dump_sealed(made)
    read = parse_record(content, RunRecord, "run.yml")
    assert is_intact(read)
    assert not is_intact(replace(read, complete=read.complete + 1))


def test_a_seal_of_a_run_is_no_part_of_its_identity(tmp_path: Path) -> None:
    made = record(SPEC, ALL, execution=execution(0.0, ""))
    read = parse_record(dump_sealed(made), RunRecord, "run.yml")
    assert (read.identity, read.run_id) == (made.identity, made.run_id)


@pytest.mark.parametrize("field", ["complete", "failed", "planned"])
def test_a_seal_covers_every_count(field: str) -> None:
    read = parse_record(dump_sealed(record(SPEC, ALL, execution=execution(0.0, ""))), RunRecord, "run.yml")
    assert not is_intact(replace(read, **{field: 7}))
