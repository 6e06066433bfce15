"""All metrics by name, and the figures of every cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tamesu.base.errors import UnknownName
from tamesu.base.model.manifest import Policy
from tamesu.base.model.plan import SlotState
from tamesu.core.metrics.cells import CellMetrics, cells_of, count_cell, rows_of
from tamesu.core.metrics.definition import Metric, MetricValue, Sample, finish
from tamesu.core.metrics.delivery import DELIVERY
from tamesu.core.metrics.judges import JUDGES
from tamesu.core.metrics.pictures import PICTURES
from tamesu.core.metrics.review import REVIEW
from tamesu.core.metrics.scores import SCORES
from tamesu.core.metrics.structured import FIELD_ACCURACY, STRUCTURED, field_of
from tamesu.core.rows import ItemRow
from tamesu.core.tasks import BUNDLE, IMAGES, TEXT

METRICS: tuple[Metric, ...] = (*SCORES, *DELIVERY, *REVIEW, *JUDGES, *STRUCTURED, *PICTURES)


@dataclass(frozen=True, slots=True)
class NamedMetric:
    """A metric with the scorer, judge or field that its name asks for, empty where none is needed."""

    metric: Metric
    scorer: str


def known_metric_names(policy: Policy, has_review_role: bool, task: str = BUNDLE) -> tuple[str, ...]:
    """Return every metric name that an evaluation with this policy produces, in registry order; fields left out."""
    held = {
        "nothing": True,
        "scorer": True,
        "review role": has_review_role,
        "human review": has_review_role and policy.human_rubric is not None,
        "judge": has_review_role,
        "structured text": task == TEXT,
        "pictures": task == IMAGES,
    }
    return tuple(name for metric in METRICS if held[metric.need] for name in metric.names(policy))


def find_metric(name: str, policy: Policy) -> NamedMetric:
    """Return the metric of a name. Raises UnknownName with the nearest names of this policy."""
    for metric in METRICS:
        if name in metric.names(policy):
            return NamedMetric(metric, name.removeprefix(metric.name).removeprefix(":"))
    path = field_of(name)
    if path is not None:  # which fields there are is the schema's word; lint holds names against it
        return NamedMetric(FIELD_ACCURACY, path)
    raise UnknownName("metric", name, known_metric_names(policy, has_review_role=True))


def metric_sample(rows: Sequence[ItemRow], policy: Policy, name: str) -> Sample:
    """Return the per-item values of a metric, for comparisons between cells."""
    named = find_metric(name, policy)
    return named.metric.observe(rows, policy, named.scorer)


def measure(rows: Sequence[ItemRow], policy: Policy, name: str) -> MetricValue:
    """Return one metric over the rows given, pooled; provisional while any of them is owed or asked again."""
    named = find_metric(name, policy)
    sample = named.metric.observe(rows, policy, named.scorer)
    pending = _pending(rows)
    if pending and not any(row.final for row in rows):
        told = ", ".join(f"{number} {word}" for word, number in pending.items())
        sample = replace(sample, blocked=f"{_standing(rows)}, {told}")
    value = finish(name, named.metric, sample)
    if value.value is None or not pending:
        return value
    told = ", ".join(f"{number} of {len(rows)} {word}" for word, number in pending.items())
    return replace(value, interval=None, lacking=f"provisional, {told}", provisional=True)


def cell_metrics(rows: Sequence[ItemRow], policy: Policy, names: Sequence[str]) -> tuple[CellMetrics, ...]:
    """Return the named figures of each model x arm, in the order of the plan.

    Raises UnknownName for a name that the policy does not produce.
    """
    result = []
    for cell in cells_of(rows):
        own = rows_of(rows, cell)
        result.append(count_cell(cell, own, tuple(measure(own, policy, name) for name in names)))
    return tuple(result)


def _standing(rows: Sequence[ItemRow]) -> str:
    """Return why nothing is known yet of rows none of which is final."""
    if any(row.state == "failed" for row in rows):
        return "nothing is final"
    if any(row.slot_state in {SlotState.FAILED, SlotState.DRIFTED} for row in rows):
        return "what has run does not count"
    return "nothing has run"


def _pending(rows: Sequence[ItemRow]) -> dict[str, int]:
    """Return how many rows are not final, by what is due; empty when every row is."""
    due = Counter("owed" if row.state == "owed" else "failed and asked again" for row in rows if not row.final)
    return dict(sorted(due.items()))
