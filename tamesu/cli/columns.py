"""Columns that fit a terminal: names break after joints (`_`, `:`, `/`, `-`) and at spaces, figures at spaces alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len, chop_cells

_GAP = 3  # cells between two columns
_EDGES = 2
_WORDS = re.compile(r"\S+\s*")
_JOINTS = re.compile(r".+?(?:[_:/-]|\.(?=[A-Za-z]))+\s*|.+")


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its heading, its cells, and whether they are words, which may break after joints."""

    heading: str
    cells: tuple[str, ...]
    words: bool

    @property
    def texts(self) -> tuple[tuple[str, bool], ...]:
        """The heading and every cell, each with whether it may break after joints."""
        return (self.heading, True), *((cell, self.words) for cell in self.cells)

    @property
    def natural(self) -> int:
        """The width at which nothing breaks."""
        return max(cell_len(line) for text, _ in self.texts for line in text.split("\n"))

    @property
    def least(self) -> int:
        """The width below which something would break where it should not."""
        return max(
            (cell_len(piece.rstrip()) for text, joints in self.texts for piece in pieces(text, joints)), default=0
        )

    def fitted(self, width: int) -> Column:
        """Return the column with its texts broken to a width."""
        cells = tuple(broken(cell, width, self.words) for cell in self.cells)
        return Column(broken(self.heading, width, True), cells, self.words)


def fit(columns: Sequence[Column], width: int, keys: int) -> list[list[Column]]:
    """Return the columns in as few tables as fit a width, the first `keys` ones in each of them."""
    kept, tables = list(columns[:keys]), [list(columns[:keys])]
    for column in columns[keys:]:
        if len(tables[-1]) > keys and _total([*(one.least for one in tables[-1]), column.least]) > width:
            tables.append(list(kept))
        tables[-1].append(column)
    return [_fitted(table, width) for table in tables]


def broken(text: str, width: int, joints: bool) -> str:
    """Return a text in lines of at most a width; within a piece only where one is wider than that."""
    lines: list[str] = []
    for line in text.split("\n"):
        current = ""
        for piece in pieces(line, joints):
            if cell_len((current + piece).rstrip()) <= width:
                current += piece
                continue
            lines += [current] if current else []
            bare = piece.rstrip()
            *full, current = chop_cells(bare, width)
            lines += full
            current += piece[len(bare) :]
        lines.append(current)
    return "\n".join(line.rstrip() for line in lines)


def pieces(text: str, joints: bool) -> list[str]:
    """Return the parts of a text between which a line may end, blanks at the end of each."""
    words = _WORDS.findall(text)
    return [piece for word in words for piece in _JOINTS.findall(word)] if joints else words


def _fitted(columns: Sequence[Column], width: int) -> list[Column]:
    """Break the widest columns first, below the least width of one only when all are at theirs."""
    widths, least = [one.natural for one in columns], [one.least for one in columns]
    while _total(widths) > width:
        loose = [at for at, one in enumerate(widths) if one > least[at]]
        at = max(loose or range(len(widths)), key=lambda place: widths[place])
        if widths[at] <= 1:
            break
        widths[at] -= 1
    return [one.fitted(size) for one, size in zip(columns, widths, strict=True)]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1) + _EDGES
