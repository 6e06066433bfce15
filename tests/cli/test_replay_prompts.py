"""Recorded answers are found by the prompt, so the items of a replayed arm must differ in it."""

from __future__ import annotations

from tests.cli.calling import Caller
from tests.projects import EXPERIMENT, ShapesProject

TERSE = EXPERIMENT / "prompts/terse.md.j2"


def test_items_with_the_same_prompt_are_told_before_anything_runs(one_run: ShapesProject, call: Caller) -> None:
    """replay/same-prompt: one item would be given the other's answer; an arm with one item has none to mix up."""
    one_run.path(TERSE).write_text("Draw.\n")
    assert "replay/same-prompt" not in call(one_run, "lint").out
    one_run.edit_eval("items: {ids: [red-sun]}", "items: {ids: [red-sun, three-stripes]}")
    done = call(one_run, "lint")
    (line,) = [line for line in done.out.splitlines() if "replay/same-prompt" in line]
    assert (done.code, " error " in line) == (1, True)
    assert "items 'red-sun' and 'three-stripes' render to the same prompt" in line
    assert call(one_run, "run").code == 1
    assert not list(one_run.eval.glob("runs"))
