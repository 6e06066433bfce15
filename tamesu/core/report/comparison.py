"""Pairwise comparisons of cells, and whether one of them may be called the leader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from tamesu.base.model.manifest import Policy
from tamesu.base.model.plan import SlotState
from tamesu.core.metrics import Cell, CellMetrics, find_metric, metric_sample, rows_of
from tamesu.core.metrics.definition import MetricValue, Unit
from tamesu.core.report.figures import count, difference_text, figure
from tamesu.core.rows import ItemRow, SlotEvidence
from tamesu.core.stats import PairedDifference, paired_difference


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two cells that differ in one factor, on the items both saw: `first` - `second`.

    `difference` is None when `note` says why there is none.
    """

    factor: Literal["arm", "model"]
    first: Cell
    second: Cell
    unit: Unit
    difference: PairedDifference | None
    note: str

    @property
    def label(self) -> str:
        if self.factor == "arm":
            return f"{self.first.arm} − {self.second.arm} ({self.first.model_label})"
        return f"{self.first.model_label} − {self.second.model_label} ({self.first.arm})"


@dataclass(frozen=True, slots=True)
class Leader:
    """The leading cell, or None; `sentence` says which and by how much, or why none is named."""

    cell: Cell | None
    sentence: str


def compare(rows: Sequence[ItemRow], cells: Sequence[Cell], policy: Policy) -> tuple[Comparison, ...]:
    """Return the comparison by the primary metric of all cells that differ in exactly one factor."""
    result = []
    for second, first in combinations(cells, 2):
        same_arm, same_model = first.arm == second.arm, first.model_label == second.model_label
        if same_arm != same_model:
            factor: Literal["arm", "model"] = "model" if same_arm else "arm"
            result.append(_comparison(rows, factor, first, second, policy))
    return tuple(result)


def find_leader(
    rows: Sequence[ItemRow], slots: Sequence[SlotEvidence], cells: Sequence[CellMetrics], policy: Policy
) -> Leader:
    """Return the cell that leads on the primary metric, if the evidence can carry that claim.

    None is named while a run or a review is owed, from one sample, or when the paired difference to the
    next best cell may be chance.
    """
    reasons = _reasons_against(slots, cells, policy)
    if reasons:
        return Leader(None, f"No leader is named: {'; '.join(reasons)}.")
    ordered = order_cells(cells, policy)
    best, second = ordered[0], ordered[1]
    comparison = _comparison(rows, "arm", best.cell, second.cell, policy)
    ahead = comparison.difference
    if ahead is None:
        return Leader(None, f"No leader is named: {comparison.note}.")
    gap = f"{difference_text(ahead, comparison.unit)} over {count(ahead.items, 'shared item')}"
    scores = f"{_place(best, policy)} against {_place(second, policy)}"
    if not ahead.clear:
        return Leader(None, f"No leader is named: {scores} may be chance (paired difference {gap}).")
    return Leader(best.cell, f"{best.cell} leads on {policy.primary_metric}: {scores}; {gap}, paired.")


def order_cells(cells: Sequence[CellMetrics], policy: Policy) -> tuple[CellMetrics, ...]:
    """Return the cells from best to worst on the primary metric; unknown ones last, ties in plan order."""
    sign = -1 if find_metric(policy.primary_metric, policy).metric.better == "higher" else 1

    def key(cell: CellMetrics) -> tuple[bool, float]:
        value = cell.value(policy.primary_metric).value
        return (value is None, sign * (value or 0.0))

    return tuple(sorted(cells, key=key))


def _comparison(
    rows: Sequence[ItemRow], factor: Literal["arm", "model"], first: Cell, second: Cell, policy: Policy
) -> Comparison:
    metric = find_metric(policy.primary_metric, policy).metric
    if not metric.paired:
        return Comparison(factor, first, second, metric.unit, None, f"{metric.name} is not compared by item")
    # Items still owed have not been seen; a comparison is about what both saw.
    samples = [
        metric_sample([row for row in rows_of(rows, cell) if row.state != "owed"], policy, policy.primary_metric)
        for cell in (first, second)
    ]
    blocked = next((sample.blocked for sample in samples if sample.blocked), None)
    if blocked:
        return Comparison(factor, first, second, metric.unit, None, blocked)
    difference = paired_difference(samples[0].observations, samples[1].observations)
    return Comparison(factor, first, second, metric.unit, difference, difference.reason or "")


def _reasons_against(slots: Sequence[SlotEvidence], cells: Sequence[CellMetrics], policy: Policy) -> list[str]:
    reasons = []
    for state in SlotState:
        number = sum(slot.state is state for slot in slots)
        if number and state is not SlotState.BANKED:
            reasons.append(f"{number} of {count(len(slots), 'run')} {state}")
    owed = sum(cell.reviews_owed for cell in cells)
    if owed:
        reasons.append(f"{count(owed, 'review')} owed")
    if len(cells) < 2:
        reasons.append("there is one model x arm, nothing to compare it with")
    if any(cell.items < 2 for cell in cells):
        reasons.append("one sample cannot carry the claim")
    primary = [cell.value(policy.primary_metric) for cell in cells]
    return reasons or _unknown(primary)


def _unknown(primary: Sequence[MetricValue]) -> list[str]:
    return list(dict.fromkeys(f"{v.name} is not known ({v.lacking})" for v in primary if v.value is None))


def _place(cell: CellMetrics, policy: Policy) -> str:
    value = cell.value(policy.primary_metric)
    shown = "" if value.value is None else figure(value.value, value.unit)
    return f"{cell.cell} with {shown}"
