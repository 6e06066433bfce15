"""C54: an index, the image of one platform inside of it, and a tag are three things; what runs is the declared one."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.cli.calling import Caller
from tests.cli.test_lock import DOCKERFILE, LOCK, allow_mutable, attempts, declare
from tests.fake_docker import FakeDocker
from tests.projects import EXPERIMENT, ShapesProject

TAG = "python:3"
INDEX, MOVED = "sha256:" + "1" * 64, "sha256:" + "2" * 64
AMD64, ARM64, NEW_AMD64 = "sha256:" + "a" * 64, "sha256:" + "b" * 64, "sha256:" + "c" * 64
CHILDREN = {"linux/amd64": AMD64, "linux/arm64": ARM64}


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeDocker:
    """An amd64 engine, and a registry whose tag stands for an index of two platforms."""
    made = FakeDocker.install(tmp_path / "docker", monkeypatch)
    made.runs("linux/amd64")
    for reference in (TAG, f"python@{INDEX}"):
        made.publishes_index(reference, CHILDREN)
        made.holds("remote", reference, "d", f"python@{INDEX}", platform="linux/amd64")
    made.publishes_image(f"python@{AMD64}", "linux/amd64")
    made.publishes_image(f"python@{ARM64}", "linux/arm64")
    return made


def move_tag(docker: FakeDocker) -> None:
    docker.publishes_index(TAG, {"linux/amd64": NEW_AMD64, "linux/arm64": ARM64})
    docker.publishes_index(f"python@{MOVED}", {"linux/amd64": NEW_AMD64, "linux/arm64": ARM64})
    docker.forget()
    docker.holds("remote", TAG, "e", f"python@{MOVED}", platform="linux/amd64")


def entries(project: ShapesProject) -> list[dict[str, str]]:
    return yaml.safe_load(project.path(LOCK).read_text())["images"]


class TestLock:
    def test_c54_it_records_index_platform_and_the_image_of_that_platform(
        self, shapes: ShapesProject, call: Caller, docker: FakeDocker
    ) -> None:
        declare(shapes, DOCKERFILE, f"FROM {TAG}\n")
        assert call(shapes, "lock").code == 0
        assert entries(shapes) == [
            {"reference": TAG, "locked": f"python@{INDEX}", "platform": "linux/amd64", "child": AMD64}
        ]
        before = shapes.path(LOCK).read_bytes()
        assert "nothing changed" in call(shapes, "lock").out
        assert shapes.path(LOCK).read_bytes() == before
        assert call(shapes, "lint").code == 0

    def test_c54_an_index_is_locked_rather_than_its_image(
        self, shapes: ShapesProject, call: Caller, docker: FakeDocker
    ) -> None:
        """An image that was pulled by both names has both, in any order."""
        declare(shapes, DOCKERFILE, "FROM python:both\n")
        other = "sha256:" + "0" * 64
        docker.publishes_image(f"python@{other}", "linux/amd64")
        docker.publishes_index(f"python@{INDEX}", {"linux/amd64": other})
        names = (f"python@{other}", f"python@{INDEX}")
        docker.holds("local", "python:both", "d", *names, platform="linux/amd64")
        assert call(shapes, "lock").code == 0
        assert entries(shapes) == [
            {"reference": "python:both", "locked": f"python@{INDEX}", "platform": "linux/amd64", "child": other}
        ]

    def test_c54_what_the_registry_does_not_tell_is_left_out(
        self, shapes: ShapesProject, call: Caller, docker: FakeDocker
    ) -> None:
        declare(shapes, DOCKERFILE, "FROM other:1\nFROM mine:1\n")
        docker.holds("local", "other:1", "d", f"other@{INDEX}", platform="linux/amd64")
        docker.holds("local", "mine:1", "e")
        assert call(shapes, "lock").code == 0
        assert entries(shapes) == [
            {"reference": "mine:1", "locked": "sha256:" + "e" * 64},
            {"reference": "other:1", "locked": f"other@{INDEX}", "platform": "linux/amd64"},
        ]

    def test_c54_a_tag_that_moved_is_a_change_that_plan_names(
        self, one_run: ShapesProject, call: Caller, docker: FakeDocker
    ) -> None:
        declare(one_run, DOCKERFILE, f"FROM {TAG}\n")
        allow_mutable(one_run)
        assert call(one_run, "run").code == 0
        assert attempts(one_run)[0]["images"] == {TAG: "sha256:" + "d" * 64}
        move_tag(docker)
        assert call(one_run, "plan").out.count("changed") == 0, "a plan reads files, and the lock is as it was"
        assert call(one_run, "lock").code == 0
        (view,) = [one_run.plan()]
        (found,) = view["found"]  # type: ignore[misc]
        cause = f"image {TAG} changed (was {INDEX} linux/amd64 {AMD64}, now {MOVED} linux/amd64 {NEW_AMD64})"
        assert cause in found["causes"]

    def test_c54_a_lock_of_another_platform_is_refused(
        self, one_run: ShapesProject, call: Caller, docker: FakeDocker
    ) -> None:
        """The same index, and yet another image: nothing is asked."""
        declare(one_run, DOCKERFILE, f"FROM {TAG}\n")
        assert call(one_run, "lock").code == 0
        docker.holds("local", TAG, "f", f"python@{INDEX}", platform="linux/arm64")
        done = call(one_run, "run")
        assert done.code == 1
        assert (
            f"Dockerfile: image '{TAG}' is of linux/arm64 here but was locked for linux/amd64; run it there" in done.err
        )
        assert one_run.calls() == []
        assert one_run.ledger() == []


class TestPinned:
    @pytest.mark.parametrize("place", ["local", "registry"])
    def test_c54_the_image_of_another_platform_is_refused_with_the_reason(
        self, place: str, one_run: ShapesProject, call: Caller, docker: FakeDocker
    ) -> None:
        declare(one_run, DOCKERFILE, f"FROM python@{ARM64}\n")
        if place == "local":
            docker.holds("local", f"python@{ARM64}", "f", f"python@{ARM64}", platform="linux/arm64")
        reason = (
            f"Dockerfile: image 'python@{ARM64}' is pinned to the image of linux/arm64 alone, and this engine runs "
            "linux/amd64; pin the digest of the index, or of its image for linux/amd64"
        )
        done = call(one_run, "run")
        assert done.code == 1
        assert len([line for line in done.err.splitlines() if reason in line]) == 1
        assert one_run.calls() == []
        assert one_run.ledger() == []
        checked = one_run.tamesu("preflight")
        assert checked.code == 1
        assert "is pinned to the image of linux/arm64 alone" in " ".join(checked.out.split())

    @pytest.mark.long
    @pytest.mark.parametrize("digest", [INDEX, AMD64, "sha256:" + "8" * 64], ids=["index", "own platform", "not known"])
    def test_c54_what_runs_here_or_is_not_known_runs(
        self, digest: str, one_run: ShapesProject, call: Caller, docker: FakeDocker
    ) -> None:
        declare(one_run, DOCKERFILE, f"FROM python@{digest}\n")
        assert call(one_run, "run").code == 0

    @pytest.mark.long
    @pytest.mark.parametrize(
        ("file", "text"),
        [
            ("Dockerfile", f"FROM --platform=linux/arm64 python@{ARM64}\n"),
            ("compose.yaml", f"services:\n  a:\n    image: python@{ARM64}\n    platform: linux/arm64\n"),
            ("compose.yaml", f"services: {{a: {{image: 'python@{ARM64}', platform: linux/arm64}}}}\n"),
        ],
    )
    def test_c54_a_platform_that_the_file_asks_for_is_meant(
        self, file: str, text: str, one_run: ShapesProject, call: Caller, docker: FakeDocker
    ) -> None:
        declare(one_run, EXPERIMENT / "inspect" / file, text)
        assert call(one_run, "run").code == 0


class TestTagBesideDigest:
    @pytest.mark.parametrize("place", ["local", "registry"])
    def test_c54_the_digest_wins_and_a_note_is_given(
        self, place: str, shapes: ShapesProject, call: Caller, docker: FakeDocker
    ) -> None:
        move_tag(docker)
        if place == "local":
            docker.holds("local", TAG, "e", f"python@{MOVED}", platform="linux/amd64")
        declare(shapes, DOCKERFILE, f"FROM {TAG}@{INDEX}\n")
        done = call(shapes, "lock")
        assert done.code == 0
        (note,) = [line for line in done.out.splitlines() if line.startswith("note: ")]
        assert note.startswith(f"note: image '{TAG}@{INDEX}': the tag {TAG} stands for sha256:")
        assert note.endswith(" now; the digest is what counts and runs")
        assert not shapes.path(LOCK).exists()

    @pytest.mark.parametrize("digest", [INDEX, AMD64], ids=["index", "image of the platform"])
    @pytest.mark.parametrize("place", ["local", "registry"])
    def test_c54_no_note_where_they_agree(
        self, place: str, digest: str, shapes: ShapesProject, call: Caller, docker: FakeDocker
    ) -> None:
        if place == "local":
            docker.holds("local", TAG, "d", f"python@{INDEX}", platform="linux/amd64")
        declare(shapes, DOCKERFILE, f"FROM {TAG}@{digest}\n")
        done = call(shapes, "lock")
        assert (done.code, done.err) == (0, "")
        assert "note: " not in done.out
