"""A run that is stopped or killed leaves no container, network or volume behind, and nobody else's is touched."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tamesu.edge.backends.inspect.containers import remove_survivors
from tests.docker.engine import docker, projects_below, resources
from tests.docker.test_sandbox import make_project, recordings
from tests.projects import ShapesProject
from tests.resilience.processes import Command, Launcher, kill, launching, wait_until

pytestmark = pytest.mark.docker

EXPERIMENT = Path("cases/programs/experiments/plain")
TASK = '''
"""Compiles the answer; while a file is there, the compiler or the scorer waits."""

from pathlib import Path

import anyio
from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import Score, mean, scorer
from inspect_ai.solver import generate
from inspect_ai.util import sandbox

from tamesu.inspect_support import stager

BLOCKED = Path("{blocked}")
BUILD = ["cc", "-o", "main", "main.c"]


@scorer(metrics=[mean()])
def compiles():
    async def score(state, target):
        stage = stager(state.sample_id)
        stage.add("source", "main.c", state.output.completion, "text/x-c")
        moment = BLOCKED.read_text() if BLOCKED.exists() else ""
        if moment == "compiling":
            # the compiler reads from a pipe that nobody writes to
            await sandbox().exec(["sh", "-c", "mkfifo pipe.c && cc -o main pipe.c"])
        while moment == "scoring":
            await anyio.sleep(600)
        await sandbox().write_file("main.c", state.output.completion)
        built = await sandbox().exec(BUILD, timeout=60)
        stage.add("compiler-log", "compiler.log", built.stderr or "no warnings", "text/plain")
        return Score(value=float(built.success))

    return score


@task
def c_program(dataset: str) -> Task:
    return Task(
        dataset=json_dataset(dataset), solver=[generate()], scorer=[compiles()], sandbox=("docker", "compose.yaml")
    )
'''
# Two services, a network and a volume, so that there is something of each kind to be left behind.
COMPOSE = """\
services:
  default: &service
    image: {image}
    command: sleep infinity
    init: true
    working_dir: /tmp
    volumes: ["scratch:/scratch"]
  second:
    image: {image}
    command: sleep infinity
    init: true
volumes:
  scratch: {{}}
