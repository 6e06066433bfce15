"""`tamesu lint` on prompts that are not what they look like."""

from __future__ import annotations

import pytest

from tests.cli.calling import Caller
from tests.cli.lint_cases import SYSTEM, findings, swap, write
from tests.projects import EXPERIMENT, ITEMS, ShapesProject


@pytest.mark.parametrize("mark", ["{{ item.input }}", "{{item.id}}", "{% if x %}"])
def test_a_literal_prompt_with_braces_is_a_warning_at_its_line(mark: str, shapes: ShapesProject, call: Caller) -> None:
    """prompt/not-a-template: what is sent may be meant, so nothing is forbidden."""
    prompt = EXPERIMENT / "prompts/terse.md"
    write(prompt, f"Draw this.\nIt is {mark}.\n")(shapes)
    swap("prompts/terse.md.j2", "prompts/terse.md")(shapes)
    swap(f"ids: [{', '.join(ITEMS)}]", f"ids: [{ITEMS[0]}]")(shapes)  # a prompt without variables suits one item
    done = call(shapes, "lint")
    assert done.code == 0
    (found,) = findings(done.out.rpartition("1 eval(s)")[0])
    assert (found.file, found.line, found.severity, found.rule) == (
        prompt.as_posix(), 2, "warning", "prompt/not-a-template"
    )  # fmt: skip
    assert "rename it to terse.md.j2" in done.out


@pytest.mark.parametrize("text", ["Write {{ and }} as they stand.\n", "Use {%b} and { % }.\n"])
def test_other_braces_are_none(text: str, shapes: ShapesProject, call: Caller) -> None:
    write(SYSTEM, text)(shapes)
    assert call(shapes, "lint").out == "1 eval(s): no errors\n"
