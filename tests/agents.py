"""Copies of the tool-agent example, whose agent works in a real sandbox from recorded turns."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.projects import ROOT, ShapesProject

AGENT_EXAMPLE = ROOT / "examples" / "tool-agent"
EXPERIMENT = Path("cases/log-triage/experiments/shell-first")
EVAL = EXPERIMENT / "evals/replayed"
COMPOSE = EXPERIMENT / "inspect/compose.yaml"
PRICES = {"input": 1.0, "output": 4.0}, {"input": 3.0, "output": 15.0}


@dataclass(frozen=True)
class AgentProject(ShapesProject):
    """A copy of the example in a folder of its own."""

    @property
    def eval(self) -> Path:
        return self.root / EVAL

    @property
    def run(self) -> Path:
        """The folder of the only run."""
        (folder,) = [path for path in (self.eval / "runs").iterdir() if not path.name.startswith(".")]
        return folder

    def results(self) -> dict[str, dict[str, Any]]:
        """Return result.yml of every item."""
        found = sorted(self.run.glob("items/*/result.yml"))
        return {path.parent.name: yaml.safe_load(path.read_text()) for path in found}

    def record(self) -> dict[str, Any]:
        return yaml.safe_load((self.run / "run.yml").read_text())

    def attempt(self, number: int = 1) -> dict[str, Any]:
        return yaml.safe_load((self.run / "attempts" / f"{number:02d}.yml").read_text())

    def say(self, items: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        """Replace the agent's recorded turns, and ask these items alone."""
        lines: list[Mapping[str, Any]] = [{"tamesu_recording": 1, "label": "made up for a test"}]
        lines += [{"item": item, "turns": list(turns)} for item, turns in items.items()]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        self.path(EXPERIMENT / "recordings/turns.jsonl").write_text(text)
        self.edit(EVAL / "eval.yml", "items: all", f"items: {{ids: [{', '.join(items)}]}}")

    def pay(self) -> None:
        """Give both models a price, in US dollars per million tokens."""
        agent, grader = PRICES
        models = [
            {"provider": "replay", "model": "triage-agent", "usd_per_million": agent},
            {"provider": "replay", "model": "careful-grader", "usd_per_million": grader},
        ]
        self.path("config/models.yml").write_text(yaml.safe_dump({"models": models}))


def agent_project(target: Path, image: str | None = None) -> AgentProject:
    """Return a copy of the example, its sandbox of the given image."""
    shutil.copytree(
        AGENT_EXAMPLE, target, ignore=shutil.ignore_patterns(".tamesu", ".snakemake", "build", "runs", "__pycache__")
    )
    project = AgentProject(target)
    if image is not None:
        project.edit(COMPOSE, "debian:bookworm-slim", image)
    return project


def call(function: str, **arguments: Any) -> dict[str, Any]:
    return {"function": function, "arguments": arguments}


def turn(*calls: Mapping[str, Any], text: str = "", usage: tuple[int, int] = (100, 10), **more: Any) -> dict[str, Any]:
    """A recorded turn with tool calls; usage are tokens of input and output."""
    return {"text": text, "tool_calls": list(calls), "usage": {"input": usage[0], "output": usage[1]}, **more}
