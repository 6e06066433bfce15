"""Accepted blobs are copied into the item's folder; a hostile staging area costs its own entries only."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import socket
from pathlib import Path

import pytest

from tamesu.base.model.evidence import Artifact, RejectedArtifact, StagedEntry
from tamesu.base.model.manifest import ArtifactPolicy
from tamesu.core.artifacts import MalformedEntry
from tamesu.edge.store import staging
from tamesu.edge.store.staging import Collected, collect, contained, read_staging
from tamesu.inspect_support import bound_staging, stager

POLICY = ArtifactPolicy(required=("source", "log"), allowed=("extra",), review="render", max_bytes=100)
WHERE = "manifest.jsonl"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "staging"


@pytest.fixture
def item(tmp_path: Path) -> Path:
    return tmp_path / "run" / "items" / "one"


def stage(root: Path, *files: tuple[str, str, bytes]) -> None:
    with bound_staging(root, "one"):
        for role, path, body in files:
            stager("one").add(role, path, body, "text/plain")


def write_manifest(root: Path, content: bytes) -> None:
    (root / "one" / "blobs").mkdir(parents=True, exist_ok=True)
    (root / "one" / WHERE).write_bytes(content)


def line(path: str = "a.txt", blob: str = "blobs/0001") -> bytes:
    return json.dumps({"role": "source", "path": path, "media_type": "text/plain", "blob": blob}).encode() + b"\n"


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def only_reason(collected: Collected) -> str:
    assert collected.artifacts == ()
    (rejected,) = collected.rejected
    return rejected.reason


def test_what_a_scorer_staged_arrives_with_digest_and_size(root, item):
    stage(root, ("source", "source/main.c", b"int"), ("log", "log.txt", b""))
    expected = Collected(
        artifacts=(
            Artifact("source", "artifacts/source/main.c", hashlib.sha256(b"int").hexdigest(), 3, "text/plain"),
            Artifact("log", "artifacts/log.txt", hashlib.sha256(b"").hexdigest(), 0, "text/plain"),
        ),
        rejected=(),
        missing=(),
    )
    assert expected == collect(root, "one", item, POLICY)
    assert tree(item) == {"artifacts/source/main.c": b"int", "artifacts/log.txt": b""}


def test_an_item_that_staged_nothing_has_no_artifacts_folder(root, item):
    assert Collected((), (), ("source", "log")) == collect(root, "one", item, POLICY)
    assert list(item.iterdir()) == []


def test_a_refused_entry_costs_only_itself(root, item):
    stage(
        root,
        ("source", "../x", b"a"),
        ("log", "log.txt", b"b"),
        ("log", "LOG.txt", b"c"),
        ("log", "x/big", b"d" * 101),
    )
    collected = collect(root, "one", item, POLICY)
    assert [artifact.path for artifact in collected.artifacts] == ["artifacts/log.txt"]
    assert (
        RejectedArtifact("source", "../x", "traversing_path"),
        RejectedArtifact("log", "LOG.txt", "duplicate_path"),
        RejectedArtifact("log", "x/big", "too_large", size=101, limit=100),
    ) == collected.rejected
    assert collected.missing == ("source",)
    assert tree(item) == {"artifacts/log.txt": b"b"}
    assert not (item / "artifacts" / "x").exists()


def test_collecting_again_replaces_what_lay_there(root, item):
    stage(root, ("source", "a", b"new"))
    (item / "artifacts" / "old").mkdir(parents=True)
    (item / "artifacts" / "old" / "file").touch()
    (item / "result.yml").write_text("kept")
    for _ in range(2):
        collect(root, "one", item, POLICY)
        assert tree(item) == {"artifacts/a": b"new", "result.yml": b"kept"}
        assert {"artifacts", "result.yml"} == {path.name for path in item.iterdir()}


def test_what_an_interrupted_collect_left_is_put_right(root, item):
    stage(root, ("source", "a", b"new"))
    for name in (".artifacts.new", ".artifacts.old"):
        (item / name).mkdir(parents=True)
        (item / name / "stray").write_bytes(b"stray")
    collect(root, "one", item, POLICY)
    assert tree(item) == {"artifacts/a": b"new"}


def test_a_full_disk_passes_as_an_error_and_old_artifacts_stay(root, item, monkeypatch):
    stage(root, ("source", "a", b"new"))
    (item / "artifacts").mkdir(parents=True)
    (item / "artifacts" / "a").write_bytes(b"old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(staging, "_copy", full)
    with pytest.raises(OSError, match="No space left"):
        collect(root, "one", item, POLICY)
    assert tree(item) == {"artifacts/a": b"old"}
    assert [path.name for path in item.iterdir()] == ["artifacts"]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EMFILE, errno.ENOMEM])
def test_faults_of_the_machine_are_not_the_items(root, item, monkeypatch, code):
    stage(root, ("source", "a", b"new"))
    whole = os.open

    def failing(path, *arguments, **options):
        if path == "0001":
            raise OSError(code, os.strerror(code))
        return whole(path, *arguments, **options)

    monkeypatch.setattr(staging.os, "open", failing)
    with pytest.raises(OSError) as caught:
        collect(root, "one", item, POLICY)
    assert code == caught.value.errno


def symlink(blob: Path, secret: Path) -> None:
    blob.symlink_to(secret)


def hard_link(blob: Path, secret: Path) -> None:
    os.link(secret, blob)


def fifo(blob: Path, secret: Path) -> None:
    os.mkfifo(blob)


def folder(blob: Path, secret: Path) -> None:
    blob.mkdir()


def unix_socket(blob: Path, secret: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(blob))


def dangling(blob: Path, secret: Path) -> None:
    blob.symlink_to("nowhere")


@pytest.mark.parametrize("make", [symlink, hard_link, fifo, folder, unix_socket, dangling])
def test_a_blob_that_is_no_regular_file_is_rejected(root, item, make):
    write_manifest(root, line())
    secret = root / "secret"
    secret.write_bytes(b"secret")
    make(root / "one" / "blobs" / "0001", secret)
    assert only_reason(collect(root, "one", item, POLICY)) == "not_a_regular_file"
    assert tree(item) == {}


def test_c48_links_in_the_staging_folder_are_refused_one_by_one(root, item, tmp_path):
    """A link to a folder outside, a hard link through it and a file through it cost themselves alone."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_bytes(b"outside")
    names = ("0001", "0002", "0003", "0004")
    write_manifest(root, b"".join(line(f"{name}.txt", f"blobs/{name}") for name in names) + line("x.txt", "blobs/d/x"))
    blobs = root / "one" / "blobs"
    (blobs / "0001").write_bytes(b"kept")
    (blobs / "0002").symlink_to(outside / "x")
    os.link(outside / "x", blobs / "0003")
    (blobs / "0004").write_bytes(b"kept as well")
    (blobs / "d").symlink_to(outside)
    collected = collect(root, "one", item, POLICY)
    assert [(one.path, one.reason) for one in collected.rejected] == [
        ("x.txt", "outside_staging"),
        ("0002.txt", "not_a_regular_file"),
        ("0003.txt", "not_a_regular_file"),
    ]
    assert tree(item) == {"artifacts/0001.txt": b"kept", "artifacts/0004.txt": b"kept as well"}
    assert tree(outside) == {"x": b"outside"}


