"""A task whose scorer compiles and runs the answer in a real Docker sandbox."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
import yaml

from tests import projects
from tests.docker.engine import docker, projects_below, resources

pytestmark = pytest.mark.docker

TASK = '''
"""Compiles the answer with the sandbox's C compiler and stages what came of it."""

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import Score, mean, scorer
from inspect_ai.solver import generate
from inspect_ai.util import sandbox

from tamesu.inspect_support import stager


@scorer(metrics=[mean()])
def compiles():
    async def score(state, target):
        stage = stager(state.sample_id)
        stage.add("source", "main.c", state.output.completion, "text/x-c")
        await sandbox().write_file("main.c", state.output.completion)
        built = await sandbox().exec(["cc", "-o", "main", "main.c"], timeout=60)
        stage.add("compiler-log", "compiler.log", built.stderr or "no warnings", "text/plain")
        if not built.success:
            return Score(value=0.0, explanation="does not compile")
        ran = await sandbox().exec(["./main"], timeout=10)
        stage.add("run-log", "run.log", ran.stdout, "text/plain")
        return Score(value=1.0 if ran.stdout.strip() == target.text else 0.0)

    return score


@task
def c_program(dataset: str) -> Task:
    return Task(
        dataset=json_dataset(dataset), solver=[generate()], scorer=[compiles()], sandbox=("docker", "compose.yaml")
    )
'''

COMPOSE = """\
services:
  default:
    image: {image}
    command: sleep infinity
    init: true
    network_mode: none
    working_dir: /tmp
"""

EVAL = """\
name: compiled
question: Does the program compile and print what it should?
status: active
task: artifact_bundle
dataset: ../../../../datasets/programs/dataset.yml
execution:
  backend: inspect
  file: ../../inspect/task.py
  task: c_program
  sources: [../../inspect/task.py, ../../inspect/compose.yaml]
  limits: {cost_limit: 0.10, time_limit: 300}
  artifacts: {required: [source, compiler-log], allowed: [run-log]}
defaults:
  concurrency: 2
  budget_usd: 0
  parameters: {max_tokens: 200, recordings: ../../recordings.jsonl}
arms:
  - {id: plain, prompts: {user: ../../prompts/user.md.j2}}
runs:
  - {provider: replay, model: coder}
evaluation:
  mechanical: [compiles]
metrics: {primary: "mean_score:compiles"}
"""

ANSWERS = {
    "prints-seven": '#include <stdio.h>\nint main(void) { printf("%d\\n", 3 + 4); return 0; }\n',
    "prints-nine": "int main(void) { return syntax error; }\n",
}


def make_project(root: Path, image: str) -> projects.ShapesProject:
    """Write a project of one eval whose task needs Docker."""
    experiment = root / "cases" / "programs" / "experiments" / "plain"
    files = {
        "Snakefile": (projects.EXAMPLE / "Snakefile").read_text(),
        "cases/programs/case.yml": "name: programs\n",
        "cases/programs/datasets/programs/dataset.yml": yaml.safe_dump(
            {
                "name": "programs",
                "items": [
                    {"id": "prints-seven", "input": "Print 3 + 4.", "expected": "7"},
                    {"id": "prints-nine", "input": "Print 4 + 5.", "expected": "9"},
                ],
            }
        ),
    }
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    for name, content in {
        "inspect/task.py": TASK,
        "inspect/compose.yaml": COMPOSE.format(image=image),
        "prompts/user.md.j2": "{{ item.input }}\n",
        "recordings.jsonl": recordings(),
        "evals/compiled/eval.yml": EVAL,
    }.items():
        path = experiment / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return projects.ShapesProject(root)


def recordings() -> str:
    """Return the recorded answers, labelled as such."""
    lines: list[dict[str, object]] = [{"tamesu_recording": 1, "label": "recorded and synthetic"}]
    for item, text in ANSWERS.items():
        lines.append({"item": item, "turns": [{"text": text, "usage": {"input": 20, "output": 30}}]})
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_scorer_compiles_and_runs_in_a_pinned_sandbox(tmp_path: Path, image: str) -> None:
    project = make_project(tmp_path / "programs", image)
    done = project.tamesu("run")
    assert (done.code, done.err) == (0, "")
    folder = project.root / "cases/programs/experiments/plain/evals/compiled/runs"
    (run,) = folder.iterdir()
    results = {path.parent.name: yaml.safe_load(path.read_text()) for path in run.glob("items/*/result.yml")}
    assert {name: result["scores"]["compiles"]["value"] for name, result in results.items()} == {
        "prints-seven": 1.0,
        "prints-nine": 0.0,
    }
    assert (run / "items/prints-seven/artifacts/run.log").read_text() == "7\n"
    assert "error" in (run / "items/prints-nine/artifacts/compiler.log").read_text()
    record = yaml.safe_load((run / "run.yml").read_text())
    assert record["identity"]["generation"]["images"] == [{"file": "compose.yaml", "reference": image}]
    assert projects_below(project.root) == set()


def test_an_unpinned_image_is_refused_before_anything_runs(tmp_path: Path) -> None:
    project = make_project(tmp_path / "programs", "debian:bookworm")
    done = project.tamesu("run")
    assert done.code == 1
    assert "image/not-pinned" in done.err
    assert project.calls() == []


def test_containers_of_a_killed_run_are_removed_and_nobody_elses(tmp_path: Path, image: str) -> None:
    project = make_project(tmp_path / "programs", image)
    slow = project.root / "cases/programs/experiments/plain/recordings.jsonl"
    slow.write_text(slow.read_text().replace('"usage"', '"latency_seconds": 30, "usage"'))
    foreign = docker("run", "-d", "--rm", image, "sleep", "300")
    try:
        child = subprocess.Popen((sys.executable, "-m", "tamesu", "run"), cwd=project.root)
        wait_for(lambda: bool(project.calls()))
        assert len(resources(projects_below(project.root))["container"]) == 2
        for process in [*psutil.Process(child.pid).children(recursive=True), psutil.Process(child.pid)]:
            process.kill()
        child.wait()
        slow.write_text(recordings())
        done = project.tamesu("run")
        assert done.code == 0, done.err
        assert projects_below(project.root) == set()
        assert docker("inspect", "--format", "{{.State.Running}}", foreign) == "true"
    finally:
        docker("rm", "-f", foreign)


def wait_for(happened: Callable[[], bool]) -> None:
    """Wait until something happened, a minute at most."""
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.1)
