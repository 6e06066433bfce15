"""`tamesu lock`, and what the lock of an image means for plan and run; Docker is a script."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.cli.calling import Caller, one_line
from tests.fake_docker import FakeDocker, without_docker
from tests.projects import EXPERIMENT, ShapesProject

DOCKERFILE = EXPERIMENT / "inspect/Dockerfile"
COMPOSE = EXPERIMENT / "inspect/compose.yaml"
LOCK = EXPERIMENT / "inspect/Dockerfile.lock.yml"
REF = "shape-drawing/prompt-wording/replayed"
PULLED = "python@sha256:" + "1" * 64
MOVED = "python@sha256:" + "2" * 64


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeDocker:
    return FakeDocker.install(tmp_path / "docker", monkeypatch)


def declare(project: ShapesProject, file: Path, text: str) -> None:
    """Write a file beside the task and declare it."""
    project.path(file).write_text(text)
    project.edit_eval("generation: [", f"generation: [../../inspect/{file.name}, ")


def allow_mutable(project: ShapesProject) -> None:
    project.edit_eval("  artifacts:\n", "  allow_mutable_images: true\n  artifacts:\n")


def locked(project: ShapesProject, lock: Path = LOCK) -> dict[str, str]:
    value = yaml.safe_load(project.path(lock).read_text())
    assert value["schema_version"] == 1
    return {entry["reference"]: entry["locked"] for entry in value["images"]}


def attempts(project: ShapesProject) -> list[dict[str, object]]:
    return [yaml.safe_load(path.read_text()) for path in sorted(project.eval.glob("runs/*/attempts/*.yml"))]


class TestCommand:
    def test_it_writes_what_the_engine_holds_and_pulls_what_it_does_not(
        self, shapes: ShapesProject, call: Caller, docker: FakeDocker
    ) -> None:
        declare(shapes, DOCKERFILE, "ARG T=3.12\nFROM python:${T}\nFROM reg.invalid:5000/team/tool AS x\nFROM mine:1\n")
        declare(shapes, COMPOSE, f"services:\n  a: {{image: 'python:3.12'}}\n  b: {{image: '{PULLED}'}}\n")
        docker.holds("remote", "python:3.12", "a", "other/python@sha256:" + "0" * 64, PULLED)
        docker.holds("local", "reg.invalid:5000/team/tool", "b", "reg.invalid:5000/team/tool@sha256:" + "3" * 64)
        docker.holds("local", "mine:1", "c")
        assert call(shapes, "lint").code == 1
        done = call(shapes, "lock")
        assert (done.code, done.err) == (0, "")
        assert done.out.splitlines() == [
            f"{LOCK}: 3 image(s) locked",
            f"{COMPOSE.with_name('compose.lock.yml')}: 1 image(s) locked",
        ]
        assert locked(shapes) == {
            "mine:1": "sha256:" + "c" * 64,
            "python:3.12": PULLED,
            "reg.invalid:5000/team/tool": "reg.invalid:5000/team/tool@sha256:" + "3" * 64,
        }
        assert docker.calls().count("pull --quiet python:3.12") == 1
        assert call(shapes, "lint").code == 0

    def test_a_second_time_changes_no_byte(self, shapes: ShapesProject, call: Caller, docker: FakeDocker) -> None:
        declare(shapes, DOCKERFILE, "FROM python:3\nFROM a\n")
        docker.holds("local", "python:3", "a", PULLED)
        docker.holds("local", "a", "b")
        call(shapes, "lock", "replayed")
        before = shapes.path(LOCK).read_bytes()
        assert call(shapes, "lock", "replayed").out == f"{LOCK}: 2 image(s) locked, nothing changed\n"
        assert shapes.path(LOCK).read_bytes() == before

    def test_it_resolves_again_and_drops_what_nothing_names(
        self, shapes: ShapesProject, call: Caller, docker: FakeDocker
    ) -> None:
        declare(shapes, DOCKERFILE, "FROM python:3\nFROM a\n")
        docker.holds("local", "python:3", "a", PULLED)
        docker.holds("local", "a", "b")
        call(shapes, "lock")
        docker.holds("local", "python:3", "d", MOVED)
        shapes.path(DOCKERFILE).write_text("FROM python:3\n")
        assert call(shapes, "lock", "replayed").code == 0
        assert locked(shapes) == {"a": "sha256:" + "b" * 64, "python:3": MOVED}
        assert call(shapes, "lock").code == 0
        assert locked(shapes) == {"python:3": MOVED}

    def test_nothing_to_lock_needs_no_docker(
        self, shapes: ShapesProject, call: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        without_docker(tmp_path / "bin", monkeypatch)
        done = call(shapes, "lock")
        assert (done.code, done.out) == (0, "1 eval(s): no unpinned image is named, nothing to lock\n")

    def test_no_client_is_one_line(
        self, shapes: ShapesProject, call: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        declare(shapes, DOCKERFILE, "FROM python:3\n")
        without_docker(tmp_path / "bin", monkeypatch)
        assert "there is no Docker client" in one_line(call(shapes, "lock"), 2)

    def test_an_engine_that_does_not_answer_is_one_line(
        self, shapes: ShapesProject, call: Caller, docker: FakeDocker
    ) -> None:
        declare(shapes, DOCKERFILE, "FROM python:3\n")
        docker.stop()
        assert "Cannot connect to the Docker daemon; start the engine" in one_line(call(shapes, "lock"), 2)
        assert not shapes.path(LOCK).exists()

    def test_an_image_that_nobody_has_is_one_line_and_nothing_is_written(
        self, shapes: ShapesProject, call: Caller, docker: FakeDocker
    ) -> None:
        declare(shapes, DOCKERFILE, "FROM a\nFROM python:3\n")
        docker.holds("local", "a", "b")
        assert "image 'python:3': cannot be pulled: Error: pull access denied" in one_line(call(shapes, "lock"), 2)
        assert not shapes.path(LOCK).exists()

    def test_an_answer_that_is_none_is_one_line(self, shapes: ShapesProject, call: Caller, docker: FakeDocker) -> None:
        declare(shapes, DOCKERFILE, "FROM a\n")
        for answer in ("", "[]", "{}", "[{}]", "[1]", "[[]]", "nonsense"):
            (docker.home / "local" / "a").write_text(answer)
            assert "did not answer in JSON" in one_line(call(shapes, "lock"), 2)

    def test_a_lock_that_is_none_is_written_again(
        self, shapes: ShapesProject, call: Caller, docker: FakeDocker
    ) -> None:
        declare(shapes, DOCKERFILE, "FROM a\n")
        shapes.path(LOCK).write_text("images: latest\n")
        docker.holds("local", "a", "b")
        assert call(shapes, "lint").code == 1
        assert call(shapes, "lock", "replayed").code == 0
        assert locked(shapes) == {"a": "sha256:" + "b" * 64}

    def test_what_cannot_be_resolved_is_told_after_the_rest_is_locked(
        self, shapes: ShapesProject, call: Caller, docker: FakeDocker
    ) -> None:
        declare(shapes, DOCKERFILE, "ARG X\nFROM a\nFROM $X\n")
        docker.holds("local", "a", "b")
        done = call(shapes, "lock")
        assert done.code == 1
        assert f"{DOCKERFILE}:3:1: error image/not-pinned '$X' is not pinned: the variable 'X' has no value" in done.out
        assert locked(shapes) == {"a": "sha256:" + "b" * 64}


class TestIdentity:
    def test_a_lock_is_identity_and_a_pinned_image_has_none(
        self, shapes: ShapesProject, call: Caller, docker: FakeDocker
    ) -> None:
        declare(shapes, DOCKERFILE, "FROM python:3\n")
        allow_mutable(shapes)
        docker.holds("local", "python:3", "a", PULLED)
        ids = []
        for digest in (PULLED, MOVED, PULLED):
            docker.holds("local", "python:3", "a", digest)
            call(shapes, "lock")
            ids.append({line for line in call(shapes, "plan", "--json").out.splitlines() if '"run_id"' in line})
        assert ids[0] == ids[2]
        assert not ids[0] & ids[1]

    def test_an_unlocked_image_blocks_the_plan(self, shapes: ShapesProject, call: Caller, docker: FakeDocker) -> None:
        declare(shapes, DOCKERFILE, "FROM python:3\n")
        allow_mutable(shapes)
        assert call(shapes, "lint").code == 0
        blocked = f"image 'python:3' is not locked; run `tamesu lock {REF}`"
        assert blocked in call(shapes, "plan").out
        assert docker.calls() == []

    @pytest.mark.long
    def test_bare_snakemake_stops_with_the_line(self, one_run: ShapesProject, docker: FakeDocker) -> None:
        declare(one_run, DOCKERFILE, "FROM python:3\n")
        allow_mutable(one_run)
        done = one_run.snakemake("--cores", "1")
        assert done.code == 1
        assert f"image 'python:3' is not locked; run `tamesu lock {REF}`" in done.out + done.err
        assert attempts(one_run) == []


class TestRun:
    @pytest.mark.long
    def test_it_locks_first_and_records_the_image(
        self, one_run: ShapesProject, call: Caller, docker: FakeDocker
    ) -> None:
        declare(one_run, DOCKERFILE, f"FROM python:3\nFROM {MOVED}\n")
        allow_mutable(one_run)
        docker.holds("remote", "python:3", "a", PULLED)
        docker.holds("local", MOVED, "d", MOVED)
        done = call(one_run, "run")
        assert (done.code, done.err) == (0, "")
        assert done.out.splitlines()[0] == f"{REF}: locked 1 image(s) in {LOCK}"
        (attempt,) = attempts(one_run)
        assert attempt["images"] == {"python:3": "sha256:" + "a" * 64, MOVED: "sha256:" + "d" * 64}
        (record,) = (yaml.safe_load(path.read_text()) for path in one_run.eval.glob("runs/*/run.yml"))
        assert record["identity"]["generation"]["images"] == [
            {"file": "Dockerfile", "reference": "python:3", "locked": PULLED},
            {"file": "Dockerfile", "reference": MOVED},
        ]
        assert "source/Dockerfile.lock.yml" in record["identity"]["generation"]
        again = call(one_run, "run")
        assert again.code == 0
        assert "locked" not in again.out

    def test_another_image_than_the_locked_one_is_refused(
        self, one_run: ShapesProject, call: Caller, docker: FakeDocker
    ) -> None:
        declare(one_run, DOCKERFILE, "FROM python:3\n")
        docker.holds("local", "python:3", "a", PULLED)
        call(one_run, "lock")
        docker.holds("local", "python:3", "b", MOVED)
        done = call(one_run, "run")
        assert done.code == 1
        refusal = f"Dockerfile: image 'python:3' is sha256:{'b' * 64} here but is locked to {PULLED}"
        assert len([line for line in done.err.splitlines() if refusal in line]) == 1
        assert attempts(one_run) == []
        assert one_run.calls() == []
        assert not (one_run.eval / "ledger.jsonl").exists()

    def test_without_docker_an_unlocked_image_is_one_line(
        self, shapes: ShapesProject, call: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        declare(shapes, DOCKERFILE, "FROM python:3\n")
        allow_mutable(shapes)
        without_docker(tmp_path / "bin", monkeypatch)
        assert "there is no Docker client" in one_line(call(shapes, "run"), 2)

    def test_a_draft_locks_nothing(self, shapes: ShapesProject, call: Caller, docker: FakeDocker) -> None:
        declare(shapes, DOCKERFILE, "FROM python:3\n")
        allow_mutable(shapes)
        shapes.edit_eval("status: active", "status: draft")
        assert call(shapes, "run", "replayed").code == 2
        assert docker.calls() == []

    @pytest.mark.long
    def test_the_locked_content_is_fetched_where_the_name_is_not_known(
        self, one_run: ShapesProject, call: Caller, docker: FakeDocker
    ) -> None:
        declare(one_run, DOCKERFILE, "FROM python:3\n")
        docker.holds("local", "python:3", "a", PULLED)
        call(one_run, "lock")
        docker.forget()
        docker.holds("remote", "python:3", "b", MOVED)
        docker.holds("remote", PULLED, "a", PULLED)
        assert call(one_run, "run").code == 0
        assert attempts(one_run)[0]["images"] == {"python:3": "sha256:" + "a" * 64}

    @pytest.mark.long
    def test_images_that_are_pinned_need_no_docker(
        self, one_run: ShapesProject, call: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        declare(one_run, DOCKERFILE, f"FROM {PULLED}\n")
        without_docker(tmp_path / "bin", monkeypatch)
        done = call(one_run, "run")
        assert (done.code, done.err) == (0, "")
        assert attempts(one_run)[0]["images"] == {}

    @pytest.mark.long
    def test_an_eval_without_images_never_calls_docker(
        self, one_run: ShapesProject, call: Caller, docker: FakeDocker
    ) -> None:
        assert call(one_run, "run").code == 0
        assert docker.calls() == []
