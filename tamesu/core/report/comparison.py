"""Pairwise comparisons of cells, and whether one of them may be called the leader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from tamesu.base.model.manifest import Policy
from tamesu.base.model.plan import SlotState
from tamesu.core.family import holm
from tamesu.core.metrics import Cell, CellMetrics, find_metric, metric_sample, rows_of
from tamesu.core.metrics.definition import MetricValue, Unit
from tamesu.core.pairs import FEWEST_FOR_SIGNIFICANCE, PairedDifference, paired_amount, paired_difference
from tamesu.core.report.figures import count, difference_text, figure, p_text
from tamesu.core.rows import ItemRow, SlotEvidence, owed_reviews
from tamesu.core.stats import LEVEL

Factor = Literal["arm", "model", "both", "eval"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two cells on the items both saw: `first` - `second`.

    `factor` is what they differ in, `eval` for the same cell in two evals. `difference` is None when `lacking` says
    why there is none. `adjusted_p` is its p-value adjusted for the `family` of comparisons that are shown together.
    """

    factor: Factor
    first: Cell
    second: Cell
    unit: Unit
    difference: PairedDifference | None
    lacking: str
    adjusted_p: float | None = None
    family: int = 1

    @property
    def label(self) -> str:
        if self.factor == "eval":
            return str(self.first)
        if self.factor == "arm":
            return f"{self.first.arm} − {self.second.arm} ({self.first.model_label})"
        if self.factor == "model":
            return f"{self.first.model_label} − {self.second.model_label} ({self.first.arm})"
        return f"{self.first} − {self.second}"

    @property
    def clear(self) -> bool:
        """Whether chance alone does not explain the difference, at 5 % for all comparisons of the family."""
        return self.adjusted_p is not None and self.adjusted_p <= 1 - LEVEL

    @property
    def remark(self) -> str:
        """What has to be said beside the figures: why one lacks, and what could not have been seen."""
        return "; ".join(part for part in (self.lacking, "" if self.clear else self._unseen) if part)

    @property
    def note(self) -> str:
        """The remark with the p-value before it, for a table without a column for that."""
        shown = "" if self.adjusted_p is None else f"p = {p_text(self.adjusted_p)}"
        return "; ".join(part for part in (shown.replace("= <", "< "), self.remark) if part)

    @property
    def _unseen(self) -> str:
        paired = self.difference
        if paired is None or paired.p_value is None:
            return ""
        if paired.items < FEWEST_FOR_SIGNIFICANCE:
            return f"{count(paired.items, 'shared item')} cannot show any difference"
        if paired.detectable is None:
            return ""
        if self.unit in {"score", "rate"} and paired.detectable >= 1:
            return "hardly any difference could have been seen"
        return f"a difference below {figure(paired.detectable, self.unit)} could not have been seen reliably"


@dataclass(frozen=True, slots=True)
class Leader:
    """The leading cell, or None; `sentence` says which and by how much, or why none is named."""

    cell: Cell | None
    sentence: str


def compare(rows: Sequence[ItemRow], cells: Sequence[Cell], policy: Policy) -> tuple[Comparison, ...]:
    """Return the comparison by the primary metric of all cells that differ in exactly one factor.

    Their p-values are adjusted for one another.
    """
    own = {cell: rows_of(rows, cell) for cell in cells}
    pairs = [(first, second) for second, first in combinations(cells, 2) if _factor(first, second) != "both"]
    return adjusted([compare_samples((own[one], own[other]), (one, other), (policy, policy)) for one, other in pairs])


def with_leader(
    comparisons: Sequence[Comparison], rows: Sequence[ItemRow], cells: Sequence[CellMetrics], policy: Policy
) -> tuple[Comparison, ...]:
    """Return the comparisons with the one a leader rests on among them: the best cell and the next, in any factor."""
    if len(cells) < 2:
        return tuple(comparisons)
    best, second = (one.cell for one in order_cells(cells, policy)[:2])
    if _between(comparisons, best, second) is not None:
        return tuple(comparisons)
    return adjusted([*comparisons, compare_cells(rows, best, second, policy)])


