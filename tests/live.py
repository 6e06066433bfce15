"""Projects whose models are live: the provider's real client talks to a server on the loopback address."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import Literal

import yaml

from tests.inside import planned
from tests.projects import ROOT, Done, ShapesProject

EVAL = Path("cases/arithmetic/experiments/sums/evals/live")
Backend = Literal["inspect", "native"]
PRICE = "{input: 1.0, output: 4.0}"
TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import includes
from inspect_ai.solver import generate


@task
def sums(dataset: str) -> Task:
    return Task(dataset=json_dataset(dataset), solver=generate(), scorer=includes())
"""
MANIFEST = """\
name: live
question: Does the model add?
task: artifact_bundle
dataset: ../../../../datasets/sums/dataset.yml
execution:
  backend: inspect
  file: ../../inspect/task.py
  task: sums
  sources: [../../inspect/task.py]
  limits: {limits}
  artifacts: {{required: []}}
defaults: {defaults}
arms: [{{id: plain, prompts: {{user: ../../prompts/user.md.j2}}}}]
runs:
{runs}
evaluation:
  mechanical: [{{includes: {{pass_at: 1.0}}}}]
metrics: {{primary: "mean_score:includes"}}
"""
NATIVE = """\
name: live
question: Does the model add?
task: structured_text
dataset: ../../../../datasets/sums/dataset.yml
execution:
  backend: native
  limits: {limits}
defaults: {defaults}
arms: [{{id: plain, prompts: {{user: ../../prompts/user.md.j2}}}}]
runs:
{runs}
evaluation:
  mechanical: [exact_match]
metrics: {{primary: "mean_score:exact_match"}}
"""

# Route -> variables that hold its key and its base URL, and the path that its client wants behind the origin.
ROUTES: Mapping[str, tuple[str, str, str]] = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", ""),
    "bedrock": ("AWS_BEARER_TOKEN_BEDROCK", "BEDROCK_BASE_URL", ""),
    "google": ("GOOGLE_API_KEY", "GOOGLE_BASE_URL", ""),
    "grok": ("XAI_API_KEY", "XAI_BASE_URL", ""),
    "meta": ("META_API_KEY", "META_BASE_URL", "/v1"),
    "mistral": ("MISTRAL_API_KEY", "MISTRAL_BASE_URL", ""),
    "openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1"),
    "openai-api/local": ("LOCAL_API_KEY", "LOCAL_BASE_URL", "/v1"),
    "openrouter": ("OPENROUTER_API_KEY", "OPENROUTER_BASE_URL", "/v1"),
    "vllm": ("VLLM_API_KEY", "VLLM_BASE_URL", "/v1"),
}


@dataclass(frozen=True)
class Model:
    """One entry of `runs`."""

    provider: str
    name: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    repetitions: int = 1

    def line(self) -> str:
        entry = {"provider": self.provider, "model": self.name, "repetitions": self.repetitions}
        return f"  - {json.dumps({**entry, 'parameters': dict(self.parameters)})}"


@dataclass(frozen=True)
class LiveProject(ShapesProject):
    """A project of its own, and the environment that leads its routes to a server; the key is made for the test."""

    env: Mapping[str, str] = field(default_factory=dict)
    key: str = ""

    @property
    def eval(self) -> Path:
        return self.root / EVAL

    def live(self, *arguments: str, env: Mapping[str, str] | None = None, timeout: float = 300) -> Done:
        """Run tamesu with the keys and base URLs of the project's routes."""
        import sys

        return self.run_command(
            sys.executable, "-m", "tamesu", *arguments, env={**self.env, **(env or {})}, timeout=timeout
        )

    def runs(self) -> list[dict[str, object]]:
        """Return every run.yml, by run ID."""
        return [yaml.safe_load(path.read_text()) for path in sorted((self.eval / "runs").glob("*/run.yml"))]

    def attempts(self) -> list[dict[str, object]]:
        return [yaml.safe_load(path.read_text()) for path in sorted((self.eval / "runs").glob("*/attempts/*.yml"))]

    def results(self) -> dict[str, dict[str, object]]:
        """Return result.yml of every item; with several runs the last one counts."""
        found = sorted((self.eval / "runs").glob("*/items/*/result.yml"))
        return {path.parent.name: yaml.safe_load(path.read_text()) for path in found}

    def wire(self) -> list[dict[str, object]]:
        files = sorted((self.eval / "runs").glob("*/wire.jsonl"))
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]

    def plan(self) -> dict[str, object]:
        return planned(self.root, self.env)


