"""The c-renderer example with real containers: hostile programs end in the right score, and nothing is left of them."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tamesu.core.images import inspect_image
from tests import c_renderer, projects
from tests.c_renderer import COMPOSE, ENDS, EVAL
from tests.docker.engine import docker
from tests.docker.test_lock import tag

pytestmark = pytest.mark.docker
__all__ = ["tag"]


LABEL = "com.docker.compose.project"
LISTINGS = (("ps", "-aq"), ("network", "ls", "-q"), ("volume", "ls", "-q"))


@contextlib.contextmanager
def created(told: Path) -> Iterator[None]:
    """Write the attributes of every container that is created meanwhile, anybody's, one JSON object a line."""
    which = ("--filter", "type=container", "--filter", "event=create", "--format", "{{json .Actor.Attributes}}")
    with told.open("wb") as file, subprocess.Popen(("docker", "events", *which), stdout=file) as watch:
        try:
            yield
        finally:
            watch.terminate()


def started_from(folder: Path, told: Path) -> set[str]:
    """Return the compose projects whose containers were created from below a folder."""
    found = map(json.loads, told.read_text().splitlines())
    return {one[LABEL] for one in found if one.get(f"{LABEL}.working_dir", "").startswith(f"{folder}/")}


def left_of(compose_projects: set[str]) -> list[str]:
    """Return the IDs of containers, networks and volumes that are still there."""
    asked = ((*listing, "--filter", f"label={LABEL}={name}") for listing in LISTINGS for name in compose_projects)
    return [one for listing in asked for one in docker(*listing).split()]


def results(project: projects.ShapesProject) -> dict[str, dict[str, Any]]:
    found = project.path(EVAL).glob("runs/*/items/*/result.yml")
    return {path.parent.name: yaml.safe_load(path.read_text()) for path in found}


class Ran(NamedTuple):
    """The example after one run, and the compose projects that it started."""

    project: projects.ShapesProject
    lint: projects.Done
    done: projects.Done
    compose_projects: set[str]

    def artifact(self, item: str, name: str) -> bytes:
        (path,) = self.project.path(EVAL).glob(f"runs/*/items/{item}/artifacts/{name}")
        return path.read_bytes()


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory, image: str) -> Ran:
    project = c_renderer.copy(tmp_path_factory.mktemp("c-renderer") / "project", image)
    lint = project.tamesu("lint", "--strict")
    told = project.root.with_name("created.jsonl")
    with created(told):
        done = project.tamesu("run")
    return Ran(project, lint, done, started_from(project.root, told))


def test_with_a_pinned_image_lint_is_clean_and_every_item_ends(ran: Ran) -> None:
    assert (ran.lint.code, ran.lint.out) == (0, "1 eval(s): no errors\n")
    assert (ran.done.code, ran.done.err) == (0, "")
    assert "c-pictures/asked-once/replayed: evidence complete" in ran.done.out
    found = results(ran.project)
    assert {item: result["state"] for item, result in found.items()} == dict.fromkeys(ENDS, "complete")


def test_the_sandbox_is_identity_of_scoring(ran: Ran) -> None:
    (record,) = (yaml.safe_load(path.read_text()) for path in ran.project.path(EVAL).glob("runs/*/run.yml"))
    images = [{"file": "compose.yaml", "reference": os.environ["TAMESU_TOOLCHAIN_IMAGE"]}]
    assert record["identity"]["scoring"]["images"] == images
    assert record["identity"]["generation"]["images"] == []
    assert "source/compose.yaml" in record["identity"]["scoring"]


def test_the_way_of_the_readme_from_a_tag_to_a_lock_leaves_lint_clean(tmp_path: Path, image: str, tag: str) -> None:
    project = c_renderer.copy(tmp_path / "project", tag)
    assert "image/not-pinned" in project.tamesu("lint").out
    assert project.tamesu("lock").code == 0
    lock = yaml.safe_load(project.path(COMPOSE.with_name("compose.lock.yml")).read_text())
    (entry,) = lock["images"]
    assert (entry["reference"], entry["locked"]) == (tag, image)
    assert project.tamesu("lint", "--strict").code == 0


def test_each_answer_gets_its_exact_score_and_reason(ran: Ran) -> None:
    scores = {item: result["scores"]["steps_reached"] for item, result in results(ran.project).items()}
    assert {item: (score["value"], score["metadata"]["reason"]) for item, score in scores.items()} == {
        item: (end.score, end.reason) for item, end in ENDS.items()
    }


