"""What docs/structured-text.md says of blanks, byte order marks and depth in answers."""

from __future__ import annotations

import pytest

from tamesu.core.checks.reply import MOST_DEPTH, parse_reply
from tamesu.core.checks.text import TextTask, text_scores

BOM, NBSP = "\ufeff", "\u00a0"


@pytest.mark.parametrize(
    "text",
    [
        f'{BOM}{{"a": 1}}', f' {BOM}{{"a": 1}}', f'{NBSP}{{"a": 1}}{NBSP}\n', f'```json\n{{"a": 1}}\n```{NBSP}',
        f'{BOM}```json\n{{"a": 1}}\n```',
    ],
)  # fmt: skip
def test_blanks_and_a_mark_around_an_answer_do_not_count(text: str) -> None:
    assert (parse_reply(text).value, parse_reply(text).problem) == ({"a": 1}, None)


@pytest.mark.parametrize(
    "text", [f'{{"a":{NBSP}1}}', f'{{"a": 1}}{BOM}', f'```json\n{BOM}{{"a": 1}}\n```', f'{BOM}{BOM}{{"a": 1}}']
)
def test_anywhere_else_they_are_no_json(text: str) -> None:
    assert parse_reply(text).problem is not None


def test_a_no_break_space_in_a_string_is_another_character() -> None:
    scores = {one.name: one.number for one in text_scores(TextTask(None), {"a": "x y"}, f'{{"a": "x{NBSP}y"}}')}
    assert (scores["valid_json"], scores["exact_match"]) == (1.0, 0.0)


@pytest.mark.parametrize(("reply", "matches"), [(f"{NBSP}yes {NBSP}", 1.0), (f"{BOM}yes", 0.0), (f"y{NBSP}es", 0.0)])
def test_words_are_compared_without_blanks_at_both_ends(reply: str, matches: float) -> None:
    scores = {one.name: one.number for one in text_scores(TextTask(None), "yes", reply)}
    assert scores["exact_match"] == matches


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_depth_has_a_bound_of_which_strings_are_no_part(opening: str) -> None:
    def nested(depth: int) -> str:
        return opening * depth + '"[[[{{{"' + ("]" if opening == "[" else "}") * depth

    assert parse_reply(nested(MOST_DEPTH)).problem is None
    assert parse_reply(nested(MOST_DEPTH + 1)).problem == "the reply is nested beyond 200 levels"
