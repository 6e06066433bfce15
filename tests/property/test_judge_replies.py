"""Whatever a judge says, its reply is read as the verdict that it is, or as none."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tamesu.base.model.evidence import Fault
from tamesu.base.model.judgement import Answer
from tamesu.base.model.manifest import Dimension
from tamesu.core.judging.reply import read_verdict

DIMENSIONS = (Dimension("legible", "?", ("blurred", "small")), Dimension("whole", "?", ("cut",)))
NOTES = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
UNSEEN = st.text(st.sampled_from(" \n\t\r\u200b\ufeff\u2060"), max_size=4)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def answers(draw: st.DrawFn) -> dict[str, dict[str, Any]]:
    """Draw what a judge may say of every dimension."""
    said = {}
    for one in DIMENSIONS:
        passed = draw(st.booleans())
        reason = "none" if passed else draw(st.sampled_from(one.reason_codes))
        said[one.id] = {"note": draw(NOTES), "pass": passed, "reason": reason}
    return dict(draw(st.permutations(list(said.items()))))


def read(said: dict[str, dict[str, Any]]) -> dict[str, Answer]:
    return {
        one.id: Answer(said[one.id]["pass"], said[one.id]["reason"], said[one.id]["note"] or None) for one in DIMENSIONS
    }


@given(answers(), UNSEEN, UNSEEN, st.sampled_from([None, 0, 4]), st.booleans())
def test_every_verdict_is_read_as_it_was_given(
    said: dict[str, dict[str, Any]], before: str, after: str, indent: int | None, plain: bool
) -> None:
    text = json.dumps(said, indent=indent, ensure_ascii=plain)
    assert read_verdict(before + text + after, DIMENSIONS, []) == read(said)


@given(answers(), answers())
def test_two_verdicts_are_none(first: dict[str, dict[str, Any]], second: dict[str, dict[str, Any]]) -> None:
    found = read_verdict(f"{json.dumps(first)}\n{json.dumps(second)}", DIMENSIONS, [])
    assert isinstance(found, Fault) and found.type == "TwoObjects"


@given(
    answers(),
    st.text(min_size=1, max_size=30).filter(lambda text: any(c.isprintable() and not c.isspace() for c in text)),
)
def test_a_verdict_among_other_text_is_none(said: dict[str, dict[str, Any]], text: str) -> None:
    for reply in (f"x{text}{json.dumps(said)}", f"{json.dumps(said)}{text}x"):
        assert isinstance(read_verdict(reply, DIMENSIONS, []), Fault)


@given(answers(), st.sampled_from(["legible", "whole"]), st.sampled_from(["pass", "reason", "note"]), JSON)
def test_a_changed_field_is_no_other_verdict(
    said: dict[str, dict[str, Any]], name: str, field: str, value: object
) -> None:
    """A foreign value is a fault, or it says by itself what is read."""
    said[name][field] = value
    found = read_verdict(json.dumps(said), DIMENSIONS, [])
    if not isinstance(found, Fault):
        assert found[name].passed is said[name]["pass"]
        assert found[name].reason == said[name]["reason"]
        assert (found[name].reason == "none") is found[name].passed


@given(st.text(max_size=200) | JSON.map(json.dumps))
def test_nothing_else_raises_or_counts(text: str) -> None:
    assert isinstance(read_verdict(text, DIMENSIONS, [text]), Fault)


@given(answers(), NOTES, NOTES)
def test_a_verdict_that_the_output_holds_never_counts(said: dict[str, dict[str, Any]], before: str, after: str) -> None:
    found = read_verdict(json.dumps(said), DIMENSIONS, [f"{before}{json.dumps(said, indent=1)}{after}"])
    assert isinstance(found, Fault) and found.type == "CopiedVerdict"
