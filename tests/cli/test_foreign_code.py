"""What reads a case that came from elsewhere executes nothing of it: canaries lie wherever code could hide.

Each canary creates a file of its own name when it is executed, and each is shown to do so. The project's own Snakefile
is no canary: Snakemake executes it because a person asked for that.
"""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jinja2
import pytest
import yaml

from tests.cli.calling import Caller
from tests.projects import DATASET, EVAL, EXPERIMENT, Done, ShapesProject, fresh

CASE = Path("cases/shape-drawing")
INSPECT = EXPERIMENT / "inspect"
MARKER = CASE / ".untrusted-origin"
MODULES = ("conftest", "sitecustomize", "usercustomize", "json", "yaml", "click", "msgspec", "jinja2")
PINNED = "python@sha256:" + "1" * 64
HOOKS = ("fsmonitor", "hooks/post-checkout", "hooks/post-index-change", "hooks/pre-commit")


@dataclass(frozen=True)
class Planted:
    """A project with a canary wherever code could hide, and what the canaries have created so far."""

    project: ShapesProject
    nest: Path
    python: tuple[Path, ...]
    shell: tuple[Path, ...]

    def fired(self) -> set[str]:
        return {path.name for path in self.nest.iterdir()}

    def clear(self) -> None:
        for path in self.nest.iterdir():
            path.unlink()

    def call(self, *command: str, place: Path = Path()) -> Done:
        """Call a program of this environment in a folder of the project, as a person does."""
        program, *arguments = command
        done = subprocess.run(
            [str(Path(sys.executable).with_name(program)), *arguments],
            cwd=self.project.root / place,
            env={**os.environ, "PATH": f"{self.nest.parent / 'bin'}:{os.environ['PATH']}", "COLUMNS": "160"},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=300,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)


def plant(folder: Path) -> Planted:
    project = fresh(folder / "shapes", items=("red-sun",))
    project.edit_eval("repetitions: 2", "repetitions: 1")
    project.edit_eval("arms: [terse, worked-example]\n  - provider", "arms: [terse]\n  - provider")
    project.edit_eval("  - provider: replay\n    model: sketcher-large\n    arms: [terse, worked-example]\n", "")
    nest = folder / "nest"
    nest.mkdir()
    python = [*_modules(project, nest), *_other_python(project, nest)]
    shell = [*_git(project, nest), *_docker(project, folder / "bin", nest)]
    _configuration(project, nest)
    return Planted(project, nest, tuple(python), tuple(shell))


def _canary(path: Path, nest: Path, name: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"import pathlib\npathlib.Path({str(nest / name)!r}).touch()\n")
    return path


def _modules(project: ShapesProject, nest: Path) -> Iterator[Path]:
    """Modules that Python, pytest or a library would import from the working folder or from beside the task."""
    for place in (Path(), CASE, EXPERIMENT, EVAL):
        for module in MODULES:
            yield _canary(project.path(place / f"{module}.py"), nest, f"{module} in {place.name or 'project'}")
    for module in ("conftest", "sitecustomize", "json"):
        yield _canary(project.path(INSPECT / f"{module}.py"), nest, f"{module} beside the task")
    declared = ", ".join(f"../../inspect/{module}.py" for module in ("conftest", "sitecustomize", "json"))
    project.edit_eval("generation: [", f"generation: [{declared}, ")


def _other_python(project: ShapesProject, nest: Path) -> Iterator[Path]:
    task = project.path(INSPECT / "task.py")
    body = task.read_text()
    head = "from __future__ import annotations\n"
    touch = f"import pathlib\n\npathlib.Path({str(nest / 'task')!r}).touch()\n"
    task.write_text(body.replace(head, f"{head}\n{touch}", 1))
    for place in (Path(), INSPECT):
        path = project.path(place / "evil.pth")
        path.write_text(f"import pathlib; pathlib.Path({str(nest / f'pth in {place.name}')!r}).touch()\n")
        yield path
    yield _canary(project.path(CASE / "Snakefile"), nest, "Snakefile of the case")


