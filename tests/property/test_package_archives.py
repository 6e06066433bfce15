"""Archives of any members and any bytes: what is accepted extracts to its inventory, what is refused writes nothing."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tamesu.base.errors import InvalidPackage
from tamesu.edge.packages import extraction
from tamesu.edge.store.paths import Project
from tamesu.stages.unpack import unpack_package, verify_package
from tests.packages.archives import END, NAME, content_digest, extended, member, package, packed, record
from tests.packages.snapshots import snapshot

odd_parts = st.sampled_from(
    ["A", "e\u0301", "..", ".", "", "NUL", "x.", ".env", "ﬁ", "fi", "a\\b", "c:", "ß"]
) | st.text(st.characters(codec="utf-8"), max_size=4)
contents = st.binary(max_size=700)
harmless = st.tuples(
    st.lists(st.sampled_from(["a", "b", "c", "d e", "é", "ǆ"]), min_size=1, max_size=3).map(
        lambda parts: "/".join(["payload", *parts])
    ),
    contents,
    st.sampled_from([b"0", b"0", b"0", b"5"]),
)
odd = st.tuples(
    st.builds(
        lambda top, below: "/".join([top, *below]),
        st.sampled_from(["payload", "payload", "presentation", "", "..", "Payload"]),
        st.lists(odd_parts, min_size=1, max_size=3),
    ),
    contents,
    st.sampled_from([b"0", b"0", b"0", b"5", b"1", b"2", b"\0", b"S"]),
)
with_an_odd_one = st.tuples(st.lists(harmless, max_size=3), odd).map(lambda two: [*two[0], two[1]])
lists = st.lists(harmless, max_size=4) | with_an_odd_one


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extraction.os, "sync", lambda: None)


@contextmanager
def project_with(content: bytes) -> Iterator[tuple[Project, Path]]:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "project"
        (root / "cases").mkdir(parents=True)
        archive = Path(name) / NAME
        archive.write_bytes(content)
        yield Project(root), archive


def encoded(path: str, content: bytes, kind: bytes) -> bytes:
    body = b"" if kind == b"5" else content
    name = path.encode()
    return member(name, body, kind) if len(name) <= 100 else extended(("path", path)) + member("long", body, kind)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lists)
@example([("payload/d/a", b"x", b"0"), ("payload/d", b"", b"5"), ("payload/e/", b"", b"5")])
@example([("payload/d/a", b"x", b"0"), ("payload/D/b", b"", b"0")])
def test_any_list_of_members(members: list[tuple[str, bytes, bytes]]) -> None:
    members = [("payload/case.yml", b"name: a\n", b"0"), *members]
    payload = {
        path.removeprefix("payload/"): body for path, body, kind in members if kind == b"0" and "payload" in path
    }
    payload = {path: body for path, body in payload.items() if f"payload/{path}" in [one[0] for one in members]}
    try:
        manifest = record(payload)
    except UnicodeEncodeError:
        manifest = record({})
    archive = b"".join([member("package.yml", manifest), *(encoded(*one) for one in members), END])
    with project_with(packed(archive, 1)) as (project, path):
        before = snapshot(project.root.parent)
        try:
            done = unpack_package(project, path, None)
        except InvalidPackage as error:
            assert str(error).isprintable()
            assert snapshot(project.root.parent) == before
            with pytest.raises(InvalidPackage):
                verify_package(path)
            return
        case = project.case("shapes")
        found = {file.relative_to(case).as_posix(): file for file in case.rglob("*") if file.is_file()}
        marker = found.pop(".untrusted-origin")
        assert {name: file.read_bytes() for name, file in found.items()} == payload
        assert done.record.content_digest == content_digest(payload)
        assert done.record.content_digest in marker.read_text()
        assert not any(file.is_symlink() for file in case.rglob("*"))
        assert {file.name for file in project.case("x").parent.iterdir()} == {"shapes"}


SOUND = package({"case.yml": b"name: a\n", "d/noise": os.urandom(3000)})


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(SOUND) - 1), st.integers(1, 255)), min_size=1, max_size=4))
def test_any_change_of_bytes_is_refused_or_changes_nothing(changes: list[tuple[int, int]]) -> None:
    """What gzip says of time, system and name is no content; every other byte is guarded."""
    content = bytearray(SOUND)
    for at, difference in changes:
        content[at] ^= difference
    with project_with(bytes(content)) as (_, path):
        try:
            found = verify_package(path)
        except InvalidPackage as error:
            assert str(error).isprintable()
            return
    with project_with(SOUND) as (_, path):
        sound = verify_package(path)
    assert (found.record, found.payload) == (sound.record, sound.payload)
    assert found.archive_sha256 == hashlib.sha256(content).hexdigest()


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=3000))
def test_any_bytes_as_a_tar_end_in_one_line(content: bytes) -> None:
    with project_with(packed(content, 1)) as (_, path), pytest.raises(InvalidPackage) as caught:
        verify_package(path)
    assert str(caught.value).isprintable()
