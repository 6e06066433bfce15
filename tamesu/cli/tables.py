"""Tables on the terminal: left-aligned words, right-aligned figures, broken where a reader would and never cut."""

from __future__ import annotations

from collections.abc import Sequence

from tamesu.core.report.text import visible


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str]], words: frozenset[str], keys: int = 1) -> None:
    """Print a table; columns named in `words` hold text, the others figures.

    Where the terminal is too narrow for all columns they stand in several tables, the first `keys` of them in each.
    """
    # imported here, as most commands print no table
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    from tamesu.cli.columns import Column, fit

    console = Console()
    cells = [tuple(visible(row[at]) for row in rows) for at in range(len(columns))]
    made = [Column(name, own, name in words) for name, own in zip(columns, cells, strict=True)]
    for part in fit(made, console.width, keys):
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        for column in part:
            table.add_column(column.heading, justify="left" if column.words else "right", overflow="fold")
        for row in zip(*(column.cells for column in part), strict=True):
            table.add_row(*row)
        console.print(table)
