"""Evals of many metrics, models and fields fit a screen of 1200 pixels: what is too wide stands in several tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tamesu.core.report.page import evaluation_page
from tamesu.core.report.study.case import EvalStudy, case_page
from tamesu.core.report.study.fields import FieldRow, FieldsPart
from tests.browser import browser
from tests.casebook import study_of
from tests.factories import POLICY, make_result, make_slot, make_spec, make_summary

METRICS = (
    "completion_rate",
    "full_credit_rate:works",
    "mechanical_pass_rate",
    "mechanical_pass_rate_given_artifact",
    "accepted_rate",
    "accepted_rate_given_artifact",
    "cost_per_accepted_usd",
    "mean_score_scored:works",
)
WIDE = replace(POLICY, secondary_metrics=METRICS)
MODELS = ("sorter-small", "sorter-large-with-a-longer-name", "sorter-3")
ACCURACY = "0.917 [0.742, 0.977] (n=24)"
HEADINGS = """[...document.querySelectorAll("table")].filter((one) => one.rows[0].cells[0].innerText === "model"
  && one.rows[0].cells[1].innerText === "arm" && one.rows[1].innerText.includes("n = "))
  .flatMap((one) => [...one.rows[0].cells].map((cell) => cell.textContent))"""
TOO_WIDE = """[...document.querySelectorAll(".scroll")].filter((one) => one.scrollWidth > one.clientWidth + 1)
  .map((one) => one.ariaLabel)"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the page of an eval and that of its case: nine metrics of six cells, and a field with as many."""
    items = [f"item-{number}" for number in range(24)]
    slots = []
    for model in MODELS:
        for arm in ("names", "definitions"):
            spec = make_spec(items, arm=arm, model=model, policy=WIDE)
            slots.append(make_slot(spec, [make_result(spec, item) for item in items]))
    study = study_of(slots, WIDE)
    (experiment,) = study.experiments
    (one,) = experiment.evals
    assert isinstance(one, EvalStudy)
    cells = tuple(f"openai/{model} · {arm}" for model in MODELS for arm in ("names", "definitions"))
    fields = FieldsPart(cells, (FieldRow("money.refund_asked", (ACCURACY,) * len(cells)),), (), ())
    whole = replace(study, experiments=(replace(experiment, evals=(replace(one, fields=fields),)),))
    folder = tmp_path_factory.mktemp("wide")
    written = {"eval": evaluation_page(make_summary(slots, WIDE), {}), "case": case_page(whole)}
    for name, text in written.items():
        (folder / f"{name}.html").write_text(text)
    return {name: folder / f"{name}.html" for name in written}


@pytest.mark.parametrize("name", ["eval", "case"])
def test_no_table_is_cut_and_no_metric_is_left_out(pages: dict[str, Path], name: str) -> None:
    with browser() as tab:
        tab.look(1200, dark=False)
        tab.open(pages[name])
        cut, headings = tab.evaluate(TOO_WIDE), tab.evaluate(HEADINGS)
        accuracies: Any = tab.evaluate("[...document.querySelectorAll('.by-field td')].map((one) => one.innerText)")
    assert cut == []
    assert set(METRICS) <= set(headings)
    assert accuracies == ([ACCURACY] * 6 if name == "case" else [])
