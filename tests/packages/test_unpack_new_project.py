"""`unpack` and `fork` where no project is, what they say of a package, and versions in a registry as packages."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tamesu.edge.packages import extraction
from tests.cli.calling import Caller, one_line
from tests.packages.archives import CASE, NAME, package, payload_of
from tests.packages.snapshots import snapshot
from tests.projects import ShapesProject

Write = Callable[[bytes], Path]
MARKER = ".untrusted-origin"
UNREADABLE = "cannot be read as a file of the payload"
VERSION = Path("acme/shapes/1.0.0")

UNPACKED = "cases/shapes: unpacked from acme/shapes 1.0.0, 3 files\n"


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    (tmp_path / "empty").mkdir()
    return tmp_path / "empty"


@pytest.fixture
def version(tmp_path: Path, archive: Write, call: Caller) -> Path:
    """The folder of a version in a registry."""
    (tmp_path / "registry").mkdir()
    assert call(tmp_path, "publish", str(archive(package())), "--registry", "registry").code == 0
    return tmp_path / "registry" / VERSION


@pytest.mark.parametrize("command", [("unpack",), ("fork", "--publisher", "me")], ids=["unpack", "fork"])
@pytest.mark.parametrize("named", [(), ("--project", "empty")], ids=["here", "named"])
def test_a_folder_becomes_a_project(
    command: tuple[str, ...], named: tuple[str, ...], empty: Path, archive: Write, call: Caller
) -> None:
    done = call(empty.parent if named else empty, *command, str(archive(package())), *named)
    assert (done.code, done.err) == (0, "")
    made = "Snakefile, config/config.yaml, .gitignore, profiles/default/config.yaml"
    assert done.out.startswith(f"no project here or above: made one in {empty} ({made})\ncases/shapes: ")
    assert (empty / "cases/shapes" / MARKER).is_file()
    assert {path.name for path in (empty / "cases").iterdir()} == {"shapes"}
    assert call(empty, "new", "case", "own").code == 0
    assert call(empty, "unpack", str(archive(package())), "--as", "more").out.startswith("cases/more: ")


def test_a_project_comes_with_a_case_or_not_at_all(
    empty: Path, archive: Write, call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = archive(package())
    before = snapshot(empty.parent)
    (empty / "config").mkdir()
    (empty / "config/config.yaml").write_text("mine: 1\n")
    kept = snapshot(empty)
    assert "is here already and not Tamesu's" in one_line(call(empty, "unpack", str(path)), 2)
    assert snapshot(empty) == kept
    shutil.rmtree(empty / "config")
    assert "cannot name a case" in one_line(call(empty, "unpack", str(path), "--as", "A"), 2)
    one_line(call(empty, "unpack", str(path), "--project", "nowhere"), 2)

    def fails(handle: int, piece: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(extraction, "_write_all", fails)
    assert "the disk is full" in one_line(call(empty, "unpack", str(path)), 2)
    assert snapshot(empty).keys() == {"."}
    monkeypatch.undo()
    path.write_bytes(package()[:200])
    one_line(call(empty, "unpack", str(path)), 1)
    assert snapshot(empty.parent).keys() == before.keys()


def test_runs_of_another_inspect_are_told_with_what_to_do(
    banked_shapes: ShapesProject, empty: Path, archive: Write, call: Caller
) -> None:
    path = archive(package(payload_of(banked_shapes.path("cases/shape-drawing"))))
    assert "were executed with Inspect" not in call(empty, "unpack", str(path), "--as", "same").out
    config = empty / "config/config.yaml"
    here = yaml.safe_load(config.read_text())["inspect_version"]
    config.write_text("inspect_version: 0.0.1\n")
    done = call(empty, "unpack", str(path))
    assert done.out.splitlines()[-1] == (
        f"  8 of its runs were executed with Inspect {here}, this project has 0.0.1: they are stale here; to count "
        f"them write `inspect_version: {here}` into config/config.yaml"
    )
    name = "shapes/prompt-wording/replayed"
    assert "0/8 runs banked" in call(empty, "status", name).out
    config.write_text(f"inspect_version: {here}\n")
    assert "8/8 runs banked" in call(empty, "status", name).out


def test_a_package_without_code_is_not_said_to_hold_code(project: Path, archive: Write, call: Caller) -> None:
    reports = {**CASE, "view-only.yml": b"schema_version: 1\nreason: reports\n"}
    done = call(project, "unpack", str(archive(package(reports, profile="report-only"))))
    assert done.out.splitlines()[1:] == [
        "  it holds reports alone, so nothing of it is planned or run; `tamesu show` and `tamesu present` show it"
    ]
    assert (project / "cases/shapes" / MARKER).is_file()
    code = {**reports, "experiments/e/inspect/task.py": b"import os\n"}
    done = call(project, "unpack", str(archive(package(code, profile="report-only"))), "--as", "code")
    assert "its code was not reviewed" in done.out


class TestVersionOfARegistry:
    def test_it_is_the_package_that_was_published(
        self, version: Path, project: Path, archive: Write, call: Caller
    ) -> None:
        of_archive = call(project, "verify", str(archive(package())))
        assert call(version, "verify", ".") == call(project, "verify", str(version)) == of_archive
        assert call(project, "unpack", str(version)).out.startswith(
            "cases/shapes: unpacked from acme/shapes 1.0.0, 3 files\n"
        )
        assert call(project, "fork", str(version), "--publisher", "me", "--as", "own").code == 0
        for case in ("shapes", "own"):
            marker = yaml.safe_load((project / "cases" / case / MARKER).read_text())
            assert marker["source"] == NAME
            assert (project / "cases" / case / "README.md").read_bytes() == CASE["README.md"]

    @pytest.mark.parametrize(
        ("damage", "line"),
        [
            (lambda folder: (folder / "payload/README.md").write_text("other"), "the payload was altered"),
            (lambda folder: (folder / "payload/more.md").write_text("more"), "the payload was altered"),
            (
                lambda folder: (folder / "payload/link").symlink_to("/etc/hosts"),
                "cannot be read as a file of the payload",
            ),
            (lambda folder: os.mkfifo(folder / "payload/pipe"), "cannot be read as a file of the payload"),
            (lambda folder: (folder / "entry.yml").write_text("a: [1\n"), "entry.yml:"),
            (lambda folder: folder.rename(folder.with_name("1.0.1")), "is that of acme/shapes 1.0.0"),
        ],
        ids=["altered", "more", "link", "pipe", "entry", "elsewhere"],
    )
    def test_what_is_not_what_its_entry_says_is_refused(
        self, damage: Callable[[Path], object], line: str, version: Path, project: Path, call: Caller
    ) -> None:
        damage(version)
        place = next(version.parent.iterdir())
        before = snapshot(project)
        for command in ("verify", "unpack"):
            assert line in one_line(call(project, command, str(place)), 1)
        assert snapshot(project) == before

    def test_another_folder_is_told_what_is_wanted(self, version: Path, project: Path, call: Caller) -> None:
        for place in (version.parent, version / "payload"):
            line = one_line(call(project, "unpack", str(place)), 2)
            assert line == (
                f"{place}: is a folder that holds no entry.yml and payload/; name an archive, or the folder "
                "PUBLISHER/NAME/VERSION of a registry"
            )
