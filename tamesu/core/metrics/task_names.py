"""Names of all metrics that an eval may ask for: of every task, of its own task, and of the fields of its output."""

from __future__ import annotations

from tamesu.base.errors import UnknownName
from tamesu.base.model.manifest import Eval
from tamesu.core.checks.fields import schema_fields
from tamesu.core.metrics.catalogue import find_metric, known_metric_names
from tamesu.core.metrics.definition import Unit
from tamesu.core.metrics.structured import ACCURACY
from tamesu.core.tasks import TEXT, task_artifacts


def metric_names(evaluation: Eval) -> tuple[str, ...]:
    """Return every metric name that the eval's task and policy produce."""
    has_review = task_artifacts(evaluation).review is not None
    common = known_metric_names(evaluation.policy, has_review, evaluation.task)
    if evaluation.task != TEXT:
        return common
    return (*common, *(f"{field.path}{ACCURACY}" for field in schema_fields(evaluation.output_schema)))


def unit_of(evaluation: Eval) -> Unit:
    """Return the unit of the primary metric; a share of items where the name is none."""
    try:
        return find_metric(evaluation.policy.primary_metric, evaluation.policy).metric.unit
    except UnknownName:
        return "rate"
