"""Locks against a real engine: what is locked runs, what moved is refused, what is built is built from the copy."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests import projects
from tests.docker.engine import docker
from tests.docker.test_sandbox import make_project

pytestmark = pytest.mark.docker

EXPERIMENT = Path("cases/programs/experiments/plain")
EVAL = EXPERIMENT / "evals/compiled"
PLATFORMS = ("amd64", "arm64")


def platform() -> str:
    return docker("version", "--format", "{{.Server.Os}}/{{.Server.Arch}}")


@pytest.fixture
def tag(image: str, tmp_path: Path) -> Iterator[str]:
    """A tag of this test alone for the pinned image."""
    name = f"{image.partition('@')[0]}:lock-{abs(hash(tmp_path)):x}"
    if subprocess.run(("docker", "image", "inspect", image), capture_output=True, check=False).returncode:
        docker("pull", image)
    docker("tag", image, name)
    yield name
    subprocess.run(("docker", "rmi", name), capture_output=True, check=False)


def mutable(project: projects.ShapesProject) -> None:
    project.edit(EVAL / "eval.yml", "  limits:", "  allow_mutable_images: true\n  limits:")


def test_a_tag_is_locked_run_recorded_and_refused_once_it_moved(tmp_path: Path, image: str, tag: str) -> None:
    project = make_project(tmp_path / "programs", tag)
    mutable(project)
    done = project.tamesu("run")
    assert (done.code, done.err) == (0, "")
    lock = yaml.safe_load(project.path(EXPERIMENT / "inspect/compose.lock.yml").read_text())
    assert lock["images"] == [{"reference": tag, "locked": image, "platform": platform()}]
    (attempt,) = (yaml.safe_load(path.read_text()) for path in project.path(EVAL).glob("runs/*/attempts/01.yml"))
    assert attempt["images"] == {tag: docker("image", "inspect", image, "--format", "{{.Id}}")}
    calls = len(project.calls())
    docker("build", "--tag", tag, "-", text=f"FROM {image}\nLABEL moved=yes\n")
    project.edit(EVAL / "eval.yml", "  concurrency: 2\n", "  concurrency: 2\n  repetitions: 2\n")
    refused = project.tamesu("run")
    assert refused.code == 1
    assert f"image '{tag}' is sha256:" in refused.err
    assert f"is locked to {image}" in refused.err
    assert len(project.calls()) == calls


@pytest.fixture
def index(image: str, tmp_path: Path) -> Iterator[str]:
    """A tag of this test alone for an index of two platforms in the registry of the pinned image."""
    name = f"{image.partition('@')[0]}-c54-{abs(hash(tmp_path)):x}"
    tags = [f"{name}:{architecture}" for architecture in PLATFORMS]
    context = tmp_path / "context"
    context.mkdir()
    (context / "Dockerfile").write_text("FROM scratch\nCOPY Dockerfile /\n")
    for one in tags:
        docker("build", "--quiet", "--platform", f"linux/{one.rpartition(':')[2]}", "--tag", one, str(context))
        docker("push", "--quiet", one)
    docker("manifest", "create", "--insecure", f"{name}:both", *tags)
    docker("manifest", "push", "--insecure", "--purge", f"{name}:both")
    yield f"{name}:both"
    subprocess.run(("docker", "rmi", "--force", f"{name}:both", *tags), capture_output=True, check=False)


def test_c54_index_and_child_are_locked_and_the_image_of_another_platform_is_refused(
    tmp_path: Path, image: str, index: str
) -> None:
    name = index.rpartition(":")[0]
    # before the lock pulls the index, which gives the image a second digest
    own = {
        one: docker("image", "inspect", f"{name}:{one}", "--format", "{{index .RepoDigests 0}}") for one in PLATFORMS
    }
    project = make_project(tmp_path / "programs", index)
    done = project.tamesu("lock")
    assert (done.code, done.err) == (0, "")
    (entry,) = yaml.safe_load(project.path(EXPERIMENT / "inspect/compose.lock.yml").read_text())["images"]
    assert (entry["reference"], entry["platform"]) == (index, platform())
    assert entry["child"] in {one.rpartition("@")[2] for one in own.values()}
    assert entry["locked"] not in own.values()
    foreign = next(one for one in PLATFORMS if not platform().endswith(one))
    project = make_project(tmp_path / "foreign", own[foreign])
    refused = project.tamesu("run")
    assert refused.code == 1
    assert f"is pinned to the image of linux/{foreign} alone, and this engine runs {platform()}" in refused.err
    assert project.calls() == []


def test_a_build_from_a_declared_folder_runs(tmp_path: Path, image: str) -> None:
    project = make_project(tmp_path / "programs", image)
    folder = project.path(EXPERIMENT / "inspect")
    (folder / "sandbox").mkdir()
    (folder / "sandbox/Dockerfile").write_text(
        "ARG BASE=debian:12\nFROM ${BASE}\nCOPY . /kept/\nRUN test ! -e /kept/x.log\n"
    )
    (folder / "sandbox/.dockerignore").write_text("*.log\n")
    (folder / "sandbox/x.log").write_text("not part of it\n")
    compose = (folder / "compose.yaml").read_text()
    build = f"build: {{context: sandbox, args: {{BASE: '{image}'}}}}"
    (folder / "compose.yaml").write_text(compose.replace(f"image: {image}", build))
    project.edit(EVAL / "eval.yml", "../../inspect/compose.yaml]", "../../inspect/compose.yaml, ../../inspect/sandbox]")
    done = project.tamesu("run")
    assert (done.code, done.err) == (0, "")
    (record,) = (yaml.safe_load(path.read_text()) for path in project.path(EVAL).glob("runs/*/run.yml"))
    assert record["complete"] == 2
    generation = record["identity"]["generation"]
    assert generation["images"] == [{"file": "sandbox/Dockerfile", "reference": image}]
    assert {name for name in generation if name.startswith("source/sandbox/")} == {
        "source/sandbox/Dockerfile",
        "source/sandbox/.dockerignore",
    }
