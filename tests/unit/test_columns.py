"""Tables that fit a terminal: nothing breaks inside a word while there is another way, and nothing is lost."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tamesu.cli.columns import Column, broken, fit, pieces

MODEL = Column("model", ("replay/sorter-small",), words=True)
ARM = Column("arm", ("definitions",), words=True)
METRICS = [
    Column(name, ("0.792 [0.595, 0.908]",), words=False)
    for name in ("exact_match_rate", "product_reference_pass_rate_given_image", "mean_score:compiles_and_renders")
]


def width_of(table: Sequence[Column]) -> int:
    widths = [max(cell_len(line) for text, _ in one.texts for line in text.split("\n")) for one in table]
    return sum(widths) + 3 * (len(widths) - 1) + 2


@pytest.mark.parametrize("width", [120, 80, 60, 48])
def test_headings_break_after_joints_alone_and_every_table_fits(width: int) -> None:
    tables = fit([MODEL, ARM, *METRICS], width, keys=2)
    assert all(width_of(table) <= width for table in tables)
    shown = [column for table in tables for column in table[2:]]
    assert [column.heading.replace("\n", "") for column in shown] == [column.heading for column in METRICS]
    for column in shown:
        assert all(line.endswith(("_", ":")) for line in column.heading.split("\n")[:-1])
        assert column.cells[0].split() == ["0.792", "[0.595,", "0.908]"]
    assert all([column.heading for column in table[:2]] == ["model", "arm"] for table in tables)


def test_what_fits_is_left_alone_and_stands_in_one_table() -> None:
    assert fit([MODEL, ARM, *METRICS], 200, keys=2) == [[MODEL, ARM, *METRICS]]


def test_a_name_breaks_after_its_joints_and_a_figure_never_at_its_point_or_sign() -> None:
    assert broken("replay/sorter-small", 8, joints=True) == "replay/\nsorter-\nsmall"
    assert broken("money.refund_asked", 8, joints=True) == "money.\nrefund_\nasked"
    assert broken("gpt-5.1", 5, joints=True) == "gpt-\n5.1"
    assert broken("-0.500 [-0.850, 0.235]", 9, joints=False) == "-0.500\n[-0.850,\n0.235]"


@given(st.text("ab_:/- .0\n質", max_size=40), st.integers(1, 12), st.booleans())
def test_no_line_is_too_wide_and_no_character_but_blanks_is_lost(text: str, width: int, joints: bool) -> None:
    width = max(2, width)
    made = broken(text, width, joints)
    assert all(cell_len(line) <= width for line in made.split("\n"))
    assert "".join(made.split()) == "".join(text.split())
    assert [piece for line in text.split("\n") for piece in pieces(line, joints)] or not text.strip()
