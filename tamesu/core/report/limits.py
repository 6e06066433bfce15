"""What an evaluation cannot say: one sentence per limit that its own evidence shows, none that does not hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tamesu.base.model.manifest import Eval, Policy
from tamesu.core.metrics import CellMetrics
from tamesu.core.metrics.definition import Unit
from tamesu.core.pairs import FEWEST_FOR_SIGNIFICANCE
from tamesu.core.report.comparison import Comparison
from tamesu.core.report.figures import count, figure
from tamesu.core.rows import ItemRow, SlotEvidence, owed_reviews


def limits(
    evaluation: Eval,
    slots: Sequence[SlotEvidence],
    rows: Sequence[ItemRow],
    cells: Sequence[CellMetrics],
    comparisons: Sequence[Comparison],
) -> tuple[str, ...]:
    """Return the limits, those of the evidence as a whole first."""
    return (
        *_of_answers(slots, rows),
        *_of_items(evaluation, rows),
        *_of_repetitions(slots),
        *_of_comparisons(evaluation.policy, cells, comparisons),
    )


def _of_answers(slots: Sequence[SlotEvidence], rows: Sequence[ItemRow]) -> Iterator[str]:
    replayed = sum(slot.spec.provider == "replay" for slot in slots)
    if replayed:
        yield (
            f"{replayed} of {count(len(slots), 'run')} replay recorded answers: what a live model answers today, how "
            "fast and at what price is not known from them."
        )
    owed = sum(row.state == "owed" for row in rows)
    again = sum(row.state == "failed" and not row.final for row in rows)
    if owed or again:
        due = [f"{number} {word}" for number, word in ((owed, "owed"), (again, "failed and asked again")) if number]
        yield f"Of {count(len(rows), 'planned answer')} {' and '.join(due)}: figures over them are provisional."
    failed = sum(row.state == "failed" and row.final for row in rows)
    if failed:
        yield (
            f"{count(failed, 'answer')} of {len(rows)} failed for good and count as 0, whatever the model could have "
            "answered; figures over scored items leave them out, and what failed need not be like the rest."
        )
    cut = sum(row.answer in {"truncated", "truncated_empty"} for row in rows)
    if cut:
        told = f"{count(cut, 'answer')} of {len(rows)} {_were(cut)} cut off at the token limit"
        yield f"{told}: the whole might score otherwise."
    yield from _of_outputs(rows)


def _of_outputs(rows: Sequence[ItemRow]) -> Iterator[str]:
    invalid = Counter(row.outcome_reason for row in rows if row.outcome_status == "invalid_artifact")
    if invalid:
        reasons = ", ".join(f"{number} {reason}" for reason, number in sorted(invalid.items(), key=str))
        told = f"{count(invalid.total(), 'output')} of {len(rows)} {_were(invalid.total())} no valid artifact"
        yield f"{told} and counted as not accepted without review: {reasons}."
    withheld = sum(row.outcome_status == "safety_filtered" for row in rows)
    if withheld:
        told = f"{count(withheld, 'output')} of {len(rows)} {_were(withheld)} withheld by a safety filter"
        yield f"{told} and counted as not accepted without review."
    owed = owed_reviews(sum(row.review == "owed" for row in rows), sum(row.review == "disagreement" for row in rows))
    if owed:
        yield f"{owed}: nothing that needs people's verdicts is known."


def _of_items(evaluation: Eval, rows: Sequence[ItemRow]) -> Iterator[str]:
    items = len({row.item for row in rows if row.final})
    if not items:
        return
    left = len(evaluation.dataset.items) - len({row.item for row in rows})
    unasked = f" {count(left, 'item')} of the dataset {_were(left)} not selected." if left > 0 else ""
    if items == 1:
        yield f"Figures rest on one item: nothing is known of how much others differ.{unasked}"
        return
    yield (
        f"Figures rest on {items} items: intervals say what other items drawn like these would give, not how well "
        f"these stand for a task.{unasked}"
    )


def _of_repetitions(slots: Sequence[SlotEvidence]) -> Iterator[str]:
    if slots and all(slot.spec.repetition == 1 for slot in slots):
        yield "Each item was planned once per model and arm: how much an answer varies from draw to draw is not known."


def _of_comparisons(policy: Policy, cells: Sequence[CellMetrics], comparisons: Sequence[Comparison]) -> Iterator[str]:
    if len(cells) == 1:
        yield "There is one model x arm: whether another would do better is not known."
    tested = [one for one in comparisons if one.adjusted_p is not None and one.difference is not None]
    open_ones = [one for one in tested if not one.clear]
    if not open_ones:
        return
    yield (
        f"{len(open_ones)} of {count(len(tested), 'comparison')} {'is' if len(open_ones) == 1 else 'are'} not clear: "
        "that is no proof of equality." + _unseen(policy.primary_metric, open_ones)
    )
    few = [one for one in open_ones if one.difference and one.difference.items < FEWEST_FOR_SIGNIFICANCE]
    if few:
        yield (
            f"{count(len(few), 'comparison')} {'rests' if len(few) == 1 else 'rest'} on fewer than "
            f"{FEWEST_FOR_SIGNIFICANCE} shared items, where no difference could be clear."
        )


def _unseen(metric: str, comparisons: Sequence[Comparison]) -> str:
    found = [(one.difference.detectable, one.unit) for one in comparisons if one.difference is not None]
    known = sorted((size, unit) for size, unit in found if size is not None)
    if not known:
        return ""
    (least, unit), (most, _) = known[0], known[-1]
    return f" With 80 % power differences in {metric} had to be at least {_span(least, most, unit)} to be seen."


def _span(least: float, most: float, unit: Unit) -> str:
    low, high = figure(least, unit), figure(most, unit)
    return low if low == high else f"{low} to {high}, depending on the comparison,"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"