def environment(url: str, providers: Sequence[str], key: str) -> dict[str, str]:
    """Return the variables that lead these routes to a server."""
    found: dict[str, str] = {}
    for provider in providers:
        key_name, url_name, path = ROUTES[provider]
        found |= {key_name: key, url_name: f"{url}{path}"}
    return found


def make(
    target: Path,
    url: str,
    models: Sequence[Model],
    *,
    items: int = 3,
    limits: str = "{cost_limit: 0.25, time_limit: 60}",
    defaults: Mapping[str, object] | None = None,
    task: str = TASK,
    price: str = PRICE,
    backend: Backend = "inspect",
) -> LiveProject:
    """Return a project of so many items over the given models, whose routes lead to `url`."""
    key = f"canary-{secrets.token_hex(16)}"
    base = {"concurrency": 2, "timeout_seconds": 20, "retries": 0, "budget_usd": 50.0}
    settings: dict[str, object] = {**base, "parameters": {"max_tokens": 100}, **(defaults or {})}
    experiment = target / EVAL.parent.parent
    files = {
        target / "config/config.yaml": "inspect_version: 0.3.285\n",
        target / "config/models.yml": "models:\n"
        + "".join(
            f"  - {{provider: {m.provider}, model: {m.name}, usd_per_million: {price}}}\n"
            for m in {(m.provider, m.name): m for m in models}.values()
        ),
        target / "cases/arithmetic/case.yml": "name: arithmetic\nquestion: Can it add?\n",
        target / "cases/arithmetic/README.md": "# Arithmetic\n",
        target / "cases/arithmetic/datasets/sums/dataset.yml": "name: sums\nitems:\n"
        + "".join(
            f"  - {{id: sum-{n:04d}, input: 'item {n:04d}: what is 2 + 2?', expected: '4'}}\n"
            for n in range(1, items + 1)
        ),
        experiment / "README.md": "# Sums\n",
        experiment / "prompts/user.md.j2": "{{ item.input }}\n",
        experiment / "inspect/task.py": dedent(task).lstrip(),
        target / EVAL / "eval.yml": (MANIFEST if backend == "inspect" else NATIVE).format(
            limits=limits, defaults=json.dumps(settings), runs="\n".join(model.line() for model in models)
        ),
        target / "Snakefile": (ROOT / "examples/shapes/Snakefile").read_text(),
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return LiveProject(target, environment(url, [model.provider for model in models], key), key)


def item(number: int) -> str:
    """Return the ID of an item by its number, from 1."""
    return f"sum-{number:04d}"


def task_with(body: str) -> str:
    """Return a task module whose solver is the given code, which may use `generate` and `solver`."""
    head = """
    from inspect_ai import Task, task
    from inspect_ai.dataset import json_dataset
    from inspect_ai.model import GenerateConfig, get_model
    from inspect_ai.scorer import includes
    from inspect_ai.solver import chain, generate, solver
    """
    tail = """
    @task
    def sums(dataset: str) -> Task:
        return Task(dataset=json_dataset(dataset), solver=own(), scorer=includes())
    """
    return f"{dedent(head)}\n\n{dedent(body)}\n\n{dedent(tail)}"


__all__ = ["LiveProject", "Model", "make", "task_with"]
