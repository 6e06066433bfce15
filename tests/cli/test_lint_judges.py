"""Warnings about model judges: those that would not be asked, and those that would be asked for nothing."""

from __future__ import annotations

from tests.cli.calling import Caller
from tests.cli.lint_cases import PRICES, findings, judges, swap, write
from tests.projects import ShapesProject


def warned(project: ShapesProject, call: Caller) -> list[str]:
    """Return the rules that lint warns by; errors there are none."""
    done = call(project, "lint")
    assert done.code == 0, done.out
    found = findings("\n".join(done.out.splitlines()[:-1]))
    assert {one.severity for one in found} <= {"warning"}
    return sorted(one.rule for one in found)


def test_a_gate_that_acceptance_does_not_require_decides_nothing(shapes: ShapesProject, call: Caller) -> None:
    """acceptance/ignores-judge"""
    write(PRICES, "models:\n  - {provider: openai, model: judging, free: true}\n")(shapes)
    judges("gate")[0](shapes)
    assert warned(shapes, call) == ["acceptance/ignores-judge"]
    swap("[mechanical, human]", "[mechanical, human, strict]")(shapes)
    assert warned(shapes, call) == []


def test_a_judge_without_a_price_or_a_bound_is_not_asked(shapes: ShapesProject, call: Caller) -> None:
    """judge/no-price, judge/no-bound"""
    judges("screen")[0](shapes)
    assert warned(shapes, call) == ["judge/no-price"]
    write(PRICES, "models:\n  - {provider: openai, model: judging, usd_per_million: {input: 1, output: 4}}\n")(shapes)
    assert warned(shapes, call) == ["judge/no-bound"]
    swap("role: screen}", "role: screen, parameters: {max_tokens: 100}}")(shapes)
    assert warned(shapes, call) == []


def test_a_judge_without_a_rubric_answers_the_one_that_people_answer(shapes: ShapesProject, call: Caller) -> None:
    judges("screen")[0](shapes)
    assert "judge/no-rubric" not in warned(shapes, call)
