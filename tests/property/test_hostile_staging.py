"""Whatever lies in a staging area: nothing leaves the item, nothing raises, every entry is decided."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from tamesu.base.model.evidence import StagedEntry
from tamesu.base.model.manifest import ArtifactPolicy
from tamesu.core import artifacts as rules
from tamesu.edge.store import staging
from tamesu.edge.store.staging import Collected, collect, read_kept, read_staging

POLICY = ArtifactPolicy(required=("source",), allowed=("log",), review="render", max_bytes=64)
SECRET = b"the secret outside of the staging area"
BASE = "{base}"  # stands for the folder of the example, in paths that aim at it
FIELDS = ("role", "path", "media_type", "blob")


@dataclass(frozen=True)
class World:
    """A staging area: manifest lines (with their line ends), blobs by number and kind, special layout."""

    lines: tuple[bytes, ...]
    blobs: Mapping[int, str] = field(default_factory=dict)
    manifest: str = "file"
    blobs_folder: str = "folder"
    earlier: str = "nothing"


def good_line(path: str, blob: str = "blobs/0001") -> bytes:
    return json.dumps(dict(zip(FIELDS, ("source", path, "text/plain", blob), strict=True))).encode() + b"\n"


paths = st.one_of(
    st.sampled_from(
        [
            "a.txt",
            "A.TXT",
            "a.txt/b",
            "dir/a",
            "dir/A",
            "DIR",
            "dir/../../x",
            "../x",
            "../../result.yml",
            "..",
            "../.artifacts.old",
            "../artifacts",
            "../../../secret.txt",
            "/",
            f"{BASE}/evil",
            f"{BASE}/run/items/two/result.yml",
            "\\evil",
            "..\\evil",
            "C:\\evil",
            "C:evil",
            "nul",
            "a\0b",
            "a\nb",
            "",
            ".",
            "./a.txt",
            "a//b",
            "a/",
            "e\u0301",
            "\u00e9",
            "x" * 255,
            "x" * 256,
            "/".join(["d"] * 300),
            "/".join(["d"] * 30),
            "~/x",
            "-rf",
            ".git/config",
            "\u202egnp.exe",
            "\ud800",
            "link/x",
        ]
    ),
    st.text(max_size=12),
    st.lists(st.sampled_from(["a", "b", "..", ".", "", "A"]), max_size=5).map("/".join),
)
blob_names = st.one_of(
    st.integers(0, 9).map("blobs/{:04d}".format),
    st.integers(0, 9).map("blobs/{:04d}".format),
    st.sampled_from(
        [
            "../../secret.txt",
            "blobs/../../../secret.txt",
            f"{BASE}/secret.txt",
            "blobs",
            "manifest.jsonl",
            "",
            "blobs/",
            "blobs/0001/0001",
            "blobs/0001\0",
            "blobs/0001\n",
            "/etc/passwd",
            "blobs\\0001",
            "two/blobs/0001",
        ]
    ),
    st.text(max_size=8),
)
roles = st.one_of(st.sampled_from(["source", "log", "render", "other", ""]), st.text(max_size=4))
media_types = st.one_of(st.sampled_from(["text/plain", "image/png", "text", "text/plain\n"]), st.text(max_size=6))
entry_lines = st.builds(
    lambda *values: json.dumps(dict(zip(FIELDS, values, strict=True))).encode() + b"\n",
    roles, paths, media_types, blob_names,
)  # fmt: skip
usual_paths = st.sampled_from(["a.txt", "b", "dir/a", "dir/b", "dir/more/c", "A.TXT", "b/c", "DIR/a", "d e.png"])
usual_lines = st.builds(good_line, usual_paths, st.integers(0, 9).map("blobs/{:04d}".format))
plain_lines = st.builds(good_line, paths, blob_names)
raw_lines = st.one_of(
    st.binary(max_size=30),
    st.binary(max_size=30).map(lambda raw: raw + b"\n"),
    st.sampled_from([b"\n", b"{}\n", b"null\n", b"[[]]\n", b"\r\n", b"{", b"[" * 5000 + b"\n", b"NaN\n", b"1e999\n"]),
    st.dictionaries(st.sampled_from([*FIELDS, "more"]), st.one_of(st.none(), st.integers(), st.text(max_size=3))).map(
        lambda value: json.dumps(value).encode() + b"\n"
    ),
)
crowds = st.sampled_from([0, 0, 0, 0, 0, 0, 0, 0, 0, 205]).map(
    lambda count: [good_line(f"crowd/{number}", f"blobs/{number % 10:04d}") for number in range(count)]
)
blob_kinds = st.sampled_from(
    [
        "file",
        "file",
        "file",
        "empty",
        "limit",
        "huge",
        "symlink",
        "relative-link",
        "hard-link",
        "fifo",
        "folder",
        "loop",
    ]
)
worlds = st.builds(
    lambda lines, crowd, blobs, manifest, folder, earlier: World((*lines, *crowd), blobs, manifest, folder, earlier),
    st.lists(st.one_of(usual_lines, usual_lines, plain_lines, entry_lines, raw_lines), min_size=1, max_size=12),
    crowds,
    st.lists(blob_kinds, min_size=6, max_size=10).map(lambda kinds: dict(enumerate(kinds))),
    st.sampled_from(["file"] * 20 + ["symlink", "hard-link", "fifo", "folder"]),
    st.sampled_from(["folder"] * 20 + ["link", "file", "absent"]),
    st.sampled_from(["nothing", "artifacts", "artifacts-link", "fresh-link", "interrupted"]),
)


def build(base: Path, world: World) -> None:
    area = base / "staging" / "one"
    area.mkdir(parents=True)
    for other in ("staging/two/blobs", "run/items/one", "run/items/two"):
        (base / other).mkdir(parents=True)
    (base / "secret.txt").write_bytes(SECRET)
    (base / "staging/two/blobs/0001").write_bytes(SECRET)
    (base / "run/items/one/result.yml").write_bytes(b"mine")
    (base / "run/items/two/result.yml").write_bytes(b"theirs")
    build_blobs(base, area, world)
    content = b"".join(world.lines).replace(BASE.encode(), str(base).encode())
    (base / "manifest").write_bytes(content)
    place(area / "manifest.jsonl", world.manifest, base / "manifest", content)
    build_earlier(base, world.earlier)


def build_blobs(base: Path, area: Path, world: World) -> None:
    blobs = area / "blobs"
    if world.blobs_folder == "link":
        blobs.symlink_to(base / "staging/two/blobs")
    elif world.blobs_folder == "file":
        blobs.touch()
    elif world.blobs_folder == "folder":
        blobs.mkdir()
        (blobs / "link").symlink_to(base)
        for number, kind in world.blobs.items():
            place(blobs / f"{number:04d}", kind, base / "secret.txt", b"content")


def place(path: Path, kind: str, target: Path, content: bytes) -> None:
    contents = {"file": content, "empty": b"", "limit": b"x" * POLICY.max_bytes, "huge": b"x" * 10_000}
    if kind in contents:
        path.write_bytes(contents[kind])
    elif kind == "hard-link":
        os.link(target, path)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to({"relative-link": os.path.relpath(target, path.parent), "loop": path}.get(kind, target))


def build_earlier(base: Path, earlier: str) -> None:
    item = base / "run/items/one"
    if earlier == "artifacts":
        (item / "artifacts/dir").mkdir(parents=True)
        (item / "artifacts/dir/a").write_bytes(b"old")
    elif earlier == "artifacts-link":
        (item / "artifacts").symlink_to(base / "run/items/two")
    elif earlier == "fresh-link":
        (item / ".artifacts.new").symlink_to(base / "run/items/two")
    elif earlier == "interrupted":
        (item / ".artifacts.old").mkdir()
        (item / ".artifacts.new/dir").mkdir(parents=True)
        (item / ".artifacts.new/dir/a").write_bytes(b"half")


def snapshot(base: Path) -> dict[str, tuple[int, bytes | str]]:
    """Everything but the one folder that may be written: kind and mode, content or target."""
    found: dict[str, tuple[int, bytes | str]] = {}
    for folder, folders, files in os.walk(base):
        for name in (*folders, *files):
            path = Path(folder) / name
            mode = path.lstat().st_mode
            content = b""
            if stat.S_ISREG(mode):
                content = path.read_bytes()
            elif stat.S_ISLNK(mode):
                found[str(path)] = (mode, str(path.readlink()))
                continue
            found[str(path)] = (mode, content)
    item = str(base / "run/items/one/")
    own = tuple(f"{item}/{name}" for name in ("artifacts", ".artifacts.old", ".artifacts.new"))
    return {path: value for path, value in found.items() if not path.startswith(own)}


def check(base: Path, world: World) -> Collected:
    """The property, for one world; raises AssertionError where it does not hold."""
    build(base, world)
    before = snapshot(base)
    entries = read_staging(base / "staging", "one")
    collected = collect(base / "staging", "one", base / "run/items/one", POLICY)
    assert before == snapshot(base), "something outside of the item's artifacts changed"
    if world.manifest == "file":
        content = b"".join(world.lines)
        lines = content.count(b"\n") + (not content.endswith(b"\n") and content != b"")
        assert lines == len(entries), "a line of the manifest is lost"
    assert len(entries) == len(collected.artifacts) + len(collected.rejected), "an entry is lost"
    assert all(rejected.reason and rejected.path.isprintable() for rejected in collected.rejected)
    item = base / "run/items/one"
    assert {"result.yml"} >= {path.name for path in item.iterdir()} - {"artifacts"}, "something is left over"
    check_files(item, collected)
    return collected


def check_files(item: Path, collected: Collected) -> None:
    assert len(collected.artifacts) <= rules.MAX_ARTIFACTS
    present = {path.relative_to(item).as_posix() for path in (item / "artifacts").rglob("*") if not path.is_dir()}
    assert present == {artifact.path for artifact in collected.artifacts}, "files and artifacts differ"
    for artifact in collected.artifacts:
        path = item / artifact.path
        content = path.read_bytes()
        assert stat.S_ISREG(path.lstat().st_mode)
        assert artifact.role in POLICY.roles
        assert content != SECRET, "a file outside of the staging area was taken"
        assert (artifact.sha256, artifact.size) == (hashlib.sha256(content).hexdigest(), len(content))
        assert artifact.size <= POLICY.max_bytes
    folded = [artifact.path.casefold() for artifact in collected.artifacts]
    assert len(folded) == len(set(folded)), "two artifacts share a path"


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(worlds)
def test_a_hostile_staging_area_is_contained(world):
    with tempfile.TemporaryDirectory() as folder:
        collected = check(Path(folder), world)
    event("something accepted" if collected.artifacts else "nothing accepted")
    for rejected in collected.rejected:
        event(rejected.reason)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(worlds, st.sampled_from(["file"] * 6 + ["symlink", "hard-link", "fifo", "folder", "loop"]), st.data())
def test_whatever_a_list_of_what_was_kept_holds_nothing_beside_it_counts(world, kind, data):
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        build(base, world)
        chosen = [line for line in world.lines if data.draw(st.booleans())]
        place(base / "staging/one/kept.jsonl", kind, base / "secret.txt", b"".join(chosen))
        entries, reply = read_staging(base / "staging", "one"), read_kept(base / "staging", "one")
        assert reply == frozenset() or kind == "file"
        collected = collect(base / "staging", "one", base / "run/items/one", POLICY, reply)
        check_files(base / "run/items/one", collected)
    alone = [entry for entry in entries if isinstance(entry, StagedEntry) and entry in reply]
    accepted = {(entry.role, f"artifacts/{entry.path}") for entry in rules.judge_entries(alone, POLICY).accepted}
    assert accepted >= {(artifact.role, artifact.path) for artifact in collected.artifacts}
    assert len(entries) == len(collected.artifacts) + len(collected.rejected), "an entry is lost"
    event("something accepted" if collected.artifacts else "nothing accepted")


ESCAPES = {
    "writes": World((good_line("../../two/evil"),), {1: "file"}),
    "reads": World((good_line("a.txt", "../two/blobs/0001"),), {1: "file"}),
}


def without_text_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "normalise_path", lambda path: path)
    monkeypatch.setattr(rules, "is_blob_name", lambda blob: True)


def without_containment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "contained", lambda base, relative: True)


@pytest.mark.parametrize("world", ESCAPES.values(), ids=ESCAPES)
@pytest.mark.parametrize("remove", [None, without_text_checks, without_containment])
def test_either_line_of_defence_contains_an_escape_alone(tmp_path, monkeypatch, world, remove):
    if remove is not None:
        remove(monkeypatch)
    assert check(tmp_path, world).artifacts == ()


@pytest.mark.parametrize("world", ESCAPES.values(), ids=ESCAPES)
def test_without_the_checks_the_property_sees_the_escape(tmp_path, monkeypatch, world):
    without_text_checks(monkeypatch)
    without_containment(monkeypatch)
    with pytest.raises(AssertionError, match="outside of the"):
        check(tmp_path, world)


def test_without_the_link_check_the_property_sees_the_leak(tmp_path, monkeypatch):
    monkeypatch.setattr(staging, "_READ", staging._READ & ~os.O_NOFOLLOW)
    with pytest.raises(AssertionError, match="was taken"):
        check(tmp_path, World((good_line("a.txt"),), {1: "symlink"}))