def test_a_blob_that_is_not_there_is_missing(root, item):
    write_manifest(root, line())
    assert only_reason(collect(root, "one", item, POLICY)) == "missing_file"


def test_a_blobs_folder_that_is_a_link_is_not_followed(root, item):
    write_manifest(root, line())
    (root / "one" / "blobs").rmdir()
    (root / "elsewhere").mkdir()
    (root / "elsewhere" / "0001").write_bytes(b"secret")
    (root / "one" / "blobs").symlink_to(root / "elsewhere")
    assert only_reason(collect(root, "one", item, POLICY)) == "not_a_regular_file"


def test_a_file_that_grows_while_it_is_copied_is_bounded(root, item, monkeypatch):
    stage(root, ("source", "deep/a", b"x"))
    whole = staging._copy

    def copy_growing(source, target, max_bytes):
        monkeypatch.setattr(staging, "_read", lambda file, size: b"x" * 60)
        return whole(source, target, max_bytes)

    monkeypatch.setattr(staging, "_copy", copy_growing)
    assert only_reason(collect(root, "one", item, POLICY)) == "too_large"
    assert list(item.iterdir()) == []


def test_names_that_this_file_system_merges_are_rejected(root, item, monkeypatch):
    stage(root, ("source", "a", b"x"), ("log", "a/b", b"y"), ("source", "a", b"z"))
    monkeypatch.setattr(staging.rules._Taken, "conflict", lambda self, path: None)
    collected = collect(root, "one", item, POLICY)
    assert [rejected.reason for rejected in collected.rejected] == ["path_conflict", "duplicate_path"]
    assert tree(item) == {"artifacts/a": b"x"}


