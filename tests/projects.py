"""Projects for tests: copies of the shapes example, run for real with recorded answers.

Banked projects are made once per session (tests/shared.py) and copied, so that a test pays only for what it changes.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.inside import planned

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "shapes"
EVAL = Path("cases/shape-drawing/experiments/prompt-wording/evals/replayed")
EXPERIMENT = EVAL.parent.parent
DATASET = Path("cases/shape-drawing/datasets/scenes-v1/dataset.yml")
ITEMS = ("red-sun", "three-stripes", "crossed-lines")
PRICES = """\
models:
  - {provider: replay, model: sketcher-small, usd_per_million: {input: 1.0, output: 4.0}}
  - {provider: replay, model: sketcher-large, usd_per_million: {input: 3.0, output: 15.0}}
"""


@dataclass(frozen=True)
class Done:
    """A finished command."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class ShapesProject:
    """A copy of the example in a folder of its own."""

    root: Path

    @property
    def eval(self) -> Path:
        return self.root / EVAL

    @property
    def manifest(self) -> Path:
        return self.eval / "eval.yml"

    def path(self, relative: str | Path) -> Path:
        return self.root / relative

    def run_command(self, *command: str, env: Mapping[str, str] | None = None, timeout: float = 300) -> Done:
        """Run a command in the project, offline by construction, and return its end."""
        done = subprocess.run(
            command,
            cwd=self.root,
            env={**os.environ, "COLUMNS": "160", **(env or {})},
            capture_output=True,
            text=True,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def tamesu(self, *arguments: str, env: Mapping[str, str] | None = None) -> Done:
        return self.run_command(sys.executable, "-m", "tamesu", *arguments, env=env)

    def snakemake(self, *arguments: str) -> Done:
        return self.run_command(sys.executable, "-m", "snakemake", *arguments)

    def jobs(self, *targets: str, config: tuple[str, ...] = ()) -> dict[str, int]:
        """Return the jobs that `snakemake -n` lists, by rule, the total left out."""
        extra = ("--config", *config) if config else ()
        done = self.snakemake("-n", *extra, *(("--", *targets) if targets else ()))
        assert done.code == 0, done.out + done.err
        table = re.findall(r"^(\w+) +(\d+)$", done.out + done.err, flags=re.MULTILINE)
        return {rule: int(count) for rule, count in table if rule not in {"total", "all"}}

    def calls(self) -> list[dict[str, object]]:
        """Return the calls that replay served so far, in order."""
        path = self.root / ".tamesu" / "replay-calls.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def ledger(self) -> list[dict[str, object]]:
        path = self.eval / "ledger.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def spent(self) -> float:
        """Return what the ledger says was spent and lost, in US dollars."""
        settled = [entry for entry in self.ledger() if entry["event"] == "settled"]
        return round(sum(float(e["spent_usd"]) + float(e["lost_usd"]) for e in settled), 9)

    def edit(self, relative: str | Path, old: str, new: str) -> None:
        """Replace a text that must be there."""
        path = self.root / relative
        text = path.read_text()
        assert old in text, f"{relative} does not hold {old!r}"
        path.write_text(text.replace(old, new))

    def edit_eval(self, old: str, new: str) -> None:
        self.edit(EVAL / "eval.yml", old, new)

    def run_ids(self) -> set[str]:
        return {path.parent.name for path in (self.eval / "runs").glob("*/run.yml")}

    def plan(self) -> dict[str, object]:
        """Return `tamesu plan --json` of the eval."""
        return planned(self.root)

    def states(self) -> dict[str, int]:
        """Return how many slots stand in each state."""
        counts: dict[str, int] = {}
        for run in self.plan()["runs"]:
            counts[run["state"]] = counts.get(run["state"], 0) + 1
        return counts

    def record(self, run_id: str) -> dict[str, object]:
        return yaml.safe_load((self.eval / "runs" / run_id / "run.yml").read_text())


def results_by_arm(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Return every result of an eval by arm and item."""
    found = sorted((folder / "runs").glob("*/items/*/result.yml"))
    return {(path.parents[2].name.split("--")[1], path.parent.name): yaml.safe_load(path.read_text()) for path in found}


def fresh(target: Path, items: tuple[str, ...] | None = ITEMS, paid: bool = False) -> ShapesProject:
    """Return a copy of the example in `target`, with fewer items unless None, and prices when paid."""
    shutil.copytree(
        EXAMPLE, target, ignore=shutil.ignore_patterns(".tamesu", ".snakemake", "build", "runs", "__pycache__")
    )
    project = ShapesProject(target)
    if items is not None:
        project.edit_eval("items: all", f"items: {{ids: [{', '.join(items)}]}}")
    if paid:
        (target / "config" / "models.yml").write_text(PRICES)
        project.edit_eval("budget_usd: 1.00", "budget_usd: 20.00")
    return project


def bank(target: Path, paid: bool = False) -> ShapesProject:
    """Return a project of 8 runs x 3 items that was run for real in `target`: all of it is banked."""
    project = fresh(target, paid=paid)
    done = project.tamesu("run")
    assert done.code == 0, done.out + done.err
    return project


def copied(template: Path, target: Path) -> ShapesProject:
    """Return a copy of a project with its file times."""
    shutil.copytree(template, target, symlinks=True)
    return ShapesProject(target)
