"""What a figure does not say of itself: items that a limit stopped, and items that lack what they had to stage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tamesu.core.metrics import cells_of, rows_of
from tamesu.core.report.figures import count
from tamesu.core.rows import ItemRow


def cell_warnings(rows: Sequence[ItemRow]) -> tuple[str, ...]:
    """Return a sentence for each model x arm whose figures rest on items that were cut short or are incomplete."""
    return tuple(line for cell in cells_of(rows) for line in _of_cell(str(cell), rows_of(rows, cell)))


def _of_cell(label: str, rows: Sequence[ItemRow]) -> Iterator[str]:
    stopped = [row.limit for row in rows if row.limit is not None]
    if stopped:
        kinds = ", ".join(sorted(set(stopped)))
        told = f"{len(stopped)} of {count(len(rows), 'item')} stopped by a limit ({kinds})"
        yield f"{label}: {told}; what they score is no full answer's"
    lacking = [row.missing_artifacts for row in rows if row.state == "complete" and row.missing_artifacts]
    if lacking:
        roles = ", ".join(sorted({role for roles in lacking for role in roles}))
        yield f"{label}: {len(lacking)} of {count(len(rows), 'item')} lack required artifacts ({roles})"
