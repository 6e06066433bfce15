"""Whatever a file is called: what is private, hidden or unsafe passes no allow-list, and collisions are seen."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tamesu.base.canonical import digest_bytes
from tamesu.base.model.manifest import FileDigest
from tamesu.base.model.package import Profile
from tamesu.core.packages.allowlist import ships
from tamesu.core.packages.inventory import content_digest
from tamesu.core.packages.members import collisions
from tamesu.core.packages.scrub import scrubbed, without_homes

PROFILES = tuple(Profile)
SEGMENT = st.one_of(
    st.sampled_from(
        ["case.yml", "README.md", "experiments", "evals", "runs", "items", "prompts", "result.yml", "report.yml", "a"]
    ),
    st.text(max_size=12),
)
FOLDERS = st.lists(SEGMENT, max_size=8).map("/".join)
CASES = st.sampled_from([str.lower, str.upper, str.title, lambda text: unicodedata.normalize("NFD", text)])
EVAL = "experiments/e/evals/v"


def joined(*parts: str) -> str:
    return "/".join(part for part in parts if part)


def in_any(path: str) -> set[Profile]:
    return {profile for profile in PROFILES if ships(path, profile)}


@given(FOLDERS, FOLDERS, SEGMENT.filter(lambda text: "/" not in text), CASES)
@example("experiments/e/evals/v", "case.yml", "r", str.lower)
def test_what_is_private_to_a_run_never_ships(above: str, below: str, run: str, spelt: object) -> None:
    assert in_any(joined(above, "runs", run or "r", spelt("inspect"), below)) == set()  # type: ignore[operator]


@given(FOLDERS, st.text(max_size=10), CASES)
def test_logs_of_inspect_wire_texts_and_settings_never_ship(above: str, name: str, spelt: object) -> None:
    for file in (f"{name}.eval", "wire.jsonl", ".env", f".env.{name}"):
        assert in_any(joined(above, spelt(file))) == set()  # type: ignore[operator]


@given(FOLDERS, FOLDERS, st.text(max_size=10))
def test_what_is_hidden_never_ships(above: str, below: str, name: str) -> None:
    assert in_any(joined(above, f".{name}", below)) == set()


@given(st.one_of(FOLDERS, st.text(max_size=60)))
def test_what_ships_stays_in_its_folder_and_reads_the_same_everywhere(path: str) -> None:
    for _ in in_any(path):
        segments = path.split("/")
        assert all(segment not in ("", ".", "..") and segment[-1] not in ". " for segment in segments)
        assert not set(path) & set('\\<>:"|?*\n\r\0')
        assert unicodedata.is_normalized("NFC", path)


@given(FOLDERS)
def test_a_smaller_profile_holds_no_file_that_a_larger_one_leaves_out(path: str) -> None:
    held = in_any(path) - {Profile.FULL}
    assert not held or ships(path, Profile.FULL)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("case.yml", {"full", "rescorable", "report-only"}),
        ("README.md", {"full", "rescorable", "report-only"}),
        ("publication.yml", {"full", "rescorable"}),
        ("datasets/d/dataset.yml", {"full", "rescorable"}),
        ("datasets/d/assets/a.png", {"full", "rescorable"}),
        ("experiments/e/prompts/deep/a.md.j2", {"full", "rescorable", "report-only"}),
        ("experiments/e/schemas/out.json", {"full", "rescorable", "report-only"}),
        ("experiments/e/rubrics/a.yml", {"full", "rescorable"}),
        ("experiments/e/inspect/task.py", {"full", "rescorable"}),
        (f"{EVAL}/eval.yml", {"full", "rescorable", "report-only"}),
        (f"{EVAL}/analysis.md", {"full", "rescorable", "report-only"}),
        (f"{EVAL}/closing.yml", {"full", "rescorable"}),
        (f"{EVAL}/evaluation-report.md", {"full", "report-only"}),
        (f"{EVAL}/leaderboard.md", {"full", "report-only"}),
        (f"{EVAL}/tables/items.csv", {"full"}),
        (f"{EVAL}/ledger.jsonl", {"full", "rescorable"}),
        (f"{EVAL}/logs/r.jsonl", {"full", "rescorable"}),
        (f"{EVAL}/runs/r/run.yml", {"full", "rescorable", "report-only"}),
        (f"{EVAL}/runs/r/report.yml", {"full", "rescorable", "report-only"}),
        (f"{EVAL}/runs/r/attempts/01.yml", {"full", "rescorable"}),
        (f"{EVAL}/runs/r/items/i/result.yml", {"full", "rescorable", "report-only"}),
        (f"{EVAL}/runs/r/items/i/artifacts/README.md", {"full", "rescorable"}),
        (f"{EVAL}/runs/r/items/i/reviews/a.yml", {"full", "rescorable"}),
        (f"{EVAL}/runs/r/wire.jsonl", set()),
        (f"{EVAL}/runs/r/inspect/attempt-01.eval", set()),
        ("experiments/e/inspect/__pycache__/task.cpython-311.pyc", set()),
        ("datasets/d/old.eval", set()),
        ("view-only.yml", {"report-only"}),
        ("view-only.yml/x", {"full", "rescorable"}),
    ],
)
def test_a_profile_holds(path: str, expected: set[str]) -> None:
    assert {profile.value for profile in in_any(path)} == expected


def test_the_content_digest_is_that_of_the_specification() -> None:
    """The test vector of the format."""
    files = [
        FileDigest(name, digest_bytes(content), 2) for name, content in (("case.yml", b"a\n"), ("README.md", b"b\n"))
    ]
    expected = "b5db5d66aa259840819fa6c443a67b360d68cac1b75526ccb1045e70d8f09a0a"
    assert content_digest(files) == content_digest(files[::-1]) == expected


@given(st.lists(SEGMENT.filter(bool), max_size=6))
def test_c43_paths_without_collisions_are_distinct_without_case(names: list[str]) -> None:
    paths = [name.replace("/", "-") for name in names]
    apart = {unicodedata.normalize("NFC", path).casefold() for path in paths}
    assert bool(collisions(paths)) >= (len(apart) < len(paths))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"a": "/home/ada/x", "n": 1}', b'{"a":"~/x","n":1}'),
        (b'{"a": "in /Users/ada: gone"}', b'{"a":"in ~: gone"}'),
        (b'{"a": "C:\\\\Users\\\\ada\\\\x"}', b'{"a":"~\\\\x"}'),
        (b'{"a": "\\/home\\/ada\\/x"}', b'{"a":"~/x"}'),
        (b'{"a": "{\\"b\\": \\"/root/x\\"}"}', b'{"a":"{\\"b\\": \\"~/x\\"}"}'),
        (b'{"a":  "/homework/ada", "b": "x/home/ada", "c": "/rooted"}', None),
        (b'not json /home/ada/x \xff', b"not json ~/x \xff"),
        (b"", None),
    ],
)  # fmt: skip
def test_logs_are_packed_without_home_folders(line: bytes, expected: bytes | None) -> None:
    assert scrubbed(line) == (line if expected is None else expected)
    assert scrubbed(line + b"\n" + line + b"\n").count(b"\n") == 2


@given(st.text(alphabet="/homeUsrt adC:\\x\"'", max_size=40))
def test_taking_home_folders_out_twice_changes_nothing_more(text: str) -> None:
    once = without_homes(text)
    assert without_homes(once) == once or "~" in once
