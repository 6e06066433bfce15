"""What `publication.yml` may say is decided at lint, not by whoever reads the package later."""

from __future__ import annotations

import pytest

from tests.cli.calling import Caller
from tests.packing.cases import ARCHIVE, PUBLICATION
from tests.projects import ShapesProject


@pytest.mark.parametrize(
    ("was", "now", "says"),
    [
        ("publisher: acme", "publisher: con", "1:1: error id/reserved 'con' cannot name a publisher"),
        ("publisher: acme", "publisher: publishers", "1:1: error id/reserved 'publishers' cannot name a publisher"),
        ("name: shapes", "name: nul", "2:1: error id/reserved 'nul' cannot name a package"),
        ("2026-01-31", "2026-02-31", "9:3: error schema/format 'date': '2026-02-31' is in no calendar"),
    ],
)
def test_what_nobody_could_read_is_refused_by_lint_and_pack(
    case: ShapesProject, call: Caller, was: str, now: str, says: str
) -> None:
    case.edit(PUBLICATION, was, now)
    for command in (("lint",), ("pack", "shape-drawing")):
        done = call(case, *command)
        assert done.code == 1
        assert any(says in line for line in done.out.splitlines()), done.out
    assert not case.path(ARCHIVE).parent.exists()
