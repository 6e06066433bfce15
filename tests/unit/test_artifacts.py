"""Entries of a staging manifest are refused one by one, each with a stable reason."""

from __future__ import annotations

import pytest

from tamesu.base.model.evidence import Artifact, RejectedArtifact, StagedEntry
from tamesu.base.model.manifest import ArtifactPolicy
from tamesu.core.artifacts import (
    MAX_ARTIFACTS,
    MalformedEntry,
    PathFault,
    is_media_type,
    judge_entries,
    missing_roles,
    normalise_path,
)

POLICY = ArtifactPolicy(required=("source", "log"), allowed=("extra",), review="render")


def entry(path: str = "a.txt", role: str = "source", media_type: str = "text/plain", blob: str = "blobs/0001"):
    return StagedEntry(role, path, media_type, blob)


def reasons(*entries: StagedEntry | MalformedEntry) -> list[str]:
    return [rejected.reason for rejected in judge_entries(entries, POLICY).rejected]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("render.png", "render.png"),
        ("source/main.c", "source/main.c"),
        ("./a//b/./c", "a/b/c"),
        (".hidden", ".hidden"),
        ("..almost", "..almost"),
        ("naïve/日本.txt", "naïve/日本.txt"),
        ("console.txt", "console.txt"),
        ("com10", "com10"),
        ("with space.txt", "with space.txt"),
        ("a" * 255, "a" * 255),
        ("/".join(["a"] * 32), "/".join(["a"] * 32)),
    ],
)
def test_paths_that_every_file_system_holds_are_kept(path, expected):
    assert expected == normalise_path(path)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "empty_path"),
        (".", "empty_path"),
        ("/etc/passwd", "absolute_path"),
        ("//host/share", "absolute_path"),
        ("C:evil", "absolute_path"),
        ("c:/evil", "absolute_path"),
        ("..", "traversing_path"),
        ("a/../../b", "traversing_path"),
        ("a/..", "traversing_path"),
        ("./../b", "traversing_path"),
        ("a\\b", "backslash"),
        ("..\\b", "backslash"),
        ("a\0b", "control_character"),
        ("a\nb", "control_character"),
        ("a\x7fb", "control_character"),
        ("a\u202egnp.exe", "control_character"),
        ("a\u2028b", "control_character"),
        ("a\ud800b", "control_character"),
        ("a.", "reserved_name"),
        ("a /b", "reserved_name"),
        ("...", "reserved_name"),
        ("CON", "reserved_name"),
        ("x/nul.txt", "reserved_name"),
        ("lpt1.tar.gz", "reserved_name"),
        ("aux .txt", "reserved_name"),
        ("a.txt:stream", "reserved_name"),
        ("a?", "reserved_name"),
        (".git/config", "reserved_name"),
        ("x/.GIT/hooks/y", "reserved_name"),
        ("a" * 256, "path_too_long"),
        ("é" * 128, "path_too_long"),
        ("/".join(["a" * 200] * 6), "path_too_long"),
        ("/".join(["é" * 100] * 6), "path_too_long"),
        ("/".join(["a"] * 33), "path_too_long"),
        ("x" * 5_000_000, "path_too_long"),
        ("e\u0301.txt", "not_normalised"),
        ("a/", "not_normalised"),
    ],
)
def test_other_paths_are_refused_with_a_reason(path, reason):
    assert PathFault(reason) == normalise_path(path)


def test_accepted_entries_keep_their_order_and_get_the_normal_path():
    judged = judge_entries([entry("./b"), entry("a", role="render", media_type="image/png")], POLICY)
    assert (entry("b"), entry("a", role="render", media_type="image/png")) == judged.accepted
    assert judged.rejected == ()


def test_several_artifacts_may_share_a_role():
    assert len(judge_entries([entry("a"), entry("b")], POLICY).accepted) == 2


def test_required_allowed_and_review_roles_are_declared_and_others_are_not():
    assert reasons(entry("a"), entry("b", role="extra"), entry("c", role="render")) == []
    assert reasons(entry("a", role=""), entry("b", role="Source")) == ["undeclared_role", "undeclared_role"]


@pytest.mark.parametrize(
    "text",
    ["text/plain", "image/svg+xml", "text/plain; charset=utf-8", 'a/b;c="d e";f=g', "application/vnd.ms-x"],
)
def test_media_types_are_tokens_with_optional_parameters(text):
    assert is_media_type(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "png",
        "image/",
        "/png",
        "image/png\n",
        "image /png",
        "a/b;",
        "a/b;c",
        "a/b/c",
        "tëxt/plain",
        "a/" + "b" * 300,
    ],
)
def test_other_media_types_are_refused(text):
    assert reasons(entry(media_type=text)) == ["bad_media_type"]


@pytest.mark.parametrize("blob", ["", "0001", "blobs/1", "blobs/../0001", "/blobs/0001", "blobs/0001\n", "blobs/٠٠٠١"])
def test_blobs_of_other_names_are_outside_staging(blob):
    assert reasons(entry(blob=blob)) == ["outside_staging"]


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ("a.txt", "a.txt", "duplicate_path"),
        ("a.txt", "./a.txt", "duplicate_path"),
        ("a.txt", "A.TXT", "duplicate_path"),
        ("straße", "STRASSE", "duplicate_path"),
        ("a", "a/b", "path_conflict"),
        ("a/b/c", "A", "path_conflict"),
        ("a/b/c", "a/B", "path_conflict"),
    ],
)
def test_of_two_colliding_paths_the_first_is_kept(first, second, reason):
    judged = judge_entries([entry(first), entry(second)], POLICY)
    assert [first] == [kept.path for kept in judged.accepted]
    assert [reason] == [rejected.reason for rejected in judged.rejected]


def test_a_refused_entry_does_not_occupy_its_path():
    judged = judge_entries([entry("a", role="nobody"), entry("a")], POLICY)
    assert (entry("a"),) == judged.accepted


def test_artifacts_beyond_the_bound_are_refused():
    judged = judge_entries([entry(f"{number}") for number in range(MAX_ARTIFACTS + 3)], POLICY)
    assert len(judged.accepted) == MAX_ARTIFACTS
    assert [rejected.reason for rejected in judged.rejected] == ["too_many_artifacts"] * 3


def test_malformed_entries_are_refused_by_their_place():
    judged = judge_entries([MalformedEntry("manifest.jsonl:3", "malformed_manifest")], POLICY)
    assert (RejectedArtifact("", "manifest.jsonl:3", "malformed_manifest"),) == judged.rejected


def test_what_is_recorded_of_a_refused_entry_can_be_shown_and_stored():
    rejected = judge_entries([entry("\x1b[31m\ud800" + "x" * 9000, role="r\n")], POLICY).rejected[0]
    assert rejected.path.isprintable()
    assert len(rejected.path) < 250
    assert rejected.path.startswith("\\x1b[31m\\ud800xxx")
    assert rejected.role == "r\\n"


def test_missing_roles_are_the_required_ones_that_nothing_carries():
    present = [Artifact("log", "artifacts/a", "0" * 64, 1, "text/plain")]
    assert missing_roles(POLICY, present) == ("source",)
    assert missing_roles(POLICY, []) == ("source", "log")
