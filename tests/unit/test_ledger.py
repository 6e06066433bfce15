"""The ledger: what it adds up to, in every order of events, and what a crash may leave in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamesu.base.errors import EvidenceError
from tamesu.base.model.evidence import Balance, LedgerEntry
from tamesu.core.ledger import balance, invocation_total, open_reservations, settlements
from tamesu.edge.store.journal import append_entry, read_ledger

TIME = "2026-05-01T12:00:00.000+00:00"


def reserved(run: str, attempt: int, usd: float, invocation: str = "one") -> LedgerEntry:
    return LedgerEntry("reserved", TIME, run, attempt, invocation, usd=usd, samples=3)


def settled(run: str, attempt: int, spent: float, lost: float = 0.0, invocation: str = "one") -> LedgerEntry:
    return LedgerEntry("settled", TIME, run, attempt, invocation, spent_usd=spent, lost_usd=lost)


def test_nothing_happened() -> None:
    assert balance([]) == Balance(0.0, 0.0, 0.0)


def test_a_reservation_stands_until_its_attempt_is_settled() -> None:
    entries = [reserved("a", 1, 0.75), reserved("b", 1, 0.5), settled("a", 1, 0.2, 0.01)]
    assert balance(entries) == Balance(spent_usd=0.2, lost_usd=0.01, reserved_usd=0.5)
    assert list(open_reservations(entries)) == [("b", 1)]


def test_attempts_of_one_run_are_reserved_and_settled_apart() -> None:
    entries = [reserved("a", 1, 0.75), settled("a", 1, 0.2), reserved("a", 2, 0.25)]
    assert balance(entries) == Balance(0.2, 0.0, 0.25)
    assert balance([*entries, settled("a", 2, 0.1)]) == Balance(0.3, 0.0, 0.0)


def test_a_second_settlement_does_not_count_again() -> None:
    entries = [reserved("a", 1, 0.75), settled("a", 1, 0.2, 0.1), settled("a", 1, 0.2, 0.1)]
    assert balance(entries) == Balance(0.2, 0.1, 0.0)
    assert settlements(entries)["a", 1].spent_usd == 0.2


def test_a_later_settlement_of_another_amount_does_not_replace_the_first() -> None:
    assert balance([settled("a", 1, 0.2), settled("a", 1, 9.0)]).spent_usd == 0.2


def test_a_settlement_without_a_reservation_is_money_all_the_same() -> None:
    assert balance([settled("a", 1, 0.2)]) == Balance(0.2, 0.0, 0.0)


def test_a_repeated_reservation_stands_once() -> None:
    assert balance([reserved("a", 1, 0.5), reserved("a", 1, 0.5)]).reserved_usd == 0.5


def test_an_invocation_is_charged_for_its_own_attempts() -> None:
    entries = [
        reserved("a", 1, 0.75, "one"),
        reserved("b", 1, 0.5, "two"),
        settled("a", 1, 0.2, 0.1, "one"),
        reserved("a", 2, 0.25, "two"),
    ]
    assert invocation_total(entries, "one") == pytest.approx(0.3)
    assert invocation_total(entries, "two") == 0.75
    assert invocation_total(entries, "three") == 0.0


@given(st.lists(st.integers(0, 10**6), max_size=60))
def test_small_amounts_add_up_exactly(micros: Sequence[int]) -> None:
    entries = [settled("a", number, amount / 1e6) for number, amount in enumerate(micros)]
    assert balance(entries).spent_usd == round(sum(micros) / 1e6, 9)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 3), st.integers(1, 9)), max_size=30))
def test_money_reserved_is_never_below_what_is_open(steps: list[tuple[str, int, int]]) -> None:
    entries: list[LedgerEntry] = []
    for run, attempt, amount in steps:
        kind = reserved if amount % 2 else settled
        entries.append(kind(run, attempt, amount / 10))
    found = balance(entries)
    assert found.reserved_usd == pytest.approx(sum(e.usd for e in open_reservations(entries).values()))
    assert min(found.spent_usd, found.lost_usd, found.reserved_usd) >= 0


class TestOnDisk:
    def test_entries_come_back_as_written(self, tmp_path: Path) -> None:
        path = tmp_path / "deep" / "ledger.jsonl"
        entries = (reserved("a", 1, 0.75), settled("a", 1, 0.2, 0.01))
        for entry in entries:
            append_entry(path, entry)
        assert read_ledger(path) == entries
        assert path.read_bytes().count(b"\n") == 2

    def test_no_ledger_is_an_empty_one(self, tmp_path: Path) -> None:
        assert read_ledger(tmp_path / "ledger.jsonl") == ()

    @pytest.mark.parametrize("kept", [1, 5, 40])
    def test_a_line_torn_by_a_crash_never_counts_and_swallows_nothing(self, tmp_path: Path, kept: int) -> None:
        path = tmp_path / "ledger.jsonl"
        append_entry(path, reserved("a", 1, 0.75))
        whole = path.read_bytes()
        append_entry(path, settled("a", 1, 0.2))
        path.write_bytes(path.read_bytes()[: len(whole) + kept])
        assert read_ledger(path) == (reserved("a", 1, 0.75),)
        append_entry(path, settled("a", 1, 0.3))
        assert read_ledger(path) == (reserved("a", 1, 0.75), settled("a", 1, 0.3))
        assert path.read_bytes().startswith(whole)

    def test_a_line_without_its_line_end_is_torn(self, tmp_path: Path) -> None:
        path = tmp_path / "ledger.jsonl"
        append_entry(path, reserved("a", 1, 0.75))
        path.write_bytes(path.read_bytes()[:-1])
        assert read_ledger(path) == ()

    @pytest.mark.parametrize(
        "line",
        [
            b'{"event":"gift","time":"t","run_id":"a","attempt":1,"invocation":"one"}',
            b'{"event":"settled","time":"t","run_id":"a","attempt":"one","invocation":"one"}',
            b"settled",
            b"[]",
        ],
    )
    def test_a_line_that_was_altered_is_named(self, tmp_path: Path, line: bytes) -> None:
        path = tmp_path / "ledger.jsonl"
        append_entry(path, reserved("a", 1, 0.75))
        path.write_bytes(path.read_bytes() + line + b"\n")
        with pytest.raises(EvidenceError, match=r"ledger\.jsonl:2: .*restore the ledger"):
            read_ledger(path)
