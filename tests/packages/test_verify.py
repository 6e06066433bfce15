"""`tamesu verify`: what a sound package is said to be, and that looking at one writes nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tamesu.base.errors import InvalidPackage
from tamesu.base.model.package import Limits
from tamesu.core.packages import inventory
from tamesu.core.packages.tar_header import Kind
from tamesu.edge.packages.archive import Nobody, read_archive
from tamesu.edge.packages.payload import file_digest
from tamesu.stages.unpack import verify_package
from tests.cli.calling import Caller, one_line
from tests.packages.archives import (
    CASE,
    END,
    NAME,
    PUBLICATION,
    content_digest,
    extended,
    hostile,
    member,
    package,
    packed,
    published,
    record,
    tar,
)
from tests.packages.snapshots import snapshot

Write = Callable[[bytes], Path]
VECTOR = {"case.yml": b"a\n", "README.md": b"b\n"}
VECTOR_DIGEST = "b5db5d66aa259840819fa6c443a67b360d68cac1b75526ccb1045e70d8f09a0a"
SMALL = Limits(files=3, file_bytes=2000, total_bytes=3000, ratio=200)


def test_a_sound_package_is_told_by_name_and_digest(project: Path, archive: Write, call: Caller) -> None:
    payload = published(VECTOR)
    path = archive(package(payload))
    before = snapshot(project.parent)
    done = call(project, "verify", str(path))
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "acme/shapes 1.0.0: sound",
        "  publisher: acme",
        "  name: shapes",
        "  version: 1.0.0",
        "  profile: rescorable",
        "  licence: Apache-2.0",
        f"  files: 3 ({4 + len(PUBLICATION)} bytes)",
        f"  content digest: {content_digest(payload)}",
    ]
    assert snapshot(project.parent) == before


def test_the_digest_is_that_of_the_contract() -> None:
    of_product = inventory.content_digest(file_digest(path, content) for path, content in VECTOR.items())
    assert (of_product, content_digest(VECTOR)) == (VECTOR_DIGEST, VECTOR_DIGEST)


def test_as_json(project: Path, archive: Write, call: Caller) -> None:
    origin = {"publisher": "other", "name": "forms", "version": "2.0.0", "content_digest": "0" * 64}
    payload = published(VECTOR, forked_from=origin)
    done = call(project, "verify", str(archive(package(payload, forked_from=origin))), "--json")
    assert done.code == 0
    told = json.loads(done.out)
    assert len(told.pop("archive_sha256")) == 64
    assert told == {
        "publisher": "acme",
        "name": "shapes",
        "version": "1.0.0",
        "profile": "rescorable",
        "licence": "Apache-2.0",
        "files": 3,
        "bytes": sum(map(len, payload.values())),
        "content_digest": content_digest(payload),
        "forked_from": origin,
    }


def test_it_needs_no_project(tmp_path: Path, archive: Write, call: Caller) -> None:
    assert call(tmp_path, "verify", str(archive(package()))).code == 0
    assert {path.name for path in tmp_path.iterdir()} == {NAME}


def test_the_content_decides_and_not_the_name(tmp_path: Path, archive: Write, call: Caller) -> None:
    other = archive(package()).rename(tmp_path / "download (1).zip")
    assert call(tmp_path, "verify", str(other)).code == 0


def test_order_folders_presentation_and_compression_change_no_digest(tmp_path: Path, archive: Write) -> None:
    members = [member(f"payload/{path}", content) for path, content in reversed(CASE.items())]
    folders = [member(f"{path}/", b"", b"5", mode=b"0000755\0") for path in ("payload", "presentation", "payload/d")]
    view = extended(("path", "presentation/" + "long-" * 30), ("mtime", "1.5")), member("presentation/cut", b"<h1>")
    content = b"".join([*folders, *view, *members, member("package.yml", record(CASE)), END, bytes(9216)])
    found = verify_package(archive(packed(content, 1)))
    plain = verify_package(archive(package()))
    assert found.record == plain.record
    assert found.record.content_digest == content_digest(CASE)
    assert (found.extra, plain.extra) == (1, 0)


def test_what_is_told_of_a_package_is_one_printable_line_each(project: Path, archive: Write, call: Caller) -> None:
    """The terminal obeys no text of a package; characters that turn a line around are shown as what they are."""
    done = call(project, "verify", str(archive(package(licence="MIT \u202etxt\u2066" + "x" * 150))))
    (line,) = [line for line in done.out.splitlines() if "licence" in line]
    assert line == "  licence: MIT \\u202etxt\\u2066" + "x" * 150
    assert all(line.isprintable() for line in done.out.splitlines())


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe"])
def test_what_is_no_file_is_misuse(kind: str, tmp_path: Path, call: Caller) -> None:
    path = tmp_path / "x.tamesu.tar.gz"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    said = {
        "missing": "cannot be read: No such file or directory; name the archive of a package",
        "folder": "is a folder that holds no entry.yml and payload/; name an archive, or the folder "
        "PUBLISHER/NAME/VERSION of a registry",
        "pipe": "is no regular file; name the archive of a package",
    }
    assert one_line(call(tmp_path, "verify", str(path)), 2) == f"{path}: {said[kind]}"


@pytest.mark.parametrize(
    ("members", "line"),
    [
        ([member("payload/a"), member("payload/b")], "'payload/b' is one file more than 3"),
        ([member(f"payload/{n}/", b"", b"5") for n in range(4)], "'payload/3/' is one folder more than 3"),
        ([member("payload/a", b"x" * 2001)], "'payload/a' is larger than 2000 bytes"),
        ([member("payload/a", os.urandom(2000))] * 2, "'payload/a' is there twice"),
        ([member("presentation/a", os.urandom(1999)), member("presentation/b", b"y" * 999)], "'presentation/b' is"),
    ],
)
def test_c49_counts_and_sizes_are_bounded(members: list[bytes], line: str, archive: Write) -> None:
    class Counting(Nobody):
        taken = 0

        def file(self, one: object) -> Callable[[bytes], object]:
            def take(piece: bytes) -> None:
                Counting.taken += len(piece)

            return take

    begun = tar(payload={"case.yml": b""}, end=b"")
    descriptor = os.open(archive(packed(b"".join([begun, *members, END]))), os.O_RDONLY)
    try:
        found = read_archive(descriptor, SMALL, Counting())
    finally:
        os.close(descriptor)
    assert str(found).startswith(line)
    assert Counting.taken <= SMALL.total_bytes


def test_c49_ten_thousand_files_are_read_and_the_next_is_refused(archive: Write) -> None:
    empty = [member(f"presentation/{number}") for number in range(9997)]
    content = tar(*empty, end=b"")
    path = archive(packed(content, 0))
    with pytest.raises(InvalidPackage, match="'presentation/9996' is one file more than 10000"):
        verify_package(path)


def test_an_archive_inside_is_a_file_like_any_other(archive: Write) -> None:
    inner = hostile(member("../../out", b"x"))
    payload = {**CASE, "inner.tar.gz": inner}
    assert {file.path for file in verify_package(archive(package(payload))).payload} == set(payload)


def test_kinds_are_all_that_a_header_may_begin() -> None:
    assert {kind.value for kind in Kind} == {"file", "folder", "extended"}
