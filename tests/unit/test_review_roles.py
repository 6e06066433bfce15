"""Review of any role: each artifact is judged as what its media type says, and all roles together make the outcome."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tamesu.base.model.evidence import Artifact, Outcome, OutputFile, ReviewedFile
from tamesu.base.model.manifest import ArtifactPolicy
from tamesu.core.artifacts import missing_roles
from tamesu.core.identity import ScoringInputs, scoring_map
from tamesu.core.media import MAX_TEXT_BYTES, container_of, kind_of, review_fault
from tamesu.core.outcome import review_outcome


def png() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (4, 3)).save(buffer, "PNG")
    return buffer.getvalue()


SOUNDS = {
    "wav": b"RIFF\x24\0\0\0WAVEfmt ",
    "mp3": b"ID3\x04\0\0\0\0\0\0",
    "mp3 without tag": b"\xff\xfb\x90\x00" + b"\0" * 20,
    "ogg": b"OggS\0\x02" + b"\0" * 20,
    "flac": b"fLaC\0\0\0\x22",
    "mp4": b"\0\0\0\x20ftypisom" + b"\0" * 20,
    "webm": b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm",
}


@pytest.mark.parametrize(
    ("media_type", "kind"),
    [
        ("text/plain", "text"),
        ("text/x-c; charset=utf-8", "text"),
        ("application/json", "text"),
        ("application/geo+json", "text"),
        ("Image/PNG", "image"),
        ("image/svg+xml", "image"),
        ("audio/wav", "audio"),
        ("video/webm", "video"),
        ("application/octet-stream", None),
        ("application/zip", None),
        ("font/woff2", None),
        ("", None),
    ],
)
def test_the_media_type_tells_the_kind(media_type: str, kind: str | None) -> None:
    assert kind_of(media_type) == kind


@pytest.mark.parametrize(
    ("sound", "media_type"),
    [
        ("wav", "audio/wav"),
        ("wav", "audio/x-wav"),
        ("mp3", "audio/mpeg"),
        ("mp3 without tag", "audio/mp3"),
        ("ogg", "audio/ogg"),
        ("ogg", "audio/opus"),
        ("ogg", "video/ogg"),
        ("flac", "audio/flac"),
        ("mp4", "audio/mp4"),
        ("mp4", "video/mp4; codecs=avc1"),
        ("webm", "audio/webm"),
        ("webm", "video/webm"),
    ],
)
def test_sound_and_film_are_known_by_their_container(sound: str, media_type: str) -> None:
    assert container_of(SOUNDS[sound]) == sound.split()[0]
    assert review_fault(SOUNDS[sound], media_type) is None


@pytest.mark.parametrize(
    ("content", "media_type", "reason"),
    [
        (b"caf\xe9", "text/plain", "undecodable_text"),
        (b"a\0b", "text/plain", "undecodable_text"),
        (b"\xff\xfea\0", "application/json", "undecodable_text"),
        (b"a" * (MAX_TEXT_BYTES + 1), "text/plain", "text_too_large"),
        (b"", "image/png", "undecodable_image"),
        (b"<svg/>", "image/svg+xml", "undecodable_image"),
        (b"", "audio/wav", "review_artifact_not_audio"),
        (b"#!/bin/sh\n", "audio/mpeg", "review_artifact_not_audio"),
        (b"\xff\xff\xff\xff", "audio/mpeg", "review_artifact_not_audio"),
        (png(), "video/mp4", "review_artifact_not_video"),
        (SOUNDS["wav"], "video/mp4", "review_artifact_not_video"),
        (SOUNDS["wav"], "audio/mpeg", "media_type_mismatch"),
        (SOUNDS["webm"], "video/mp4", "media_type_mismatch"),
        (SOUNDS["ogg"], "audio/midi", "media_type_mismatch"),
        (b"PK\x03\x04", "application/zip", "review_artifact_not_showable"),
    ],
)
def test_what_is_not_fit_says_why(content: bytes, media_type: str, reason: str) -> None:
    assert review_fault(content, media_type) == reason


@pytest.mark.parametrize("content", [b"", b"text", "\ufeffcaf\u00e9\r\n".encode(), b"a" * MAX_TEXT_BYTES])
def test_text_is_utf_8_within_bounds(content: bytes) -> None:
    assert review_fault(content, "text/plain") is None


@given(
    content=st.one_of(
        st.binary(max_size=80),
        st.sampled_from(sorted(SOUNDS.values())).flatmap(
            lambda head: st.binary(max_size=40).map(lambda rest: head + rest)
        ),
    ),
    media_type=st.one_of(
        st.text(max_size=30),
        st.sampled_from(["text/plain", "image/png", "audio/wav", "audio/mpeg", "video/mp4", "video/webm"]),
    ),
)
def test_hostile_bytes_are_fit_or_refused_by_a_word(content: bytes, media_type: str) -> None:
    fault = review_fault(content, media_type)
    assert fault is None or fault.replace("_", "").isalpha()
    if fault is None and kind_of(media_type) in {"audio", "video"}:
        assert container_of(content) is not None
    if fault is None and kind_of(media_type) == "text":
        assert "\0" not in content.decode()


FILES = {
    "answer": Artifact("answer", "artifacts/a.txt", "1" * 64, 5, "text/plain"),
    "speech": Artifact("speech", "artifacts/s.wav", "2" * 64, 16, "audio/wav"),
    "render": Artifact("render", "artifacts/r.png", "3" * 64, len(png()), "image/png"),
}
CONTENTS = {"artifacts/a.txt": b"hello", "artifacts/s.wav": SOUNDS["wav"], "artifacts/r.png": png()}
THREE = ArtifactPolicy(required=("answer",), allowed=("speech",), review=("answer", "speech", "render"))


def content_of(artifact: Artifact) -> bytes:
    return CONTENTS[artifact.path]


def reviewed(role: str, reason: str | None = None) -> ReviewedFile:
    one = FILES[role]
    return ReviewedFile(role, one.path, one.sha256, one.size, reason)


class TestSeveralRoles:
    def test_each_present_and_fit_is_generated(self) -> None:
        made = review_outcome(THREE, list(FILES.values()), content_of)
        assert made.outcome == Outcome("generated")
        assert made.output == (reviewed("answer"), reviewed("speech"), reviewed("render"))

    def test_the_order_is_that_of_the_manifest(self) -> None:
        policy = replace(THREE, review=("render", "answer"))
        made = review_outcome(policy, list(FILES.values()), content_of)
        assert made.output == (reviewed("render"), reviewed("answer"))

    @pytest.mark.parametrize("role", FILES)
    def test_one_that_is_missing_is_invalid_and_the_others_stay(self, role: str) -> None:
        made = review_outcome(THREE, [one for name, one in FILES.items() if name != role], content_of)
        assert made.outcome == Outcome("invalid_artifact", "missing_review_artifact")
        assert made.output == tuple(reviewed(name) for name in FILES if name != role)

    def test_several_of_one_role_are_none(self) -> None:
        twice = replace(FILES["answer"], path="artifacts/b.txt")
        made = review_outcome(THREE, [*FILES.values(), twice], content_of)
        assert made.outcome == Outcome("invalid_artifact", "several_review_artifacts")
        assert made.output == (reviewed("speech"), reviewed("render"))

    def test_each_file_keeps_its_own_reason_and_the_item_the_first(self) -> None:
        broken = {**CONTENTS, "artifacts/s.wav": b"no sound", "artifacts/r.png": b"no picture"}
        made = review_outcome(THREE, list(FILES.values()), lambda one: broken[one.path])
        assert made.outcome == Outcome("invalid_artifact", "review_artifact_not_audio")
        assert made.output == (
            reviewed("answer"),
            reviewed("speech", "review_artifact_not_audio"),
            reviewed("render", "undecodable_image"),
        )

    def test_nothing_at_all_has_no_output(self) -> None:
        made = review_outcome(THREE, [], lambda _: pytest.fail("was read"))
        assert (made.outcome.reason, made.output) == ("missing_review_artifact", None)

    def test_a_file_over_the_bound_is_not_read(self) -> None:
        policy = replace(THREE, review=("answer",), max_bytes=4)
        made = review_outcome(policy, list(FILES.values()), lambda _: pytest.fail("was read"))
        assert made.outcome == Outcome("invalid_artifact", "too_large")

    def test_a_role_that_is_only_reviewed_is_declared_by_that(self) -> None:
        assert THREE.roles == {"answer", "speech", "render"}
        assert missing_roles(THREE, ()) == ("answer",)


class TestOneRole:
    def test_by_its_name_it_is_a_picture(self) -> None:
        made = review_outcome(replace(THREE, review="answer"), list(FILES.values()), content_of)
        assert made.outcome == Outcome("invalid_artifact", "review_artifact_not_an_image")

    def test_in_a_list_it_is_of_any_kind_and_its_output_keeps_the_shape_of_one(self) -> None:
        made = review_outcome(replace(THREE, review=("answer",)), list(FILES.values()), content_of)
        one = FILES["answer"]
        assert made.outcome == Outcome("generated")
        assert made.output == OutputFile(one.path, one.sha256, one.size)


def scored(review: str | tuple[str, ...] | None) -> object:
    policy = ArtifactPolicy(review=review)
    return scoring_map(ScoringInputs(scorers=(), artifacts=policy, sources=(), images=()))["artifacts/review"]


def test_identity_keeps_one_name_as_it_was_and_tells_a_list_from_it() -> None:
    assert scored(None) is None
    assert scored("render") == "render"
    assert scored(("render",)) == ["render"]
    assert scored(("render", "answer")) == scored(("answer", "render")) == ["answer", "render"]
