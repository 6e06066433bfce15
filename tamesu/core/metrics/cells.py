"""A cell of the matrix, model x arm, and the rows that belong to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tamesu.core.metrics.definition import MetricValue
from tamesu.core.rows import ItemRow


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """One model with one arm, all repetitions together."""

    provider: str
    model: str
    arm: str

    @property
    def model_label(self) -> str:
        return f"{self.provider}/{self.model}"

    def __str__(self) -> str:
        return f"{self.model_label} · {self.arm}"


@dataclass(frozen=True, slots=True)
class CellMetrics:
    """The figures of one cell in the order asked for, with the counts that stand beside them.

    `planned` = `complete` + `failed` + `owed`, counted in items x repetitions; `items` are distinct. `again` of the
    failed ones are not final: they are asked again. Of `disputed` ones reviewers disagree and nobody decided.
    """

    cell: Cell
    items: int
    repetitions: int
    planned: int
    complete: int
    failed: int
    again: int
    owed: int
    reviews_owed: int
    disputed: int
    values: tuple[MetricValue, ...]

    def value(self, name: str) -> MetricValue:
        return next(value for value in self.values if value.name == name)


def cell_of(row: ItemRow) -> Cell:
    """Return the cell that a row belongs to."""
    return Cell(row.provider, row.model, row.arm)


def cells_of(rows: Sequence[ItemRow]) -> tuple[Cell, ...]:
    """Return the cells in the order of the plan."""
    return tuple(dict.fromkeys(cell_of(row) for row in rows))


def rows_of(rows: Sequence[ItemRow], cell: Cell) -> tuple[ItemRow, ...]:
    """Return the rows of one cell in the order of the plan."""
    return tuple(row for row in rows if cell_of(row) == cell)


def count_cell(cell: Cell, rows: Sequence[ItemRow], values: tuple[MetricValue, ...]) -> CellMetrics:
    """Return a cell's figures together with the counts of its rows."""
    return CellMetrics(
        cell=cell,
        items=len({row.item for row in rows}),
        repetitions=len({row.repetition for row in rows}),
        planned=len(rows),
        complete=sum(row.state == "complete" for row in rows),
        failed=sum(row.state == "failed" for row in rows),
        again=sum(row.state == "failed" and not row.final for row in rows),
        owed=sum(row.state == "owed" for row in rows),
        reviews_owed=sum(row.review == "owed" for row in rows),
        disputed=sum(row.review == "disagreement" for row in rows),
        values=values,
    )
