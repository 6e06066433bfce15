"""Interpolation: every form of a variable in compose files and Dockerfiles."""

from __future__ import annotations

import pytest

from tamesu.edge.documents.images.env_file import read_env
from tamesu.edge.documents.images.interpolation import (
    BACKSLASH,
    MAX_CHARACTERS,
    Missing,
    Resolved,
    Unresolved,
    interpolate,
)

VALUES: dict[str, Resolved] = {"SET": "value", "EMPTY": "", "OTHER": "else", "FAR": Unresolved("it is far")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("$SET", "value"),
        ("a-${SET}-b", "a-value-b"),
        ("$$SET", "$SET"),
        ("$${SET}", "${SET}"),
        ("${SET:-x}", "value"),
        ("${EMPTY:-x}", "x"),
        ("${EMPTY-x}", ""),
        ("${UNSET:-x}", "x"),
        ("${UNSET-x}", "x"),
        ("${UNSET:-}", ""),
        ("${SET:+x}", "x"),
        ("${EMPTY:+x}", ""),
        ("${EMPTY+x}", "x"),
        ("${UNSET:+x}", ""),
        ("${UNSET+x}", ""),
        ("${SET:?needed}", "value"),
        ("${EMPTY?needed}", ""),
        ("${UNSET:-${SET}}", "value"),
        ("${UNSET:-${ALSO_UNSET-${OTHER}}}", "else"),
        ("${UNSET:-reg.invalid:5000/i:1}", "reg.invalid:5000/i:1"),
        ("${SET:-${FAR}}", "value"),
        ("${UNSET:+${FAR}}", ""),
    ],
)
def test_a_form_yields_its_text(text: str, expected: str) -> None:
    assert interpolate(text, VALUES.get) == expected


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("$UNSET", "the variable 'UNSET' has no value"),
        ("i:${UNSET}", "the variable 'UNSET' has no value"),
        ("${UNSET:-${ALSO}}", "the variable 'ALSO' has no value"),
        ("${UNSET:?needed}", "the variable 'UNSET' is required and has no value"),
        ("${EMPTY:?needed}", "the variable 'EMPTY' is required and has no value"),
        ("${UNSET?needed}", "the variable 'UNSET' is required and has no value"),
        ("${FAR:-x}", "it is far"),
        ("${SET", "a '${' is not closed"),
        ("$(date)", "'$(' is no variable"),
        ("5$", "'$' is no variable"),
        ("${1}", "'${1}' is no variable"),
        ("${SET%x}", "'${SET%x}' has a form that is not understood"),
    ],
)
def test_what_cannot_be_known_says_why(text: str, why: str) -> None:
    assert interpolate(text, VALUES.get) == Unresolved(why)


def test_a_blank_instead_of_an_unset_variable_is_chosen() -> None:
    assert interpolate("a${UNSET}b", VALUES.get, missing=Missing.BLANK) == "ab"


def test_a_dockerfile_protects_a_dollar_with_its_escape_character() -> None:
    assert interpolate(r"\$SET-$SET", VALUES.get, BACKSLASH) == "$SET-value"


def test_nesting_and_growth_are_bounded() -> None:
    deep = "${A:-" * 5000 + "x" + "}" * 5000
    wide = {"A": "x" * 60_000}
    assert isinstance(interpolate(deep, {}.get), Unresolved)
    assert isinstance(interpolate("$A$A", wide.get), Unresolved)
    assert interpolate("x" * MAX_CHARACTERS, {}.get) == "x" * MAX_CHARACTERS


def test_an_env_file_gives_plain_values_and_leaves_the_rest_unresolved() -> None:
    text = "# c\nA=1\nexport B = two # note\nC='3 #'\nD=\"four\"\nE=$A\nF='open\nG=\nA=last\n"
    assert read_env(text) == {
        "A": "last",
        "B": "two",
        "C": "3 #",
        "D": "four",
        "E": Unresolved("the value of 'E' in .env is not plain text"),
        "F": Unresolved("the value of 'F' in .env is not plain text"),
        "G": "",
    }
