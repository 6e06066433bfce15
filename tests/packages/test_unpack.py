"""`tamesu unpack` and `fork`: a package becomes a marked case, whole or not at all, over nothing."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tamesu.edge.packages import extraction
from tamesu.stages import unpack as stage
from tests.cli.calling import Caller, one_line
from tests.packages.archives import (
    CASE,
    NAME,
    content_digest,
    hostile,
    member,
    package,
    packed,
    payload_of,
    published,
    tar,
)
from tests.packages.snapshots import snapshot
from tests.projects import ROOT, ShapesProject

Write = Callable[[bytes], Path]
MARKER = ".untrusted-origin"
TOLD = (
    "cases/shapes: unpacked from acme/shapes 1.0.0, 3 files\n"
    "  its code was not reviewed, so nothing of it is run; "
    "after a review delete cases/shapes/.untrusted-origin or give --trust-code\n"
)


def files(case: Path) -> dict[str, bytes]:
    """Every file of a case but its marker."""
    found = {path.relative_to(case).as_posix(): path for path in case.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if name != MARKER}


class TestUnpack:
    def test_the_payload_becomes_a_case_and_is_marked(self, project: Path, archive: Write, call: Caller) -> None:
        done = call(project, "unpack", str(archive(package())))
        assert (done.code, done.out, done.err) == (0, TOLD, "")
        case = project / "cases" / "shapes"
        assert files(case) == CASE
        marker = yaml.safe_load((case / MARKER).read_text())
        assert marker["content_digest"] == content_digest(CASE)
        assert marker["source"] == NAME
        assert {path.name for path in (project / "cases").iterdir()} == {"shapes"}

    def test_modes_owners_and_links_of_the_archive_are_left_behind(
        self, project: Path, archive: Write, call: Caller
    ) -> None:
        program = member("presentation/p", b"x"), member("payload/d/", b"", b"5", mode=b"0000000\0")
        assert call(project, "unpack", str(archive(hostile(*program)))).code == 0
        case = project / "cases" / "shapes"
        modes = {path.name: path.stat().st_mode & 0o777 for path in case.rglob("*")}
        assert modes == {"case.yml": 0o644, "README.md": 0o644, "publication.yml": 0o644, "d": 0o755, MARKER: 0o644}

    def test_presentation_is_checked_and_not_extracted(self, project: Path, archive: Write, call: Caller) -> None:
        content = hostile(member("presentation/index.html", b"<script>"))
        assert call(project, "unpack", str(archive(content))).code == 0
        assert files(project / "cases" / "shapes") == CASE

    def test_into_another_project_under_another_name(
        self, project: Path, archive: Write, call: Caller, tmp_path: Path
    ) -> None:
        path = archive(package())
        done = call(tmp_path, "unpack", path.name, "--project", "project", "--as", "other")
        assert (done.code, done.err) == (0, "")
        assert files(project / "cases" / "other") == CASE

    @pytest.mark.parametrize("name", ["../out", "Shapes", "a/b", "", ".hidden", "con"])
    def test_a_name_that_is_none_is_misuse(self, name: str, project: Path, archive: Write, call: Caller) -> None:
        path = archive(package())
        before = snapshot(project.parent)
        assert "cannot name a case" in one_line(call(project, "unpack", str(path), "--as", name), 2)
        assert snapshot(project.parent) == before


class TestNothingIsOverwritten:
    @pytest.mark.parametrize("kind", ["case", "empty folder", "file", "dangling link", "link to a folder"])
    @pytest.mark.parametrize("command", [("unpack",), ("fork", "--publisher", "me")], ids=["unpack", "fork"])
    def test_whatever_lies_there(
        self, kind: str, command: tuple[str, ...], project: Path, archive: Write, call: Caller
    ) -> None:
        place = project / "cases" / "shapes"
        made: dict[str, Callable[[], object]] = {
            "case": lambda: (place.mkdir(), (place / "case.yml").write_text("name: mine\n")),
            "empty folder": place.mkdir,
            "file": lambda: place.write_text("mine"),
            "dangling link": lambda: place.symlink_to(project / "nowhere"),
            "link to a folder": lambda: place.symlink_to(project.parent / "outside"),
        }
        made[kind]()
        path = archive(package())
        (project / ".tamesu" / "locks").mkdir(parents=True)
        before = snapshot(project / "cases"), snapshot(project.parent / "outside")
        assert one_line(call(project, *command, str(path)), 2) == (
            "cases/shapes: exists already; give another name with --as, or move it away"
        )
        assert (snapshot(project / "cases"), snapshot(project.parent / "outside")) == before

    def test_twice_is_once(self, project: Path, archive: Write, call: Caller) -> None:
        path = archive(package())
        assert call(project, "unpack", str(path)).code == 0
        before = snapshot(project / "cases")
        assert "exists already" in one_line(call(project, "unpack", str(path)), 2)
        assert snapshot(project / "cases") == before

    def test_two_at_once_one_wins(
        self, project: Path, archive: Write, call: Caller, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A case that appears while the package is extracted stays what it is."""
        real = stage.move_into_place

        def late(folder: Path, target: Path) -> None:
            target.mkdir()
            (target / "case.yml").write_text("name: mine\n")
            real(folder, target)

        monkeypatch.setattr(stage, "move_into_place", late)
        assert one_line(call(project, "unpack", str(archive(package()))), 2)
        assert files(project / "cases" / "shapes") == {"case.yml": b"name: mine\n"}
        assert {path.name for path in (project / "cases").iterdir()} == {"shapes"}


