"""The tickets example, fresh or with other answers, as a project of its own."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.projects import ROOT, ShapesProject, results_by_arm

EXAMPLE = ROOT / "examples/support-tickets"
EXPERIMENT = Path("cases/ticket-routing/experiments/definitions")
EVAL = EXPERIMENT / "evals/replayed"
ANSWERS = EXPERIMENT / "recordings/answers.jsonl"
ITEMS = Path("cases/ticket-routing/datasets/tickets-v1/items.jsonl")


@dataclass(frozen=True)
class Tickets(ShapesProject):
    """24 tickets, two prompts, one recorded model."""

    @property
    def eval(self) -> Path:
        return self.root / EVAL

    def results(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Return every result by arm and item."""
        return results_by_arm(self.eval)

    def rows(self) -> list[dict[str, str]]:
        with (self.eval / "tables/items.csv").open() as table:
            return list(csv.DictReader(table))

    def answer(self, item: str, turn: Mapping[str, Any]) -> None:
        """Record another answer for an item under both arms."""
        path = self.root / ANSWERS
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        for line in lines:
            if line.get("item") == item:
                line["turns"] = [dict(turn)]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def tickets(target: Path, items: int | None = None) -> Tickets:
    """Return a copy of the example, with only the first items where a number is given."""
    shutil.copytree(
        EXAMPLE, target, ignore=shutil.ignore_patterns(".tamesu", ".snakemake", "build", "runs", "__pycache__")
    )
    project = Tickets(target)
    if items is not None:
        project.edit(EVAL / "eval.yml", "items: all", f"items: {{first: {items}}}")
    return project
