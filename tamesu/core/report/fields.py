"""The section of evaluation-report.md on the fields of a structured text: where the values of an enum were confused."""

from __future__ import annotations

from collections.abc import Iterable

from tamesu.core.metrics import Cell, rows_of
from tamesu.core.metrics.structured import Confusion, confusion
from tamesu.core.report.summary import EvalSummary
from tamesu.core.report.text import markdown, table


def confusions(summary: EvalSummary) -> Iterable[tuple[Cell, Confusion]]:
    """Yield the confusion of each enum in each cell, those left out of which nothing was answered."""
    for field in summary.enums:
        for cell in summary.cells:
            found = confusion(rows_of(summary.rows, cell.cell), field.path, field.values)
            if any(any(row) for row in found.counts):
                yield cell.cell, found


def fields_section(summary: EvalSummary) -> Iterable[str]:
    """Yield the section; nothing where the output has no enum, or nothing was answered."""
    tables = [
        f"### {markdown(found.path)}: {markdown(str(cell))}\n\n{_table(found)}" for cell, found in confusions(summary)
    ]
    if tables:
        yield "## Fields\n\nAnswered items only; rows are what was expected, columns what came.\n"
        yield "\n".join(tables)


def _table(found: Confusion) -> str:
    rows = (
        (wanted, *map(str, counts)) for wanted, counts in zip(found.expected, found.counts, strict=True) if any(counts)
    )
    return table(("expected", *found.actual), rows, range(1, len(found.actual) + 1))
