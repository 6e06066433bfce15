"""Patterns of output schemas: those that may take for ever are refused, those that people write are not."""

from __future__ import annotations

import re

import pytest

from tamesu.core.checks.patterns import pattern_problem, schema_patterns

ENDLESS = [
    r"^(a|a)*$",
    r"^(a+)+$",
    r"^(a*)*$",
    r"^(ab|ab)*$",
    r"^(abc|ab|c)*$",
    r"^(a|ab|b)*$",
    r"^(a?a)*$",
    r"^(([a-z])+.)+[A-Z]([a-z])+$",
    r"^(\w+\s?)*$",
    r"^((a+){2,3})+$",
    r"^(a+){9}$",
    r"^(-?\d+)*$",
    r"^(?:x(a+)+)$",
    r"^([a-z0-9]+[._]?)+@",
    r"^(.*,)*$",
    r"(?=(a+)+$)b",
    r"^(a+?)+$",
    r"^(-a*a*)*$",
    r"^(-a*[ab][ab]b*)*$",
    r"^(-(a+)+)*$",
    r"^(-(a|ab|b))*$",
]
ORDINARY = [
    r"^[a-z0-9]+(-[a-z0-9]+)*$",
    r"^[A-Z]{2,5}-\d+$",
    r"^\d{4}-\d{2}-\d{2}$",
    r"^(\d{1,3}\.){3}\d{1,3}$",
    r"^([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}$",
    r"^(foo|bar|baz)+$",
    r"^\s*\S.*$",
    r"^#[0-9A-Fa-f]{6}$",
    r"^[^@\s]+@[^@\s]+\.[a-z]{2,}$",
    r"^(\d+,)*\d+$",
    r"^(,\s*\d+)*$",
    r"^([A-Z][a-z]*)+$",
    r"^(a|b)*$",
    r"^[a-z](-[a-z][a-z0-9]*)*$",
    r"^(-(foo|bar))*$",
    r"^(?:\d{3})+$",
    r"^v\d+(\.\d+)*$",
    "",
    r"^[äöü]+(ß[äöü]+)*$",
]


@pytest.mark.parametrize("pattern", ENDLESS)
def test_what_repeats_what_repeats_is_refused(pattern: str) -> None:
    assert pattern_problem(pattern) == "repeats what repeats, so that checking a text may take for ever"


@pytest.mark.parametrize("pattern", ORDINARY)
def test_what_people_write_is_not(pattern: str) -> None:
    assert pattern_problem(pattern) is None


@pytest.mark.parametrize("pattern", ["(", "[a", r"\p{L}+", "*", "(" * 5000 + ")" * 5000])
def test_what_does_not_parse_is_named(pattern: str) -> None:
    said = pattern_problem(pattern)
    assert said is not None
    assert said.startswith("is none that Python reads: ")


def test_all_patterns_of_a_schema_are_found() -> None:
    schema = {
        "pattern": "a",
        "properties": {"pattern": {"type": "string", "pattern": "b"}, "x": {"enum": [{"pattern": "no"}]}},
        "patternProperties": {"c": {"items": {"pattern": "d"}}},
        "$defs": {"e": {"anyOf": [{"pattern": "f"}]}},
        "const": {"pattern": "no"},
    }
    assert sorted(schema_patterns(schema)) == ["a", "b", "c", "d", "f"]


@pytest.mark.parametrize("pattern", ORDINARY)
def test_what_is_not_refused_ends_on_texts_that_do_not_match(pattern: str) -> None:
    """A text of many repetitions that fails at its end: an endless pattern would not come back."""
    for part in ("a", "-a", "-foo", "1,", ", 1", ".1", "Aa", "ab", "foo", "0:", "ßä"):
        assert (re.search(pattern, part * 60 + "!\n!") is None) == (pattern != "")
