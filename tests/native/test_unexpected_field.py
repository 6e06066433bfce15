"""A field of which no item expects anything: nothing is owed there, and no table says so."""

from __future__ import annotations

import json
from pathlib import Path

from tests.native.project import ITEMS, tickets


def test_the_table_of_a_run_says_that_the_figure_is_not_known(tmp_path: Path) -> None:
    project = tickets(tmp_path / "project", items=2)
    path = project.root / ITEMS
    items = [json.loads(line) for line in path.read_text().splitlines()]
    for item in items:
        del item["expected"]["urgency"]
    path.write_text("".join(json.dumps(item) + "\n" for item in items))
    done = project.tamesu("run")
    assert done.code == 0, done.err
    table = done.out.partition("urgency")[2].partition("No leader")[0]
    assert table.count("not known") == 2
    assert "owed" not in table
