"""A project of many small, equal items: one prompt, one recorded answer and one price for each."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from tests.projects import ROOT, ShapesProject

EXPERIMENT = Path("cases/counting/experiments/one")
DATASET = Path("cases/counting/datasets/numbers")
MODEL = "counter"

TASK = '''\
"""Repeat a number."""

import os

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import includes
from inspect_ai.solver import Generate, TaskState, generate, solver


@solver
def fatal():
    async def solve(state: TaskState, ask: Generate) -> TaskState:
        if state.metadata.get("fatal"):
            os._exit(9)
        return state

    return solve


@task
def repeat(dataset: str) -> Task:
    return Task(dataset=json_dataset(dataset), solver=SOLVER, scorer=[includes()])
'''

EVAL = """\
name: {name}
question: Does the model repeat a number?
description: Equal items at an equal price.
status: active
task: artifact_bundle
dataset: ../../../../datasets/numbers/dataset.yml
execution:
  backend: inspect
  file: ../../inspect/task.py
  task: repeat
  sources: [../../inspect/task.py]
  limits: {{cost_limit: {cost_limit}, time_limit: 120, token_limit: 20000}}
defaults:
  items: all
  repetitions: {repetitions}
  concurrency: {concurrency}
  timeout_seconds: 30
  retries: 0
  max_attempts: {max_attempts}
  tolerate_failed: 0
  budget_usd: {budget_usd}
  parameters: {{max_tokens: 100, recordings: ../../recordings/answers.jsonl}}
arms:
  - id: plain
    description: The number alone.
    prompts: {{user: ../../prompts/user.md.j2}}
runs:
  - {{provider: replay, model: counter, arms: [plain]}}
evaluation:
  mechanical:
    - includes: {{pass_at: 1.0}}
  acceptance: {{requires: [mechanical], selection: none}}
metrics:
  primary: "mean_score:includes"
  secondary: []
"""


@dataclass(frozen=True)
class CountingProject(ShapesProject):
    """The project; `eval` is its first eval."""

    @property
    def eval(self) -> Path:
        return self.root / EXPERIMENT / "evals" / "first"

    def eval_named(self, name: str) -> Path:
        return self.root / EXPERIMENT / "evals" / name

    @property
    def run_folder(self) -> Path:
        """The folder of the one run of the first eval."""
        (folder,) = (path for path in (self.eval / "runs").iterdir() if path.is_dir())
        return folder


@dataclass(frozen=True)
class Numbers:
    """What the project is like; a call costs `input_tokens` at `usd_per_million`."""

    items: int = 10
    input_tokens: int | None = 1000
    usd_per_million: float = 100.0
    cost_limit: float = 0.2
    budget_usd: float = 50.0
    concurrency: int = 1
    repetitions: int = 1
    max_attempts: int = 3
    latency_seconds: float = 0.0
    evals: tuple[str, ...] = ("first",)
    fatal: tuple[int, ...] = ()


def item_id(number: int) -> str:
    return f"n-{number:05d}"


def make(target: Path, numbers: Numbers) -> CountingProject:
    """Write the project."""
    experiment, dataset = target / EXPERIMENT, target / DATASET
    for folder in (experiment / "inspect", experiment / "prompts", experiment / "recordings", dataset):
        folder.mkdir(parents=True)
    (target / "config").mkdir()
    (target / "config" / "models.yml").write_text(
        f"models:\n  - {{provider: replay, model: {MODEL}, "
        f"usd_per_million: {{input: {numbers.usd_per_million}, output: 0.0}}}}\n"
    )
    (target / "Snakefile").write_text(
        "from tamesu.workflow_files import snakefile\n\n\ninclude: snakefile()\n\n\n"
        "rule all:\n    default_target: True\n    input:\n        rules.tamesu.input,\n"
    )
    shutil.copytree(ROOT / "profiles", target / "profiles")
    (target / "cases" / "counting" / "case.yml").write_text(
        "name: counting\ndescription: Can a model repeat a number?\nbusiness_use: Tests.\n"
        "current_problem: None.\ntechnical_uncertainty: None.\n"
    )
    (dataset / "dataset.yml").write_text("name: numbers\ndescription: Numbers.\nitems_from: items.jsonl\n")
    solver = "[generate(), fatal()]" if numbers.fatal else "[generate()]"
    (experiment / "inspect" / "task.py").write_text(TASK.replace("SOLVER", solver))
    (experiment / "prompts" / "user.md.j2").write_text("Repeat: {{ item.input.number }}\n")
    _write_items(dataset / "items.jsonl", numbers)
    _write_answers(experiment / "recordings" / "answers.jsonl", numbers)
    for name in numbers.evals:
        folder = experiment / "evals" / name
        folder.mkdir(parents=True)
        (folder / "eval.yml").write_text(
            EVAL.format(
                name=name,
                cost_limit=numbers.cost_limit,
                repetitions=numbers.repetitions,
                concurrency=numbers.concurrency,
                max_attempts=numbers.max_attempts,
                budget_usd=numbers.budget_usd,
            )
        )
    return CountingProject(target)


def _write_items(path: Path, numbers: Numbers) -> None:
    lines = []
    for number in range(1, numbers.items + 1):
        item = {"id": item_id(number), "input": {"number": f"<{number}>"}, "expected": f"<{number}>"}
        if number in numbers.fatal:
            item["metadata"] = {"fatal": True}
        lines.append(json.dumps(item))
    path.write_text("\n".join(lines) + "\n")


def _write_answers(path: Path, numbers: Numbers) -> None:
    lines = [json.dumps({"tamesu_recording": 1, "label": "made up for a test"})]
    for number in range(1, numbers.items + 1):
        turn: dict[str, object] = {"text": f"<{number}>"}
        if numbers.input_tokens is not None:
            turn["usage"] = {"input": numbers.input_tokens, "output": 0}
        if numbers.latency_seconds:
            turn["latency_seconds"] = numbers.latency_seconds
        lines.append(json.dumps({"item": item_id(number), "turns": [turn]}))
    path.write_text("\n".join(lines) + "\n")
