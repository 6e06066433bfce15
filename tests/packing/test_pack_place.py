"""`pack --output`, and what is left when `pack` is ended: an archive lies only where somebody wanted it, whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.calling import Caller, one_line
from tests.packages.archives import package
from tests.packing.cases import ARCHIVE, CASE
from tests.packing.test_pack import packed
from tests.projects import ROOT, ShapesProject

KILLED = (
    "import os, sys\n"
    "from tamesu.edge.packages.archive_writer import ArchiveWriter\n"
    "ArchiveWriter.close = lambda self: os.kill(os.getpid(), {sent})\n"
    "sys.argv = ['tamesu', 'pack', 'shape-drawing']\n"
    "from tamesu.cli.main import main\n"
    "main()\n"
)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 143)])
def test_what_was_not_looked_through_for_secrets_does_not_stay(
    sent: signal.Signals, code: int, case: ShapesProject, call: Caller
) -> None:
    done = case.run_command(
        sys.executable, "-c", KILLED.format(sent=int(sent)), env={"PYTHONPATH": str(ROOT)}, timeout=60
    )
    assert done.code == code, done.err
    place = case.path(ARCHIVE).parent
    if sent is signal.SIGTERM:
        assert done.err == "tamesu: interrupted; run again to go on, what was finished is kept\n"
        assert names(place) == set()
    else:
        assert [name[:9] for name in names(place)] == [".packing-"]
    packed(case, call)
    assert names(place) == {ARCHIVE.name}


def test_what_is_being_packed_and_what_is_somebodys_own_stays(case: ShapesProject, call: Caller) -> None:
    place = case.path(ARCHIVE).parent
    place.mkdir(parents=True)
    for name in (".packing-dead_one", ".packing-mine", ".packing-at_work0"):
        (place / name).write_text("an archive")
    holding = (
        "import fcntl, os, sys; handle = os.open(sys.argv[1], os.O_RDWR)\n"
        "fcntl.flock(handle, fcntl.LOCK_EX); print('held', flush=True); sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holding, str(place / ".packing-at_work0")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        packed(case, call)
        other.communicate("")
    assert names(place) == {ARCHIVE.name, ".packing-mine", ".packing-at_work0"}


@pytest.mark.parametrize(
    "output", ["cases/shape-drawing/a.gz", "cases/shape-drawing", "cases/shape-drawing/new/", "cases/a.gz"]
)
def test_a_place_inside_a_case_is_refused(output: str, case: ShapesProject, call: Caller) -> None:
    before = names(case.path(CASE))
    line = one_line(call(case, "pack", "shape-drawing", "--output", output), 2)
    assert line.endswith(": lies in cases/, where the next package would hold it; give a place outside")
    assert names(case.path(CASE)) == before


def test_a_slash_behind_the_output_makes_a_folder(case: ShapesProject, call: Caller, tmp_path: Path) -> None:
    for output in ("out/new/", f"{tmp_path}/beside/"):
        packed(case, call, "--output", output)
        assert names(case.path(output)) == {ARCHIVE.name}
    case.path("taken").write_text("mine")
    line = one_line(call(case, "pack", "shape-drawing", "--output", "taken/"), 2)
    assert line == "taken: is no folder; leave out the slash, or give another place"


@pytest.mark.parametrize("output", ["nowhere/at/all/", "nowhere/a.gz"])
def test_folders_outside_of_the_project_are_not_made_unasked(
    output: str, case: ShapesProject, call: Caller, tmp_path: Path
) -> None:
    line = one_line(call(case, "pack", "shape-drawing", "--output", f"{tmp_path}/{output}"), 2)
    assert line.endswith(": is not there; make that folder, or give another place")
    assert not (tmp_path / "nowhere").exists()


def test_what_lies_there_already_is_told_for_what_it_is(case: ShapesProject, call: Caller) -> None:
    pack = ("pack", "shape-drawing", "--output", "there.tamesu.tar.gz")
    there = case.path(pack[-1])
    for content, says in (
        (b"notes", "is there and is no package; give another name"),
        (package(name="forms"), "is another package, acme/forms 1.0.0; give another name"),
        (package(), "holds other content under the same version; raise `version`"),
    ):
        there.write_bytes(content)
        for options in ((), ("--dry-run",)):
            assert says in one_line(call(case, *pack, *options), 2)
        assert there.read_bytes() == content
    there.unlink()
    os.mkfifo(there)
    assert "is there and is no package" in one_line(call(case, *pack), 2)