def _git(project: ShapesProject, nest: Path) -> Iterator[Path]:
    """A repository whose hooks and file watcher are programs; `git status` alone would start the watcher."""
    for place in (Path(), CASE):
        folder = project.path(place / ".git")
        for sub in ("objects", "refs/heads", "hooks"):
            (folder / sub).mkdir(parents=True)
        (folder / "HEAD").write_text("ref: refs/heads/main\n")
        (folder / "config").write_text(f"[core]\n\trepositoryformatversion = 0\n\tfsmonitor = {folder / 'fsmonitor'}\n")
        for hook in HOOKS:
            yield _script(folder / hook, nest, f"git {Path(hook).name} in {place.name or 'project'}")


def _docker(project: ShapesProject, programs: Path, nest: Path) -> Iterator[Path]:
    """A Docker client that only tells that it was called, and a compose file that builds, and reads what it names."""
    yield _script(programs / "docker", nest, "docker")
    box = project.path(INSPECT) / "box"
    box.mkdir()
    (box / "Dockerfile").write_text(f"FROM {PINNED}\nRUN touch '{nest / 'RUN'}'\n")
    (box / "box.env").write_text(f"X=$(touch '{nest / 'env_file'}')\n")
    (box.parent / "compose.yaml").write_text("services:\n  box:\n    build: box\n    env_file: [box/box.env]\n")
    project.edit_eval("generation: [", "generation: [../../inspect/compose.yaml, ../../inspect/box, ")


