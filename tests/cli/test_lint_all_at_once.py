"""`tamesu lint` tells everything in one round: one mistake hides no other, and none is told that only follows."""

from __future__ import annotations

import pytest

from tests.cli.calling import Caller
from tests.cli.lint_cases import (
    DATASET_LINE,
    MANIFEST,
    RUBRIC,
    TASK,
    Edit,
    findings,
    line_number,
    remove,
    swap,
    write,
)
from tests.cli.lint_cases import Case as Expected
from tests.projects import DATASET, ShapesProject

# Mistakes that a schema cannot see, with the rule and the line of each.
OTHERS: tuple[Edit, ...] = (
    swap("arms:\n  - id: terse", "arms:\n  - {id: terse}\n  - id: terse"),
    swap("provider: replay\n    model: sketcher-large", "provider: replya\n    model: sketcher-large"),
    swap('"mean_score:scene_coverage"', '"mean_score:scene"'),
    remove(RUBRIC),
)
TOLD = {
    ("id/repeated", "- id: terse", 1),
    ("id/repeated", "- {id: terse}", 1),
    ("provider/no-route", "- provider: replya", 1),
    ("path/missing", "rubric:", 1),
}
METRIC = ("metric/not-produced", "primary:", 1)


@pytest.mark.parametrize(
    ("edit", "rule", "beside"),
    [
        pytest.param(
            swap("repetitions: 2", "repetitons: 2"), "schema/additionalProperties", {METRIC}, id="unknown-field"
        ),
        pytest.param(swap("repetitions: 2", "repetitions: two"), "schema/type", {METRIC}, id="wrong-type"),
        pytest.param(swap("cost_limit: 0.05", "cost_limit: 0"), "schema/exclusiveMinimum", {METRIC}, id="bounds"),
        pytest.param(swap(DATASET_LINE + "\n", ""), "schema/required", {METRIC}, id="no-dataset"),
        pytest.param(swap("cost_limit: 0.05, ", ""), "schema/required", {METRIC}, id="no-cost-limit"),
        pytest.param(swap("status: active", "status: actve"), "schema/enum", {METRIC}, id="wrong-word"),
        pytest.param(swap("name: replayed\n", "name: replayed\nowner: me\n"), "schema/additionalProperties", {METRIC},
                     id="unknown-scalar"),
        pytest.param(swap("  file: ../../inspect/task.py\n", ""), "schema/required", set(), id="no-file"),
        pytest.param(swap("- valid_program: {pass_at: 1.0}", "- valid_program: {pass: 1.0}"),
                     "schema/additionalProperties", set(), id="inside-evaluation"),
    ],
)  # fmt: skip
def test_a_wrong_shape_hides_nothing_else(
    edit: Edit, rule: str, beside: set[tuple[str, str, int]], shapes: ShapesProject, call: Caller
) -> None:
    for one in (edit, *OTHERS):
        one(shapes)
    found = findings(call(shapes, "lint").out)
    assert rule in {one.rule for one in found}
    expected = {
        (rule, line_number(shapes, Expected(rule, (), at, MANIFEST, nth=nth))) for rule, at, nth in TOLD | beside
    }
    assert {(one.rule, one.line) for one in found if not one.rule.startswith("schema/")} == expected


def test_an_element_of_a_list_is_left_out_alone(shapes: ShapesProject, call: Caller) -> None:
    """The elements after it are still told at their own lines."""
    swap("id: terse", "id: Terse One")(shapes)
    swap("prompts/worked-example.md.j2", "prompts/none.md.j2")(shapes)
    found = {(one.rule, one.line) for one in findings(call(shapes, "lint").out)}
    line = shapes.manifest.read_text().splitlines()
    assert found == {
        ("schema/pattern", line.index("  - id: Terse One") + 1),
        ("path/missing", next(n for n, text in enumerate(line, 1) if "none.md.j2" in text)),
    }


@pytest.mark.parametrize(
    "edits",
    [
        pytest.param((swap("evaluation:\n", "evalution:\n"),), id="evaluation-misspelt"),
        pytest.param((swap("evaluation:\n", "judging-block:\n"),), id="evaluation-by-another-name"),
        pytest.param((swap("    review: render\n", "    review: {role: render}\n"),), id="review-role"),
        pytest.param((swap("task: artifact_bundle\n", "task: artefact\n"),), id="task"),
        pytest.param((swap("backend: inspect", "backend: inspct"),), id="backend"),
        pytest.param((swap("parameters: {max_tokens", "params: {max_tokens"),), id="parameters"),
        pytest.param((swap("  sources:\n", "  surces:\n"),), id="sources"),
    ],
)
def test_what_only_follows_from_a_wrong_shape_is_not_told(
    edits: tuple[Edit, ...], shapes: ShapesProject, call: Caller
) -> None:
    for edit in edits:
        edit(shapes)
    found = findings(call(shapes, "lint").out)
    assert {one.rule.partition("/")[0] for one in found} == {"schema"}


@pytest.mark.parametrize(
    ("edit", "rule"),
    [
        pytest.param(write(RUBRIC, ""), "schema/type", id="empty"),
        pytest.param(write(RUBRIC, b"\xff"), "yaml/encoding", id="no-text"),
        pytest.param(remove(RUBRIC), "path/missing", id="missing"),
        pytest.param(swap("object-missing", "none", RUBRIC), "rubric/reserved-code", id="reserved-code"),
        pytest.param(swap("object-missing", "Missing!", RUBRIC), "schema/pattern", id="bad-code"),
        pytest.param(swap("drawing.md", "drawn.md", RUBRIC), "path/missing", id="rationale"),
    ],
)
def test_a_rubric_that_cannot_be_read_is_declared_all_the_same(
    edit: Edit, rule: str, shapes: ShapesProject, call: Caller
) -> None:
    edit(shapes)
    assert {one.rule for one in findings(call(shapes, "lint").out)} == {rule}
    assert f" {rule} " in call(shapes, "plan").err


@pytest.mark.parametrize(
    "edit", [write(DATASET, ""), remove(DATASET), remove(TASK)], ids=["empty-dataset", "no-dataset", "no-task-file"]
)
def test_an_unreadable_part_hides_no_name_that_does_not_agree(edit: Edit, shapes: ShapesProject, call: Caller) -> None:
    swap('"mean_score:scene_coverage"', '"mean_score:scene"')(shapes)
    edit(shapes)
    rules = {one.rule for one in findings(call(shapes, "lint").out)}
    assert "metric/not-produced" in rules
    assert len(rules) == 2
    assert "dataset/not-renderable" not in rules


def test_an_unknown_field_is_first_compared_with_its_neighbours(shapes: ShapesProject, call: Caller) -> None:
    swap("required_reviews_per_item: 1", "reviews: 1")(shapes)
    (line,) = call(shapes, "lint").out.splitlines()
    assert line.endswith("unknown field 'reviews'; did you mean 'required_reviews_per_item'?")


def test_an_empty_manifest_is_said_to_be_empty(shapes: ShapesProject, call: Caller) -> None:
    shapes.manifest.write_text("# nothing yet\n")
    (line,) = call(shapes, "lint").out.splitlines()
    assert line.endswith("schema/type expected a mapping, found nothing; the file is empty: write its fields")