def adjusted(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Return the comparisons with p-values that hold for all of them together."""
    tested = [one.difference.p_value for one in comparisons if one.difference is not None]
    known = [p for p in tested if p is not None]
    corrected = iter(holm(known))
    return tuple(
        replace(one, adjusted_p=next(corrected), family=len(known))
        if one.difference is not None and one.difference.p_value is not None
        else one
        for one in comparisons
    )


def find_leader(
    comparisons: Sequence[Comparison], slots: Sequence[SlotEvidence], cells: Sequence[CellMetrics], policy: Policy
) -> Leader:
    """Return the cell that leads on the primary metric, if the evidence can carry that claim.

    None is named while a run, an item or a review is owed, from one sample, or when the paired difference to
    the next best cell may be chance, judged by the p-value adjusted for all `comparisons` that are shown.
    """
    reasons = _reasons_against(slots, cells, policy)
    if reasons:
        return Leader(None, f"No leader is named: {'; '.join(reasons)}.")
    best, second = order_cells(cells, policy)[:2]
    found = _between(comparisons, best.cell, second.cell)
    if found is None or found.difference is None:
        return Leader(None, f"No leader is named: {'not compared' if found is None else found.lacking}.")
    # of two equal cells either may stand first
    ahead = found.difference if found.first == best.cell else found.difference.reversed
    gap = f"{difference_text(ahead, found.unit)} over {count(ahead.items, 'shared item')}"
    scores = f"{_place(best, policy)} against {_place(second, policy)}"
    chance = _chance(found)
    if not found.clear:
        unseen = f"; {found.remark}" if found.remark else ""
        return Leader(None, f"No leader is named: {scores} may be chance (paired difference {gap}, {chance}{unseen}).")
    return Leader(best.cell, f"{best.cell} leads on {policy.primary_metric}: {scores}; {gap}, paired, {chance}.")


def _chance(comparison: Comparison) -> str:
    if comparison.adjusted_p is None:
        return "p not known"
    told = f"p = {p_text(comparison.adjusted_p)}".replace("= <", "< ")
    return told if comparison.family < 2 else f"{told} adjusted for {comparison.family} comparisons"


def _between(comparisons: Sequence[Comparison], one: Cell, other: Cell) -> Comparison | None:
    return next((entry for entry in comparisons if {entry.first, entry.second} == {one, other}), None)


def _factor(first: Cell, second: Cell) -> Factor:
    if first == second:
        return "eval"
    if first.model_label == second.model_label:
        return "arm"
    return "model" if first.arm == second.arm else "both"


def order_cells(cells: Sequence[CellMetrics], policy: Policy) -> tuple[CellMetrics, ...]:
    """Return the cells from best to worst on the primary metric; unknown ones last, ties in plan order."""
    sign = -1 if find_metric(policy.primary_metric, policy).metric.better == "higher" else 1

    def key(cell: CellMetrics) -> tuple[bool, float]:
        value = cell.value(policy.primary_metric).value
        return (value is None, sign * (value or 0.0))

    return tuple(sorted(cells, key=key))


def compare_cells(rows: Sequence[ItemRow], first: Cell, second: Cell, policy: Policy) -> Comparison:
    """Return the comparison of two cells by the primary metric, not adjusted for others."""
    return compare_samples((rows_of(rows, first), rows_of(rows, second)), (first, second), (policy, policy))


def compare_samples(
    rows: tuple[Sequence[ItemRow], Sequence[ItemRow]], cells: tuple[Cell, Cell], policies: tuple[Policy, Policy]
) -> Comparison:
    """Return the comparison of the rows of two cells, each judged by its own policy, by the first's primary metric.

    Items that are owed or asked again are left out: a comparison is about what both have answered for good.
    """
    name = policies[0].primary_metric
    metric = find_metric(name, policies[0]).metric
    lacking = Comparison(_factor(*cells), *cells, metric.unit, None, "")
    if not metric.paired:
        return replace(lacking, lacking=f"{metric.name} is not compared by item")
    first, second = (
        metric_sample([row for row in own if row.final], policy, name)
        for own, policy in zip(rows, policies, strict=True)
    )
    blocked = first.blocked or second.blocked
    if blocked:
        return replace(lacking, lacking=blocked)
    differ = paired_difference if metric.unit in {"score", "rate"} else paired_amount
    difference = differ(first.observations, second.observations)
    return replace(lacking, difference=difference, lacking=difference.reason or "")


def _reasons_against(slots: Sequence[SlotEvidence], cells: Sequence[CellMetrics], policy: Policy) -> list[str]:
    reasons = []
    for state in SlotState:
        number = sum(slot.state is state for slot in slots)
        if number and state is not SlotState.BANKED:
            reasons.append(f"{number} of {count(len(slots), 'run')} {state}")
    again = sum(cell.again for cell in cells)
    if again:
        reasons.append(f"{count(again, 'failed item')} to be asked again")
    owed = owed_reviews(sum(cell.reviews_owed for cell in cells), sum(cell.disputed for cell in cells))
    if owed:
        reasons.append(owed)
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
