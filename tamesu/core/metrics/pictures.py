"""Metrics of generated pictures: what came, what was withheld, what is no picture."""

from __future__ import annotations

from collections.abc import Sequence

from tamesu.base.model.manifest import Policy
from tamesu.core.metrics.definition import Better, Metric, Observe, Sample
from tamesu.core.metrics.delivery import rate_of
from tamesu.core.metrics.review import Verdict, verdict_rate
from tamesu.core.rows import ItemRow
from tamesu.core.votes import dimension_answer

PRODUCT_REFERENCE = ("product_reference", "product-reference")


def _given_image(test: Observe) -> Observe:
    """Return an observer that counts the items with a valid picture alone."""

    def observe(rows: Sequence[ItemRow], policy: Policy, scorer: str) -> Sample:
        return test([row for row in rows if row.has_artifact], policy, scorer)

    return observe


def _filtered(row: ItemRow) -> bool:
    return row.outcome_status == "safety_filtered"


def _invalid(row: ItemRow) -> bool:
    return row.state == "complete" and row.outcome_status == "invalid_artifact"


def _not_generated(row: ItemRow) -> bool:
    return row.state != "owed" and not row.has_artifact


def _product_reference(row: ItemRow) -> bool | None:
    return dimension_answer(row.human, PRODUCT_REFERENCE)


def _pair(name: str, what: str, observe: Observe, better: Better = "higher") -> tuple[Metric, Metric]:
    """Return a rate over all planned items, and the same over those with a valid picture."""
    given = f"Share of the items with a valid picture {what}."
    return (
        Metric(name, f"Share of all planned items {what}.", "rate", observe, "pictures", better),
        Metric(f"{name}_given_image", given, "rate", _given_image(observe), "pictures", better),
    )


def _verdict_given_image(name: str, what: str, verdict: Verdict) -> Metric:
    """Return the form that this task's manifests use for `<name>_given_artifact`."""
    summary = f"Share of the items with a valid picture {what}."
    return Metric(f"{name}_given_image", summary, "rate", verdict_rate(verdict, given_artifact=True), "pictures")


PICTURES = (
    *_pair("generation_success_rate", "that came with a valid picture", rate_of(lambda row: row.has_artifact)),
    *_pair(
        "generation_failure_rate", "that were asked and came without a valid picture", rate_of(_not_generated), "lower"
    ),
    *_pair("safety_filter_rate", "that a safety filter withheld", rate_of(_filtered), "lower"),
    *_pair("invalid_artifact_rate", "that came with what is no valid picture", rate_of(_invalid), "lower"),
    *_pair(
        "product_reference_pass_rate",
        "whose reviewers found the product as in its reference (dimension product_reference)",
        verdict_rate(_product_reference, given_artifact=False),
    ),
    _verdict_given_image("mechanical_pass_rate", "that passed every listed check", lambda row: row.mechanical_pass),
    _verdict_given_image("accepted_rate", "that met everything acceptance requires", lambda row: row.accepted),
    _verdict_given_image("human_pass_rate", "that passed human review", lambda row: row.human_pass),
)
