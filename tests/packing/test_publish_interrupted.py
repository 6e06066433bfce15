"""`publish` whole or not at all: whatever ends it, what stays is a registry, and owners belong to packages."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tamesu.edge.packages import extraction
from tamesu.stages import publish as stage
from tests.cli.calling import Caller, one_line
from tests.packages.archives import CASE, NAME, package
from tests.projects import ROOT

OWNERS = Path("publishers/acme.yml")
KILLED = (
    "import os, sys\n"
    "from tamesu.edge.packages.extraction import PayloadFolder\n"
    "real = PayloadFolder.done\n"
    "PayloadFolder.done = lambda self: (real(self), os.kill(os.getpid(), {sent}))\n"
    "sys.argv = ['tamesu', 'publish', *sys.argv[1:]]\n"
    "from tamesu.cli.main import main\n"
    "main()\n"
)


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    (tmp_path / "registry").mkdir()
    return tmp_path / "registry"


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    (tmp_path / NAME).write_bytes(package())
    return tmp_path / NAME


def everything(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


def owners(registry: Path) -> list[str]:
    return list(yaml.safe_load((registry / OWNERS).read_text())["owners"])


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 143)])
def test_a_death_leaves_no_version_and_no_owners_and_the_next_one_cleans_up(
    sent: signal.Signals, code: int, registry: Path, archive: Path, call: Caller
) -> None:
    publish = (str(archive), "--registry", str(registry))
    ended = subprocess.run(
        [sys.executable, "-c", KILLED.format(sent=int(sent)), *publish],
        cwd=registry.parent,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == code, ended.stderr
    assert not (registry / OWNERS).exists()
    if sent is signal.SIGTERM:
        assert ended.stderr == "tamesu: interrupted; run again to go on, what was finished is kept\n"
        assert everything(registry) == set()
    else:
        assert [path.name[:11] for path in (registry / "acme/shapes").iterdir()] == [".unpacking-"]
    done = call(registry.parent, "publish", *publish, "--owner", "Second")
    assert (done.code, done.err) == (0, "")
    assert ("removed what 1 interrupted publication had left" in done.out) == (sent is signal.SIGKILL)
    assert owners(registry) == ["Second"]
    assert [path.name for path in (registry / "acme/shapes").iterdir()] == ["1.0.0"]


def test_a_full_disk_leaves_nothing(
    registry: Path, archive: Path, call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(handle: int, piece: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(extraction, "_write_all", fails)
    line = one_line(call(registry.parent, "publish", str(archive), "--registry", str(registry)), 2)
    assert "the disk is full" in line
    assert everything(registry) == set()


@pytest.mark.parametrize("named", [(), ("--owner", "Second")], ids=["authors", "named"])
def test_a_death_before_the_owners_is_healed_by_the_next_one(
    named: tuple[str, ...], registry: Path, archive: Path, call: Caller
) -> None:
    publish = ("publish", str(archive), "--registry", str(registry), *named)
    assert call(registry.parent, *publish).code == 0
    (registry / OWNERS).unlink()
    (registry / "publishers/.acme.yml.abcdefgh").write_text("publisher: a")
    done = call(registry.parent, *publish)
    assert "already there, the same content: " in done.out
    assert (done.code, owners(registry)) == (0, ["Second"] if named else ["Ada"])
    assert [path.name for path in (registry / "publishers").iterdir()] == ["acme.yml"]


def test_other_owners_than_are_there_are_told(registry: Path, archive: Path, call: Caller) -> None:
    publish = ("publish", str(archive), "--registry", str(registry))
    assert call(registry.parent, *publish, "--owner", "First").code == 0
    newer = archive.with_name("newer.tamesu.tar.gz")
    newer.write_bytes(package(CASE, version="1.0.1"))
    for path in (archive, newer):
        line = one_line(call(registry.parent, "publish", str(path), *publish[2:], "--owner", "Second"), 2)
        assert "says that acme is owned by First; leave out --owner, or ask them" in line
    assert not (registry / "acme/shapes/1.0.1").exists()
    assert call(registry.parent, *publish, "--owner", "First").code == 0
    assert owners(registry) == ["First"]


def test_who_owns_a_name_was_told_before_its_first_package(registry: Path, archive: Path, call: Caller) -> None:
    (registry / "publishers").mkdir()
    (registry / OWNERS).write_text("publisher: acme\nowners: [Kept for them]\n")
    assert "owned by Kept for them\n" in call(registry.parent, "publish", str(archive), "--registry", str(registry)).out
    assert owners(registry) == ["Kept for them"]


def test_the_author_of_the_original_does_not_come_to_own_the_name_of_a_fork(
    registry: Path, archive: Path, call: Caller
) -> None:
    origin = {"publisher": "other", "name": "shapes", "version": "1.0.0", "content_digest": "0" * 64}
    archive.write_bytes(package(CASE, forked_from=origin))
    publish = ("publish", str(archive), "--registry", str(registry))
    line = one_line(call(registry.parent, *publish), 2)
    assert line.endswith("its authors need not own the name acme; say who does with --owner NAME")
    assert everything(registry) == set()
    assert call(registry.parent, *publish, "--owner", "Me").code == 0
    assert owners(registry) == ["Me"]


def test_what_is_under_way_is_no_leftover(
    registry: Path, archive: Path, call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage, "_PATIENCE_SECONDS", 0)
    begun = registry / "acme/shapes/.unpacking-0123456789abcdef"
    begun.mkdir(parents=True)
    with stage.folder_held(registry, "it", 0):
        line = one_line(call(registry.parent, "publish", str(archive), "--registry", str(registry)), 1)
    assert line == f"{registry} is held by another process; wait for it or stop it"
    assert begun.is_dir()
