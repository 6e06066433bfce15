"""The archive of a case as a target: made when it is asked for, again when the case is another, never written over."""

from __future__ import annotations

import os

from tests.packing.cases import ARCHIVE, CASE, PUBLICATION, members, published
from tests.projects import ShapesProject

TARGET = ARCHIVE.as_posix()


def test_a_package_is_made_with_what_goes_before_it_and_is_then_up_to_date(banked_shapes: ShapesProject) -> None:
    case = published(banked_shapes)
    case.edit(PUBLICATION, "tags:", "profile: full\ntags:")
    (case.eval / "leaderboard.md").unlink()
    assert case.jobs(TARGET) == {"pack": 1, "report": 1}
    done = case.snakemake("--", TARGET)
    assert done.code == 0, done.out + done.err
    archive = case.path(ARCHIVE)
    assert any(name.endswith("/leaderboard.md") for name in members(archive))
    assert case.jobs(TARGET) == {}
    assert case.jobs() == {}
    first = archive.read_bytes()

    # an edit with an old time counts, undoing it counts, and other content does not replace the version
    readme = case.path(CASE / "README.md")
    before = readme.read_bytes()
    readme.write_bytes(before + b"More.\n")
    os.utime(readme, (1, 1))
    assert set(case.jobs(TARGET)) >= {"pack"}
    done = case.snakemake("--", TARGET)
    assert done.code != 0
    assert "holds other content under the same version" in done.out + done.err
    assert archive.read_bytes() == first
    readme.write_bytes(before)
    assert "pack" not in case.jobs(TARGET)


def test_only_a_case_that_is_published_has_a_package(shapes: ShapesProject) -> None:
    done = shapes.snakemake("-n", "--", TARGET)
    assert done.code != 0
    assert "MissingRuleException" in done.out + done.err