@pytest.mark.parametrize("name", ["", ".", "..", "../two", "a/b", "/abs"])
def test_an_item_that_is_no_folder_name_is_an_error_of_the_caller(root, name):
    with pytest.raises(ValueError, match="cannot name a folder"):
        read_staging(root, name)


@pytest.mark.parametrize(
    "content",
    [
        b"{}\n",
        b"null\n",
        b"[]\n",
        b"\n",
        b"{\n",
        b"\xff\xfe\n",
        b"\xef\xbb\xbf" + line(),
        b"[" * 200_000 + b"\n",
        b"9" * 10_000 + b"\n",
        line()[:-1],
        line()[:-1] + b"\r\n",
        line()[:-2] + b', "more": "x"}\n',
        line()[:-2] + b', "role": "x"}\n',
        line().replace(b'"source"', b"1"),
        line().replace(b'"source"', b"null"),
        line().replace(b'"blob"', b'"bulb"'),
        line().replace(b'"role": "source", ', b""),
        b'[["role", "a"], ["path", "a"], ["media_type", "a"], ["blob", "a"]]\n',
    ],
)
def test_a_line_that_is_no_entry_is_malformed(root, content):
    write_manifest(root, content)
    assert (MalformedEntry(f"{WHERE}:1", "malformed_manifest"),) == read_staging(root, "one")


def test_only_line_feeds_end_a_line(root):
    raw = line("a").replace(b'"a"', '"a\u2028b\u0085"'.encode())
    write_manifest(root, raw + line("b"))
    expected = [StagedEntry("source", path, "text/plain", "blobs/0001") for path in ("a\u2028b\u0085", "b")]
    assert expected == list(read_staging(root, "one"))


def test_a_malformed_line_does_not_hide_the_next(root):
    write_manifest(root, b"{\n" + line("b"))
    first, second = read_staging(root, "one")
    assert (MalformedEntry(f"{WHERE}:1", "malformed_manifest"), "b") == (first, second.path)


def test_a_manifest_of_too_many_lines_or_bytes_is_read_in_part(root, monkeypatch):
    write_manifest(root, line() * 10_001)
    entries = read_staging(root, "one")
    assert (10_001, MalformedEntry(WHERE, "manifest_too_large")) == (len(entries), entries[-1])
    write_manifest(root, line() + b"x" * staging.MAX_MANIFEST_BYTES)
    first, last = read_staging(root, "one")
    assert ("a.txt", MalformedEntry(WHERE, "manifest_too_large")) == (first.path, last)


@pytest.mark.parametrize("make", [symlink, hard_link, fifo, folder])
def test_a_manifest_that_is_no_regular_file_is_malformed(root, make):
    (root / "one").mkdir(parents=True)
    other = root / "other"
    other.write_bytes(line())
    make(root / "one" / WHERE, other)
    assert (MalformedEntry(WHERE, "not_a_regular_file"),) == read_staging(root, "one")


def test_a_staging_area_that_is_a_link_or_a_file_is_malformed(root, tmp_path):
    root.mkdir()
    write_manifest(tmp_path / "elsewhere", line())
    (root / "one").symlink_to(tmp_path / "elsewhere" / "one")
    (root / "two").touch()
    assert (MalformedEntry(WHERE, "not_a_regular_file"),) == read_staging(root, "one")
    assert (MalformedEntry(WHERE, "not_a_regular_file"),) == read_staging(root, "two")


@pytest.mark.parametrize("relative", ["a", "a/b", "a/../b", "..a", "./a"])
def test_paths_below_a_folder_are_contained(tmp_path, relative):
    assert contained(tmp_path, relative)


@pytest.mark.parametrize("relative", ["", ".", "..", "../a", "a/../..", "a/../../b", "/", "/etc/passwd", "a/.."])
def test_other_paths_are_not_contained(tmp_path, relative):
    assert not contained(tmp_path, relative)