class TestChangedWhileItIsRead:
    @pytest.mark.parametrize(
        ("other", "line"),
        [
            (package({**CASE, "evil.py": b"import os\n"}), "it changed while it was read"),
            (package(CASE, licence="MIT"), "it changed while it was read"),
            (packed(tar(), 1), "it changed while it was read"),
            (hostile(member("payload/../../out", b"x")), "'payload/../../out' leads out of its folder"),
            (package()[:200], "is cut off"),
            (b"", "is cut off"),
        ],
        ids=["another package", "other terms", "other bytes", "hostile", "cut off", "emptied"],
    )
    def test_c48_what_was_checked_is_what_is_extracted(
        self,
        other: bytes,
        line: str,
        project: Path,
        archive: Write,
        call: Caller,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        path = archive(package())
        self._between(monkeypatch, lambda: path.write_bytes(other))
        (project / ".tamesu" / "locks").mkdir(parents=True)
        before = snapshot(project / "cases"), snapshot(project.parent / "outside")
        assert one_line(call(project, "unpack", str(path)), 1).startswith(f"{NAME}: {line}")
        assert snapshot(project / "cases")["."][0] == before[0]["."][0]
        assert list((project / "cases").iterdir()) == []
        assert snapshot(project.parent / "outside") == before[1]

    def test_another_file_under_its_name_is_not_read(
        self, project: Path, archive: Write, call: Caller, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = archive(package())

        def replace() -> None:
            new = path.with_name("new")
            new.write_bytes(package({**CASE, "evil.py": b"import os\n"}))
            new.replace(path)

        self._between(monkeypatch, replace)
        assert call(project, "unpack", str(path)).code == 0
        assert files(project / "cases" / "shapes") == CASE

    @staticmethod
    def _between(monkeypatch: pytest.MonkeyPatch, change: Callable[[], object]) -> None:
        """Do something after the archive was checked and before it is extracted."""
        real = stage.remove_leftovers

        def changing(beside: Path) -> int:
            change()
            return real(beside)

        monkeypatch.setattr(stage, "remove_leftovers", changing)


class TestInterrupted:
    """C48: a tree that is half there is none, whatever ended the extraction."""

    @pytest.mark.parametrize(
        ("error", "code", "line"),
        [
            (OSError(errno.ENOSPC, "No space left on device"), 2, "the disk is full"),
            (KeyboardInterrupt(), 130, "interrupted"),
            (OSError(errno.EIO, "Input/output error", "README.md"), 2, "README.md: Input/output error"),
        ],
        ids=["full disk", "ctrl-c", "broken disk"],
    )
    def test_nothing_stays(
        self,
        error: BaseException,
        code: int,
        line: str,
        project: Path,
        archive: Write,
        call: Caller,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        def fails(handle: int, piece: bytes) -> None:
            if b"Shapes" in piece:
                raise error
            os.write(handle, piece)

        monkeypatch.setattr(extraction, "_write_all", fails)
        assert line in one_line(call(project, "unpack", str(archive(package()))), code)
        assert list((project / "cases").iterdir()) == []

    @pytest.mark.parametrize(("sent", "code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 143)])
    def test_a_death_leaves_no_case_and_the_next_one_cleans_up(
        self, sent: signal.Signals, code: int, project: Path, archive: Write, call: Caller
    ) -> None:
        program = (
            "import os, sys\n"
            "from tamesu.edge.packages.extraction import PayloadFolder\n"
            "real = PayloadFolder.done\n"
            f"PayloadFolder.done = lambda self: (real(self), os.kill(os.getpid(), {int(sent)}))\n"
            "sys.argv = ['tamesu', 'unpack', sys.argv[1]]\n"
            "from tamesu.cli.main import main\n"
            "main()\n"
        )
        payload = {**CASE, "experiments/e/evals/v/eval.yml": b"name: v\n"}
        path = archive(package(payload))
        ended = subprocess.run(
            [sys.executable, "-c", program, str(path)],
            cwd=project,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert ended.returncode == code, ended.stderr
        left = [path.name for path in (project / "cases").iterdir()]
        assert len(left) == (1 if sent is signal.SIGKILL else 0)
        assert all(name.startswith(".unpacking-") for name in left)
        assert call(project, "list", "--json").out == "[]\n"
        assert "holds no eval yet" in one_line(call(project, "run"), 2)
        done = call(project, "unpack", str(path))
        assert done.code == 0
        assert ("cases: removed what 1 interrupted extraction had left" in done.out) == bool(left)
        assert files(project / "cases" / "shapes") == payload
        assert {path.name for path in (project / "cases").iterdir()} == {"shapes"}

    def test_only_its_own_leftovers_are_removed(self, project: Path, archive: Write, call: Caller) -> None:
        cases = project / "cases"
        for name in (".unpacking-mine", ".unpacking-0123456789abcdeg", "unpacking-0123456789abcdef"):
            (cases / name).mkdir()
        (cases / ".unpacking-0123456789abcdef").symlink_to(project.parent / "outside")
        (cases / ".unpacking-1123456789abcdef").write_text("a file")
        before = snapshot(project.parent / "outside")
        kept = {path.name for path in cases.iterdir()}
        assert call(project, "unpack", str(archive(package()))).out == TOLD
        assert {path.name for path in cases.iterdir()} == {*kept, "shapes"}
        assert snapshot(project.parent / "outside") == before

    def test_c43_a_name_that_the_file_system_takes_for_another_is_refused(
        self, project: Path, archive: Write, call: Caller, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """On a volume that minds names less than the rules here do, every file written must still be new."""
        real = extraction.PayloadFolder._place
        monkeypatch.setattr(
            extraction.PayloadFolder, "_place", lambda self, path: real(self, path.replace("README", "case"))
        )
        content = package({"case.yml": b"name: a\n", "README.yml": b"x\n"})
        line = one_line(call(project, "unpack", str(archive(content))), 1)
        assert line.startswith(f"{NAME}: 'case.yml' is a name that another file has on this file system")
        assert list((project / "cases").iterdir()) == []


class TestFork:
    def test_it_has_an_identity_of_its_own_and_says_where_it_came_from(
        self, project: Path, archive: Write, call: Caller
    ) -> None:
        payload = CASE
        done = call(project, "fork", str(archive(package())), "--publisher", "me", "--name", "forms")
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith("cases/forms: forked from acme/shapes 1.0.0, 3 files\n")
        wanted = "edit cases/forms/publication.yml: who looked at the data (data_review), and authors\n"
        assert done.out.endswith(f"  before it is packed {wanted}")
        case = project / "cases" / "forms"
        assert yaml.safe_load((case / "publication.yml").read_text()) == {
            "publisher": "me",
            "name": "forms",
            "version": "0.1.0",
            "licence": "Apache-2.0",
            "authors": ["Ada"],
            "data_review": {
                "reviewer": "nobody yet",
                "date": "2026-01-31",
                "statement": "To be written: who looked at the data of this fork, when, and why it may be published; "
                "that of acme/shapes 1.0.0 stands in its package.yml (2026-01-31).",
            },
            "tags": ["drawing"],
            "profile": "rescorable",
            "forked_from": {
                "publisher": "acme",
                "name": "shapes",
                "version": "1.0.0",
                "content_digest": content_digest(payload),
            },
        }
        assert {**files(case), "publication.yml": CASE["publication.yml"]} == CASE
        assert yaml.safe_load((case / MARKER).read_text())["content_digest"] == content_digest(payload)

    @pytest.mark.parametrize(
        ("options", "line"),
        [
            (["--publisher", "acme"], "acme/shapes: is the package itself"),
            (["--publisher", "../me"], "'../me' cannot name a publisher"),
            (["--publisher", "me", "--name", "A B"], "'A B' cannot name a package"),
            (["--publisher", "me", "--as", "../x"], "'../x' cannot name a case"),
        ],
    )
    def test_an_identity_that_is_none_is_misuse(
        self, options: list[str], line: str, project: Path, archive: Write, call: Caller
    ) -> None:
        path = archive(package())
        before = snapshot(project.parent)
        assert one_line(call(project, "fork", str(path), *options), 2).startswith(line)
        assert snapshot(project.parent) == before


class TestEvidenceElsewhere:
    def test_banked_runs_are_banked_and_the_page_is_the_same(
        self, banked_shapes: ShapesProject, tmp_path: Path, archive: Write, call: Caller
    ) -> None:
        payload = published(payload_of(banked_shapes.path("cases/shape-drawing")), name="shape-drawing")
        assert not any("/inspect/attempt" in name for name in payload)
        elsewhere = tmp_path / "elsewhere"
        (elsewhere / "cases").mkdir(parents=True)
        done = call(elsewhere, "unpack", str(archive(package(payload, name="shape-drawing"))))
        assert done.code == 0, done.err
        status = call(elsewhere, "status")
        assert status.out.startswith("shape-drawing/prompt-wording/replayed: awaiting review; 8/8 runs banked\n")
        assert "logs of 8 run(s) are absent (a clone or package)" in status.out
        page = Path("build/shape-drawing/index.html")
        for place in (banked_shapes.root, elsewhere):
            assert call(place, "present", "shape-drawing").code == 0
        assert (elsewhere / page).read_bytes() == banked_shapes.path(page).read_bytes()
        assert files(elsewhere / "cases/shape-drawing") == payload
        rescored = call(elsewhere, "rescore").out.splitlines()
        assert sum("its log and frozen dataset are not here (a clone or package)" in line for line in rescored) == 8
        assert files(elsewhere / "cases/shape-drawing") == payload

    def test_under_another_name_they_are_banked_too(
        self, banked_shapes: ShapesProject, archive: Write, call: Caller
    ) -> None:
        content = package(payload_of(banked_shapes.path("cases/shape-drawing")), name="shape-drawing")
        assert call(banked_shapes, "fork", str(archive(content)), "--publisher", "me", "--name", "own").code == 0
        told = call(banked_shapes, "status").out
        assert "own/prompt-wording/replayed: awaiting review; 8/8 runs banked\n" in told
        assert "shape-drawing/prompt-wording/replayed: awaiting review; 8/8 runs banked\n" in told


def test_the_commands_of_the_page_about_packages_do_what_it_says(project: Path, call: Caller) -> None:
    page = (ROOT / "docs" / "unpack.md").read_text()
    commands = [line.split()[1:] for line in page.splitlines() if line.startswith("    tamesu ")]
    assert [command[0] for command in commands] == ["verify", "unpack", "fork"]
    (project / NAME).write_bytes(package())
    for command in commands:
        assert call(project, *command).code == 0
    assert {path.name for path in (project / "cases").iterdir()} == {"shapes", "own-shapes"}
