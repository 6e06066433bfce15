"""Fields of a structured text on a page: how often each is right, and which values of an enum were taken for which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from tamesu.core.checks.fields import Field
from tamesu.core.checks.names import FIELD
from tamesu.core.metrics import rows_of
from tamesu.core.metrics.catalogue import measure
from tamesu.core.metrics.structured import ACCURACY, Confusion
from tamesu.core.report.fields import confusions
from tamesu.core.report.figures import count, metric_text
from tamesu.core.report.summary import EvalSummary
from tamesu.core.report.text import clean
from tamesu.core.rows import ItemRow

MOST_FIELDS = 40
MOST_CELLS = 12
MOST_LABELS = 12
MOST_TABLES = 24
_LONGEST_LABEL = 48


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field and its accuracy per cell, as text with interval and number of items."""

    path: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Count:
    """Items of one expected value and one that came; `mixed` are others among themselves, right or wrong."""

    number: int
    kind: Literal["right", "wrong", "mixed", "none"]


@dataclass(frozen=True, slots=True)
class CrossedRow:
    expected: str
    counts: tuple[Count, ...]


@dataclass(frozen=True, slots=True)
class Crossed:
    """A confusion table: a row per expected value, a column per value that came, the same ones first in both.

    `note` says how many values are counted together as others, empty when each stands by itself.
    """

    cell: str
    columns: tuple[str, ...]
    rows: tuple[CrossedRow, ...]
    note: str


@dataclass(frozen=True, slots=True)
class FieldTables:
    path: str
    tables: tuple[Crossed, ...]


@dataclass(frozen=True, slots=True)
class FieldsPart:
    """The part of a page about fields; `notes` say what is left out of it."""

    cells: tuple[str, ...]
    rows: tuple[FieldRow, ...]
    confused: tuple[FieldTables, ...]
    notes: tuple[str, ...]


def make_fields(summary: EvalSummary, fields: Sequence[Field]) -> FieldsPart | None:
    """Return the part about fields of which something is expected, None where no item that was asked expects any."""
    named = {path for row in summary.rows if row.state != "owed" for path in _compared(row)}
    judged = [field for field in fields if field.path in named]
    if not judged:
        return None
    cells = [one.cell for one in summary.cells][:MOST_CELLS]
    own = [rows_of(summary.rows, cell) for cell in cells]
    rows = tuple(
        FieldRow(
            clean(field.path),
            tuple(metric_text(measure(some, summary.policy, f"{field.path}{ACCURACY}")) for some in own),
        )
        for field in judged[:MOST_FIELDS]
    )
    found = [(str(cell), one) for cell, one in confusions(summary)]
    notes = (
        _left_out(len(judged) - MOST_FIELDS, "field", "the scores of each item"),
        _left_out(len(summary.cells) - MOST_CELLS, "cell", "tables/runs.csv"),
        _left_out(len(found) - MOST_TABLES, "confusion table", "evaluation-report.md"),
    )
    confused = tuple(_by_field(found[:MOST_TABLES]))
    return FieldsPart(tuple(clean(str(cell)) for cell in cells), rows, confused, tuple(filter(None, notes)))


def _compared(row: ItemRow) -> Iterable[str]:
    """Return the fields in which an item counts, also one that failed and so is wrong in all of them."""
    own = {one.name.removeprefix(FIELD) for one in row.measures if one.name.startswith(FIELD)}
    return own if row.expects is None else own | row.expects


def _left_out(number: int, what: str, where: str) -> str:
    verbs = ("is", "it stands") if number == 1 else ("are", "they stand")
    return f"{count(number, f'more {what}')} {verbs[0]} left out here; {verbs[1]} in {where}." if number > 0 else ""


def _by_field(found: Sequence[tuple[str, Confusion]]) -> Iterable[FieldTables]:
    for path in dict.fromkeys(one.path for _, one in found):
        yield FieldTables(clean(path), tuple(_crossed(cell, one) for cell, one in found if one.path == path))


def _crossed(cell: str, found: Confusion) -> Crossed:
    """Return a table of at most so many values by themselves, those confused most; all others are counted together."""
    pairs = Counter(
        {
            (wanted, came): number
            for wanted, counts in zip(found.expected, found.counts, strict=True)
            for came, number in zip(found.actual, counts, strict=True)
        }
    )
    labels = tuple(dict.fromkeys((*found.expected, *found.actual)))
    kept = _most_confused(labels, pairs)
    others = len(labels) - len(kept)
    # None stands for all others together, which no value can be mistaken for
    keys: list[str | None] = [*(label for label in labels if label in kept), *([None] if others else [])]
    together: Counter[tuple[str | None, str | None]] = Counter()
    for (wanted, came), number in pairs.items():
        together[wanted if wanted in kept else None, came if came in kept else None] += number
    rows = tuple(
        CrossedRow(_label(wanted, others), tuple(_count(together[wanted, came], wanted, came) for came in keys))
        for wanted in keys
        if any(together[wanted, came] for came in keys)
    )
    note = f"{count(others, 'value')} of {len(labels)} counted together, those confused least." if others else ""
    return Crossed(clean(cell), tuple(_label(key, others) for key in keys), rows, note)


def _count(number: int, wanted: str | None, came: str | None) -> Count:
    if not number:
        return Count(0, "none")
    return Count(number, "wrong" if wanted != came else "mixed" if wanted is None else "right")


def _most_confused(labels: Sequence[str], pairs: Counter[tuple[str, str]]) -> frozenset[str]:
    """Return the labels that stand by themselves: those of most mistakes first, then the most frequent."""
    if len(labels) <= MOST_LABELS:
        return frozenset(labels)
    wrong, seen = Counter[str](), Counter[str]()
    for (wanted, came), number in pairs.items():
        for label in {wanted, came}:
            seen[label] += number
            wrong[label] += number if wanted != came else 0
    ranked = sorted(labels, key=lambda label: (-wrong[label], -seen[label]))
    return frozenset(ranked[:MOST_LABELS])


def _label(value: str | None, others: int) -> str:
    if value is None:
        return f"({count(others, 'other value')})"
    text = clean(value) or "(empty)"
    return text if len(text) <= _LONGEST_LABEL else f"{text[:_LONGEST_LABEL]}…"
