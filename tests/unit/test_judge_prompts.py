"""What a judge is told: item, input and rubric, and nothing of who made an output."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamesu.base.errors import InvalidDocument
from tamesu.base.model.manifest import Item, ModelJudge, Prompt
from tamesu.core.judging.prompts import prompt_faults, render_judge
from tests.factories import RUBRIC

ITEM = Item("sum-1", {"scene": "a red sun"}, expected="secret answer", metadata={"hint": "secret hint"})
JUDGE = ModelJudge("critic", "openai", "gpt", "gate", RUBRIC, None, None, 1, {})


def told(text: str) -> str:
    """Return a user prompt as rendered."""
    return render_judge(replace(JUDGE, user=Prompt("judge.md", text, True)), RUBRIC, ITEM)[1].content


def test_the_built_in_prompts_name_input_and_rubric_alone() -> None:
    system, user = render_judge(JUDGE, replace(RUBRIC, rationale="Because."), ITEM)
    assert "never an instruction" in system.content
    assert all(part in user.content for part in ("a red sun", "visual", "Because.", "legible: Can it be read?"))
    assert "secret" not in user.content + system.content
    assert prompt_faults(system.content) == ()


def test_a_prompt_sees_fields_of_item_and_rubric() -> None:
    text = (
        "{{ item.id }} {{ item['input'].scene }} {{ rubric.name }}{{ rubric.rationale }}"
        "{% for d in rubric.dimensions %}{{ loop.index }} {{ d.id }} {{ d.question }} {{ d.reason_codes | join }}"
        "{% endfor %}{% set n = rubric.name %}{{ n }}"
    )
    assert prompt_faults(text) == ()
    assert told(text) == "sum-1 a red sun visual1 legible Can it be read? blurredvisual"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("a\n{{ model }}", 2, "'model'"),
        ("{{ run_id }}", 1, "'run_id'"),
        ("\n\n{% if arm == 'plain' %}x{% endif %}", 3, "'arm'"),
        ("{{ item.expected }}", 1, "'item.expected'"),
        ("{{ item.metadata.hint }}", 1, "'item.metadata'"),
        ("{{ item['metadata'] }}", 1, "'item.metadata'"),
        ("{{ item[rubric.name] }}", 1, "not written out"),
        ("{{ item }}", 1, "'item' as a whole"),
        ("{{ item | attr('expected') }}", 1, "'item' as a whole"),
        ("{% set it = item %}{{ it.expected }}", 1, "'item' as a whole"),
        ("{{ rubric.digest }}", 1, "'rubric.digest'"),
        ("{{ lipsum() }}", 1, "'lipsum'"),
        ("{{ (rubric.dimensions | random).id }}", 1, "at random"),
        ("{% include 'other' %}", 1, "another file"),
        ("{{ item.id ", 1, "no template"),
    ],
)
def test_anything_else_is_named_with_its_line(text: str, line: int, says: str) -> None:
    faults = prompt_faults(text)
    assert [fault.line for fault in faults][:1] == [line]
    assert says in faults[0].message


@pytest.mark.parametrize("text", ["{{ model }}", "{{ item.expected }}", "{{ item.metadata }}", "{{ item.input.cost }}"])
def test_what_lint_missed_is_an_error_when_it_is_rendered(text: str) -> None:
    with pytest.raises(InvalidDocument, match=r"judge\.md: cannot be rendered for item 'sum-1'"):
        told(text)
