"""Tables on the terminal: left-aligned words, right-aligned figures, folded rather than cut."""

from __future__ import annotations

from collections.abc import Sequence

from tamesu.core.report.text import visible


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str]], words: frozenset[str]) -> None:
    """Print a table; columns named in `words` hold text, the others figures."""
    # imported here, as most commands print no table
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="left" if column in words else "right", overflow="fold")
    for row in rows:
        table.add_row(*(visible(cell) for cell in row))
    Console().print(table)