"""


@dataclass(frozen=True)
class Bystanders:
    """A container and a compose project of somebody else, which is even called as Inspect calls its own."""

    container: str
    project: str

    def assert_untouched(self) -> None:
        assert docker("inspect", "--format", "{{.State.Running}}", self.container) == "true"
        found = resources({self.project})
        assert {kind: len(names) for kind, names in found.items()} == {"container": 2, "network": 1, "volume": 1}
        assert all(docker("inspect", "--format", "{{.State.Running}}", one) == "true" for one in found["container"])


@pytest.fixture(scope="module")
def bystanders(tmp_path_factory: pytest.TempPathFactory, image: str) -> Iterator[Bystanders]:
    name = f"inspect-coder-plain-i{os.urandom(3).hex()}"
    file = tmp_path_factory.mktemp("elsewhere") / "compose.yaml"
    file.write_text(COMPOSE.format(image=image))
    container = docker("run", "-d", image, "sleep", "infinity")
    docker("compose", "--project-name", name, "-f", str(file), "up", "-d")
    try:
        yield Bystanders(container, name)
    finally:
        docker("compose", "--project-name", name, "down", "--volumes", "--timeout", "1")
        docker("rm", "-f", container)


@pytest.fixture
def launcher(tmp_path: Path) -> Iterator[Launcher]:
    with launching(tmp_path / "commands") as started:
        yield started


class Stopped:
    """A project whose run waits at a moment until it is told to go on."""

    def __init__(self, root: Path, image: str, moment: str) -> None:
        self.project: ShapesProject = make_project(root / "programs", image)
        self.moment = moment
        self.projects: set[str] = set()
        self.blocked = root / "blocked"
        folder = self.project.path(EXPERIMENT)
        (folder / "inspect/task.py").write_text(TASK.replace("{blocked}", str(self.blocked)))
        (folder / "inspect/compose.yaml").write_text(COMPOSE.format(image=image))
        self.recordings = folder / "recordings.jsonl"
        if moment == "generating":
            self.recordings.write_text(recordings().replace('"usage"', '"latency_seconds": 600, "usage"'))
        else:
            self.blocked.write_text(moment)

    def reached(self) -> bool:
        """Return whether both items are at the moment, and their sandboxes are up."""
        self.projects |= projects_below(self.project.root)
        own = resources(self.projects)["container"]
        if len(own) < 4:
            return False
        match self.moment:
            case "generating":
                return len(self.project.calls()) == 2
            case "compiling":
                return sum("cc1" in top(name) for name in own) == 2
            case _:
                staged = self.project.path(EXPERIMENT).rglob("inspect/staging-*/*/*")
                return {path.parent.name for path in staged} == {"prints-seven", "prints-nine"}

    def go_on(self) -> None:
        self.blocked.unlink(missing_ok=True)
        self.recordings.write_text(recordings())


def top(container: str) -> str:
    """Return what runs in a container; nothing in one that is not up."""
    return subprocess.run(("docker", "top", container), capture_output=True, text=True, check=False).stdout


def stop(run: Command, way: str) -> None:
    """Stop a run: as Ctrl-C in a terminal does, as a scheduler does, or by killing all of its processes."""
    if way == "SIGINT":
        os.killpg(run.process.pid, signal.SIGINT)
    elif way == "SIGTERM":
        run.process.terminate()
    else:
        kill(run.tree())
    run.wait()
    wait_until(lambda: not [one for one in run.survivors() if "tamesu" in " ".join(one.cmdline())], "the jobs to end")


WAYS = pytest.mark.parametrize("way", ["SIGINT", "SIGTERM", "SIGKILL"])


@dataclass(frozen=True)
class Around:
    """What a test of a stopped run stands on."""

    folder: Path
    image: str
    launcher: Launcher
    bystanders: Bystanders


@pytest.fixture
def around(tmp_path: Path, image: str, launcher: Launcher, bystanders: Bystanders) -> Around:
    return Around(tmp_path, image, launcher, bystanders)


# one class each, so that they can be run side by side
class TestWhileAModelIsAsked:
    @WAYS
    def test_nothing_of_a_stopped_run_stays_behind(self, around: Around, way: str) -> None:
        assert_nothing_stays_behind(around, "generating", way)


class TestWhileTheCompilerIsAtWork:
    @WAYS
    def test_nothing_of_a_stopped_run_stays_behind(self, around: Around, way: str) -> None:
        assert_nothing_stays_behind(around, "compiling", way)


class TestWhileTheScorerIsAtWork:
    @WAYS
    def test_nothing_of_a_stopped_run_stays_behind(self, around: Around, way: str) -> None:
        assert_nothing_stays_behind(around, "scoring", way)


def assert_nothing_stays_behind(around: Around, moment: str, way: str) -> None:
    stopped = Stopped(around.folder, around.image, moment)
    run = around.launcher.tamesu(stopped.project, "run")
    wait_until(lambda: stopped.reached() or run.process.poll() is not None, moment, pause=0.2)
    assert run.process.poll() is None, run.out + run.err
    there = resources(stopped.projects)
    assert {kind: len(names) for kind, names in there.items()} == {"container": 4, "network": 2, "volume": 2}
    stop(run, way)
    if way != "SIGKILL":
        assert not any(resources(stopped.projects).values()), run.out + run.err
    stopped.go_on()
    done = stopped.project.tamesu("run")
    assert done.code == 0, done.out + done.err
    assert not any(resources(stopped.projects).values())
    assert projects_below(stopped.project.root) == set()
    around.bystanders.assert_untouched()
    (banked,) = stopped.project.path(EXPERIMENT).rglob("runs/*/items")
    assert len(list(banked.glob("*/result.yml"))) == 2


def test_a_network_without_any_container_is_known_by_its_name(tmp_path: Path) -> None:
    """A death between the network and the first container leaves nothing that carries a folder."""
    own, foreign = (f"inspect-coder-plain-i{os.urandom(3).hex()}" for _ in range(2))
    (tmp_path / "compose-projects").write_text(f"{own}\ninspect-torn")
    try:
        for name in (own, foreign):
            label = f"com.docker.compose.project={name}"
            docker("network", "create", "--label", label, "--label", "com.docker.compose.network=default", name)
            docker("volume", "create", "--label", label, "--label", "com.docker.compose.volume=scratch", f"{name}-v")
        remove_survivors(tmp_path / "sources", tmp_path)
        assert not any(resources({own}).values())
        assert {kind: len(names) for kind, names in resources({foreign}).items()} == {
            "container": 0,
            "network": 1,
            "volume": 1,
        }
    finally:
        for name in (own, foreign):
            subprocess.run(("docker", "network", "rm", name), capture_output=True, check=False)
            subprocess.run(("docker", "volume", "rm", f"{name}-v"), capture_output=True, check=False)