def _script(path: Path, nest: Path, name: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\ntouch '{nest / name}'\n")
    path.chmod(0o755)
    return path


def _configuration(project: ShapesProject, nest: Path) -> None:
    """Settings that would lead Python, Snakemake or Inspect to a canary, were they read from a case."""
    lures = f"PYTHONPATH={project.path(CASE)}\nPYTHONSTARTUP={project.path(CASE / 'Snakefile')}\n"
    project.path(CASE / ".env").write_text(f"{lures}SNAKEMAKE_PROFILE={project.path(CASE / 'default')}\n")
    tag = payload(nest / "profile")
    for place in (CASE / "default", CASE / "profiles/default", CASE / "config"):
        project.path(place).mkdir(parents=True)
        project.path(place / "config.yaml").write_text(f"snakefile: {project.path(CASE / 'Snakefile')}\nset: {tag}\n")


def payload(canary: Path) -> str:
    return f"!!python/object/apply:os.system [\"touch '{canary}'\"]"


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Planted:
    """A case that was run once while it was trusted, and is marked now; another run is owed."""
    planted = plant(tmp_path_factory.mktemp("foreign"))
    done = planted.call("tamesu", "run")
    assert done.code in (0, 1), done.err
    assert "task" in planted.fired(), "the canary of the task fires when the task is really executed"
    planted.clear()
    planted.project.path(MARKER).write_text("")
    planted.project.edit_eval("temperature: 0.7", "temperature: 0.6")
    return planted


def test_every_canary_fires_when_it_is_executed(tmp_path: Path) -> None:
    planted = plant(tmp_path)
    for path in planted.python:
        before = planted.fired()
        runpy.run_path(str(path))
        assert len(planted.fired() - before) == 1, path
    for path in planted.shell:
        before = planted.fired()
        subprocess.run([str(path)], check=True)
        assert len(planted.fired() - before) == 1, path
    assert len(planted.fired()) == len(planted.python) + len(planted.shell)


READING = {
    "lint": 0,
    "plan": 0,
    "plan --json": 0,
    "plan --prompt terse": 0,
    "list": 0,
    "status": 0,
    "models": 0,
    "where snakefile": 0,
    "metrics replayed": 0,
    "report replayed": 0,
    "run --dry-run": 2,
    "preflight": 2,
    "run": 2,
    "run replayed": 2,
    "resume --again": 2,
    "rescore": 0,
}


@pytest.mark.parametrize("command", READING)
def test_no_command_executes_anything_of_a_marked_case(command: str, foreign: Planted) -> None:
    done = foreign.call("tamesu", *command.split())
    assert done.code == READING[command], done.out + done.err
    assert foreign.fired() == set()


@pytest.mark.parametrize("place", [Path(), CASE, EVAL], ids=["project", "case", "eval"])
def test_the_folder_it_is_called_in_gives_no_modules(place: Path, foreign: Planted) -> None:
    """`python -m` puts the working folder before the standard library."""
    done = foreign.call("python", "-m", "tamesu", "plan", place=place)
    assert done.code == 0, done.err
    assert foreign.fired() == set()


@pytest.mark.parametrize("arguments", ["-n", "--summary", "lint"])
def test_snakemake_over_a_marked_case_executes_nothing_of_it(arguments: str, foreign: Planted) -> None:
    """Snakemake puts the folder of the project's Snakefile before the libraries."""
    done = foreign.call("snakemake", *arguments.split())
    assert done.code == 0, done.err
    assert foreign.fired() == set()


def test_bare_snakemake_makes_the_views_of_a_marked_case_and_stops(foreign: Planted) -> None:
    done = foreign.call("snakemake")
    (line,) = [line for line in done.err.splitlines() if line.startswith("tamesu: ")]
    assert line.startswith(f"tamesu: {MARKER}: this case came from elsewhere")
    assert done.code == 1
    assert (foreign.project.eval / "evaluation-report.md").exists()
    assert foreign.fired() == set()


def test_a_word_is_what_makes_the_code_run(tmp_path: Path) -> None:
    """Only what belongs to the execution runs: the copied task and its declared neighbours, nothing of the project."""
    planted = plant(tmp_path)
    planted.project.path(MARKER).write_text("")
    assert planted.call("tamesu", "run", "replayed").code == 2
    assert planted.fired() == set()
    done = planted.call("tamesu", "run", "replayed", "--trust-code")
    assert done.code in (0, 1), done.err
    assert planted.fired() - {"docker"} == {"task"}


YAML_FILES = {
    "case": CASE / "case.yml",
    "dataset": DATASET,
    "eval": EVAL / "eval.yml",
    "rubric": EXPERIMENT / "rubrics/drawing.yml",
    "marker": MARKER,
    "compose": INSPECT / "compose.yaml",
    "config": Path("config/config.yaml"),
    "models": Path("config/models.yml"),
}


@pytest.mark.parametrize("file", YAML_FILES)
def test_a_yaml_tag_makes_no_object(file: str, shapes: ShapesProject, call: Caller, tmp_path: Path) -> None:
    text = f"name: {payload(tmp_path / 'tag')}\n"
    path = shapes.path(YAML_FILES[file])
    if file == "compose":
        shapes.edit_eval("generation: [", "generation: [../../inspect/compose.yaml, ")
    path.write_text(text)
    for command in (("lint",), ("plan",), ("list",), ("status",)):
        call(shapes, *command)
    if file != "marker":
        assert call(shapes, "lint").code == 1
    assert not (tmp_path / "tag").exists()
    yaml.unsafe_load(text)
    assert (tmp_path / "tag").exists(), "the tag does act where tags are obeyed"


@pytest.mark.parametrize("record", ["run.yml", "attempts/01.yml", "items/red-sun/result.yml"])
def test_a_yaml_tag_in_evidence_makes_no_object(
    record: str, banked_shapes: ShapesProject, call: Caller, tmp_path: Path
) -> None:
    text = f"name: {payload(tmp_path / 'tag')}\n"
    (run, *_) = sorted((banked_shapes.eval / "runs").iterdir())
    (run / record).write_text(text)
    for command in (("plan",), ("status",), ("report", "replayed"), ("rescore",)):
        call(banked_shapes, *command)
    assert not (tmp_path / "tag").exists()


ESCAPES = (
    "{{ cycler.__init__.__globals__.os.popen(COMMAND).read() }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() and lipsum.__globals__['os'].popen(COMMAND).read() }}",
    "{{ namespace.__init__.__globals__['__builtins__']['__import__']('os').popen(COMMAND).read() }}",
    "{% set f = joiner.__init__.__globals__.get('os') %}{{ f.popen(COMMAND).read() }}",
)


@pytest.mark.parametrize("escape", ESCAPES)
def test_a_prompt_reaches_no_attribute_of_python(
    escape: str, shapes: ShapesProject, call: Caller, tmp_path: Path
) -> None:
    canary = tmp_path / "prompt"
    text = escape.replace("COMMAND", f'"touch {canary}"')
    shapes.path(EXPERIMENT / "prompts/terse.md.j2").write_text(text)
    for command in (("plan",), ("plan", "--prompt", "terse"), ("status",), ("list",)):
        call(shapes, *command)
    assert call(shapes, "lint").code == 1
    assert not canary.exists()
    jinja2.Environment().from_string(text).render()
    assert canary.exists(), "the escape does work without a sandbox"
