"""What a figure does not say of itself: items that a limit stopped, and a required role that nothing ever staged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tamesu.core.metrics import cells_of, rows_of
from tamesu.core.rows import ItemRow


def evidence_warnings(rows: Sequence[ItemRow]) -> tuple[str, ...]:
    """Return a sentence for each thing that makes the figures say less than they seem to."""
    return (*_stopped(rows), *_never_staged(rows))


def _stopped(rows: Sequence[ItemRow]) -> Iterator[str]:
    told = []
    for cell in cells_of(rows):
        own = rows_of(rows, cell)
        kinds = [row.limit for row in own if row.limit is not None]
        if kinds:
            told.append(f"{cell}: {len(kinds)} of {len(own)} ({', '.join(sorted(set(kinds)))})")
    if told:
        yield f"items were stopped by a limit, so their scores are not of full answers: {'; '.join(told)}"


def _never_staged(rows: Sequence[ItemRow]) -> Iterator[str]:
    """A role that some items lack is a result; one that all of them lack is a name that is wrong somewhere."""
    complete = [frozenset(row.missing_artifacts) for row in rows if row.state == "complete" and row.limit is None]
    for role in sorted(frozenset.intersection(*complete) if complete else ()):
        yield f"no item staged the required artifact '{role}'; compare execution.artifacts with the task"