def test_what_each_step_left_was_copied_while_the_sandbox_lived(ran: Ran) -> None:
    found = results(ran.project)
    assert {item: [one["role"] for one in result["artifacts"]] for item, result in found.items()} == {
        item: c_renderer.staged(end) for item, end in ENDS.items()
    }
    assert [item for item, result in found.items() if result["rejected_artifacts"]] == []
    assert ran.artifact("three-stripes", "run.log") == b"drawing\nSegmentation fault\n[ended with 139]\n"
    assert ran.artifact("night-sky", "run.log") == b"Killed\n[ended with 137]\n"
    assert ran.artifact("gray-steps", "run.log") == b"connect: Network is unreachable\n[ended with 4]\n"
    assert b"error: expected" in ran.artifact("blue-square", "compiler.log")


def test_every_render_is_a_valid_image_for_review(ran: Ran) -> None:
    sizes = {"red-disc": (160, 120), "two-halves": (160, 120), "white-cross": (120, 120)}
    sizes |= {"chessboard": (160, 160), "black-border": (200, 200)}
    verdicts = {item: inspect_image(ran.artifact(item, "render.png"), "image/png") for item in sizes}
    assert {item: (verdict.reason, verdict.width, verdict.height) for item, verdict in verdicts.items()} == {
        item: (None, *size) for item, size in sizes.items()
    }
    generated = {item for item, result in results(ran.project).items() if result["outcome"]["status"] == "generated"}
    assert generated == set(sizes)


def test_no_container_network_or_volume_is_left(ran: Ran) -> None:
    assert len(ran.compose_projects) == len(ENDS)  # one each
    assert left_of(ran.compose_projects) == []


# --- the sandbox itself ----------------------------------------------------------------------------------

Inside = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def inside(tmp_path: Path, image: str) -> Iterator[Inside]:
    """Run shell commands in a container of the example's compose file."""
    compose = c_renderer.copy(tmp_path / "project", image).path(COMPOSE)
    project = f"tamesu-test-{abs(hash(tmp_path)):x}"
    command = ("docker", "compose", "-p", project, "-f", str(compose))
    subprocess.run((*command, "up", "-d", "--wait"), capture_output=True, check=True)

    def run(script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            (*command, "exec", "-T", "default", "sh", "-c", script), capture_output=True, text=True, check=False
        )

    try:
        yield run
    finally:
        subprocess.run((*command, "down", "-v"), capture_output=True, check=True)


def test_the_sandbox_is_hardened(inside: Inside) -> None:
    assert inside("id -u; id -g; pwd").stdout.split() == ["1000", "1000", "/work"]
    status = dict(line.split(":", 1) for line in inside("cat /proc/self/status").stdout.splitlines())
    assert {int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}
    assert status["NoNewPrivs"].strip() == "1"
    assert inside("ls /sys/class/net").stdout.split() == ["lo"]
    for place in ("/", "/etc", "/usr/bin", "/var/tmp", "/home"):
        assert "Read-only file system" in inside(f"touch {place}/x").stderr, place
    written = inside("cp /bin/true /work/x && /work/x && cp /bin/true /tmp/x && /tmp/x")
    assert (written.returncode, "Permission denied" in written.stderr) == (126, True)  # /work runs files, /tmp does not
    assert inside("dd if=/dev/zero of=/work/big bs=1M count=65").returncode == 1


def test_the_first_process_survives_what_is_done_inside_and_keeps_no_dead_ones(inside: Inside) -> None:
    assert inside("kill -s KILL -- -1; kill -s KILL 1; echo alive").stdout == "alive\n"
    inside("for n in 1 2 3 4 5 6 7 8 9; do (setsid sleep 0 &) ; done")
    assert inside("grep -l 'State:.Z' /proc/[0-9]*/status").stdout == ""


def test_a_work_folder_that_is_not_the_users_fails_the_items_instead_of_scoring_them(
    tmp_path: Path, image: str
) -> None:
    """A mistake of the compose file is no answer's: no number, and nothing is asked again for it."""
    project = c_renderer.copy(tmp_path / "project", image)
    project.edit(COMPOSE, "uid=1000,gid=1000,exec", "exec")
    project.edit(EVAL / "eval.yml", "items: all", "items: {ids: [red-disc]}")
    done = project.tamesu("run")
    assert done.code == 1
    (result,) = results(project).values()
    assert (result["state"], result["error"]["type"]) == ("failed", "MissingScore")
    assert [one["role"] for one in result["artifacts"]] == ["response", "source"]
    assert project.tamesu("run").code == 1
    assert len(project.calls()) == 1
