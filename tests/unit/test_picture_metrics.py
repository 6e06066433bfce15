"""Metrics of generated pictures: what came, what was withheld, what is none, what people found in it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamesu.base.model.evidence import Outcome
from tamesu.base.model.judgement import Answer
from tamesu.core.metrics import measure
from tamesu.core.rows import ItemRow, build_rows
from tests.factories import REVIEWED, make_failure, make_result, make_review, make_slot, make_spec, reviewed


def rows() -> tuple[ItemRow, ...]:
    """Two pictures, of which one shows the product, one withheld, one that is none, one that failed for good."""
    spec = make_spec(["like", "unlike", "withheld", "none", "failed"])
    invalid = Outcome("invalid_artifact", "undecodable_image")
    results = [
        make_result(spec, "like"),
        make_result(spec, "unlike"),
        replace(make_result(spec, "withheld"), outcome=Outcome("safety_filtered", "content_filter"), answer="filtered"),
        replace(make_result(spec, "none"), outcome=invalid),
        replace(make_failure(spec, "failed"), retryable=False),
    ]
    slot = make_slot(spec, results)
    said = {"like": Answer(True), "unlike": Answer(False, "other-product")}
    reviews = [
        make_review(slot, item, answer.passed, answers={"legible": Answer(True), "product_reference": answer})
        for item, answer in said.items()
    ]
    return build_rows([reviewed(slot, *reviews)], REVIEWED)


def test_a_picture_that_came_beside_a_word_of_the_filter_was_not_withheld() -> None:
    spec = make_spec(["came"])
    slot = make_slot(spec, [replace(make_result(spec, "came"), answer="filtered")])
    found = {
        name: measure(build_rows([slot], REVIEWED), REVIEWED, name).value
        for name in ("generation_success_rate", "safety_filter_rate", "invalid_artifact_rate")
    }
    assert found == {"generation_success_rate": 1.0, "safety_filter_rate": 0.0, "invalid_artifact_rate": 0.0}


@pytest.mark.parametrize(
    ("name", "value", "n"),
    [
        ("generation_success_rate", 2 / 5, 5),
        ("generation_failure_rate", 3 / 5, 5),
        ("safety_filter_rate", 1 / 5, 5),
        ("invalid_artifact_rate", 1 / 5, 5),
        ("product_reference_pass_rate", 1 / 5, 5),
        ("product_reference_pass_rate_given_image", 1 / 2, 2),
        ("human_pass_rate_given_image", 1 / 2, 2),
        ("mechanical_pass_rate_given_image", 1.0, 2),
    ],
)
def test_rates(name: str, value: float, n: int) -> None:
    found = measure(rows(), REVIEWED, name)
    assert (found.value, found.n) == (pytest.approx(value), n)
