"""Names of all metrics that an eval may ask for: those of every task, and those that only its task has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tamesu.base.canonical import Json
from tamesu.base.model.manifest import Eval, OutputSchema
from tamesu.core.metrics.catalogue import find_metric, known_metric_names
from tamesu.core.metrics.definition import Unit

_TEXT = ("exact_match_rate", "invalid_output_rate", "schema_valid_rate")
_IMAGE = (
    "generation_success_rate",
    "generation_failure_rate",
    "safety_filter_rate",
    "invalid_artifact_rate",
    "product_reference_pass_rate",
    "mechanical_pass_rate",
    "accepted_rate",
    "human_pass_rate",
)
_MAX_DEPTH = 8


def metric_names(evaluation: Eval) -> tuple[str, ...]:
    """Return every metric name that the eval's task and policy produce."""
    images = evaluation.task == "image_generation"
    has_review = images or evaluation.execution.artifacts.review is not None
    common = known_metric_names(evaluation.policy, has_review)
    if images:
        return (*common, *_IMAGE, *(f"{name}_given_image" for name in _IMAGE))
    if evaluation.task == "structured_text":
        return (*common, *_TEXT, *(f"{field}_accuracy" for field in output_fields(evaluation.output_schema)))
    return common


def unit_of(evaluation: Eval) -> Unit:
    """Return the unit of the primary metric; those that only a task has are rates."""
    name = evaluation.policy.primary_metric
    has_review = evaluation.execution.artifacts.review is not None
    if name in known_metric_names(evaluation.policy, has_review):
        return find_metric(name, evaluation.policy).metric.unit
    return "rate"


def output_fields(schema: OutputSchema | None) -> tuple[str, ...]:
    """Return the dotted path of every field that the output's schema names."""
    return () if schema is None else tuple(dict.fromkeys(_fields(schema.schema, "", _MAX_DEPTH)))


def _fields(schema: Mapping[str, Json], prefix: str, depth: int) -> Iterator[str]:
    properties = schema.get("properties")
    if not isinstance(properties, dict) or depth == 0:
        return
    for name, field in properties.items():
        yield f"{prefix}{name}"
        if isinstance(field, dict):
            yield from _fields(field, f"{prefix}{name}.", depth - 1)
