"""What people still owe an eval, in a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tamesu.base.model.manifest import EvalRef
from tamesu.core.rows import ItemRow, owed_reviews


def review_lines(ref: EvalRef, rows: Sequence[ItemRow]) -> Iterator[str]:
    """One line on what people owe, with the command that says more; none when nothing is owed."""
    owed = owed_reviews(sum(row.review == "owed" for row in rows), sum(row.review == "disagreement" for row in rows))
    if owed:
        yield f"{owed}; `tamesu review status {ref}` says of whom"
