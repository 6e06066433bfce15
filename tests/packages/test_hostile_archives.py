"""Archives that want out, want more than they say, or are broken: refused with one line, and nothing is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calling import Caller, one_line
from tests.packages.archives import NAME
from tests.packages.corpus import CORPUS
from tests.packages.snapshots import snapshot

ADVICE = "; do not use it; ask its publisher for a sound package"


@pytest.mark.parametrize("name", CORPUS)
def test_c48_c49_a_hostile_archive_is_refused_and_leaves_nothing(
    name: str, project: Path, archive: Callable[[bytes], Path], call: Caller
) -> None:
    make, line = CORPUS[name]
    path = archive(make())
    before = snapshot(project.parent)
    for command in (("verify", str(path)), ("unpack", str(path)), ("fork", str(path), "--publisher", "me")):
        told = one_line(call(project, *command), 1)
        assert told.startswith(f"{NAME}: {line}")
        assert told.endswith(ADVICE)
        assert told.isprintable()
        assert len(told) < 500
    assert snapshot(project.parent) == before
    assert not (project / "cases" / "shapes").exists()
