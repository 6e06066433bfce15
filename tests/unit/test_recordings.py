"""Recorded answers: the format of the file, and which line answers which call."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest

from tamesu.base.canonical import digest
from tamesu.base.errors import InvalidDocument
from tamesu.edge.providers.recordings import Cell, parse_recordings, prompt_key

HEADER = {"tamesu_recording": 1, "label": "made up"}
CELL = Cell("small", "terse", 2)


def file_of(*lines: Any) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in (HEADER, *lines))


def answer(text: str, **filters: Any) -> dict[str, Any]:
    return {"item": "sun", "turns": [{"text": text}], **filters}


def served(content: bytes, cell: Cell = CELL, item: str = "sun") -> str | None:
    found = parse_recordings(content, "answers.jsonl").answer(item, cell)
    return None if found is None else found.turns[0].text


def test_a_turn_is_read_whole() -> None:
    turn = {
        "text": "a \u2028 b",
        "tool_calls": [{"function": "bash", "arguments": {"command": "true"}}],
        "usage": {"input": 1, "output": 2, "cache_read": 3, "cache_write": 4, "reasoning": 5},
        "stop_reason": "tool_calls",
        "latency_seconds": 0.5,
    }
    recordings = parse_recordings(file_of({"item": "sun", "turns": [turn, {"error": "gone"}]}), "answers.jsonl")
    assert recordings.label == "made up"
    found = recordings.answer("sun", CELL)
    assert found is not None
    first, second = found.turns
    assert (first.text, first.stop_reason, first.latency_seconds, first.error) == (
        "a \u2028 b",
        "tool_calls",
        0.5,
        None,
    )
    assert (first.tool_calls[0].function, first.tool_calls[0].arguments) == ("bash", {"command": "true"})
    assert first.usage is not None
    assert (first.usage.input, first.usage.output) == (1, 2)
    assert (first.usage.cache_read, first.usage.cache_write, first.usage.reasoning) == (3, 4, 5)
    assert (second.error, second.text, second.usage, second.stop_reason) == ("gone", "", None, "stop")


FILTERS = (
    answer("any"),
    answer("model", model="small"),
    answer("model and arm", model="small", arm="terse"),
    answer("exact", model="small", arm="terse", repetition=2),
)


@pytest.mark.parametrize("order", list(permutations(range(4)))[::5])
def test_the_most_specific_line_that_fits_wins_in_any_order(order: tuple[int, ...]) -> None:
    content = file_of(*(FILTERS[place] for place in order))
    assert served(content) == "exact"
    assert served(content, Cell("small", "terse", 1)) == "model and arm"
    assert served(content, Cell("small", "long", 2)) == "model"
    assert served(content, Cell("large", "terse", 2)) == "any"


def test_a_line_for_another_cell_or_item_never_answers() -> None:
    content = file_of(answer("model", model="small"))
    assert served(content, Cell("large", "terse", 1)) is None
    assert served(content, item="moon") is None


def test_of_equally_specific_lines_the_first_answers() -> None:
    assert served(file_of(answer("first"), answer("second"))) == "first"


def test_lines_are_split_on_lf_alone() -> None:
    raw = '{"item": "sun", "turns": [{"text": "a\u2028b\x85c\u2029d\x0be"}]}'.replace("\x0b", "")
    content = file_of() + raw.encode() + b"\n\n \n"
    assert served(content) == "a\u2028b\x85c\u2029de"


def test_a_file_with_crlf_reads_the_same() -> None:
    assert served(file_of(answer("any")).replace(b"\n", b"\r\n")) == "any"


@pytest.mark.parametrize(
    ("content", "where"),
    [
        (b"", "answers.jsonl:1: "),
        (b"\n \n", "answers.jsonl:1: "),
        (b"{}\n", "answers.jsonl:1: "),
        (b'{"tamesu_recording": 2, "label": "x"}\n', "answers.jsonl:1: tamesu_recording is 2"),
        (b"no json\n", "answers.jsonl:1: "),
        (file_of(answer("any")) + b"{\n", "answers.jsonl:3: "),
        (file_of({"item": "sun"}), "answers.jsonl:2: "),
        (file_of({"item": "sun", "turns": [], "modell": "small"}), "answers.jsonl:2: "),
        (file_of({"item": "sun", "turns": [{"txt": "x"}]}), "answers.jsonl:2: "),
        (file_of({"item": "sun", "turns": [{"usage": {"inputs": 1}}]}), "answers.jsonl:2: "),
        (file_of({"item": "sun", "turns": [{"text": 1}]}), "answers.jsonl:2: "),
        (file_of({"item": "sun", "turns": [{"text": "x"}], "repetition": "2"}), "answers.jsonl:2: "),
        (file_of() + b'\n\n{"item": "sun", "turns": [{"text": "\xff"}]}\n', "answers.jsonl:4: "),
        (file_of() + b'{"item": "sun", "turns": [{"text": "\\ud800"}]}\n', "answers.jsonl:2: "),
    ],
)
def test_what_is_wrong_is_named_by_its_line(content: bytes, where: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        parse_recordings(content, "answers.jsonl")
    place, _, message = where.partition(": ")
    assert str(caught.value).startswith(f"{place}:1: error replay/recordings {message}")
    assert "\n" not in str(caught.value)


def test_a_call_is_known_by_roles_and_texts_in_order() -> None:
    pairs = [("system", "a"), ("user", "b")]
    assert prompt_key(pairs) == digest([["system", "a"], ["user", "b"]])
    assert len({prompt_key(pairs), prompt_key(pairs[::-1]), prompt_key([("user", "a"), ("user", "b")])}) == 3
    assert prompt_key([("user", "ab")]) != prompt_key([("user", "a"), ("user", "b")])
