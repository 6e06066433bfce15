"""Projects with one mistake each, and the finding that must name it; reading findings back from their lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.projects import DATASET, EVAL, EXPERIMENT, ShapesProject

LINE = re.compile(
    r"(?P<file>[^:]+):(?P<line>\d+):(?P<column>\d+): (?P<severity>error|warning) "
    r"(?P<rule>[a-z-]+/[A-Za-z-]+) (?P<message>.+); (?P<fix>.+)"
)
MANIFEST = EVAL / "eval.yml"
CASE = Path("cases/shape-drawing/case.yml")
TASK = EXPERIMENT / "inspect/task.py"
RUBRIC = EXPERIMENT / "rubrics/drawing.yml"
SYSTEM = EXPERIMENT / "prompts/system.md"
TERSE = EXPERIMENT / "prompts/terse.md.j2"
ITEMS = DATASET.parent / "items.jsonl"
JUDGE = EXPERIMENT / "prompts/judge.md"
PROMPTED = "prompts: {user: ../../prompts/judge.md}"
CSV = DATASET.parent / "items.csv"
ANSWERS = EXPERIMENT / "recordings/answers.jsonl"
SCHEMA = EXPERIMENT / "schemas/out.json"
COMPOSE = EXPERIMENT / "inspect/compose.yaml"
LOCK = EXPERIMENT / "inspect/compose.lock.yml"
DOCKERFILE = EXPERIMENT / "inspect/Dockerfile"
CONFIG = Path("config/config.yaml")
PRICES = Path("config/models.yml")
EFFORTS = """\
models:
  - {provider: replay, model: sketcher-small, effort_values: [low, high]}
  - {provider: replay, model: sketcher-large, effort_values: [low]}
"""
TWO_DIMENSIONS = """\
name: two
dimensions:
  - {id: a, question: One, reason_codes: [x, z, x]}
  - {id: a, question: Two, reason_codes: []}
"""
PINNED = "python@sha256:" + "a" * 64
ONE_TASK = "generation: [../../inspect/task.py]"
RECORDINGS = "recordings: ../../recordings/answers.jsonl"
DATASET_LINE = "dataset: ../../../../datasets/scenes-v1/dataset.yml"

Edit = Callable[[ShapesProject], None]


@dataclass(frozen=True)
class Found:
    """A finding as read back from its line."""

    file: str
    line: int
    severity: str
    rule: str
    message: str


@dataclass(frozen=True)
class Case:
    """A project with mistakes, and where one of them must be told.

    `at` begins the line, `nth` counts the lines that begin so; an empty `at` is line 1.
    """

    rule: str
    edits: tuple[Edit, ...]
    at: str = ""
    file: Path = MANIFEST
    says: str = ""
    name: str = ""
    nth: int = 1


def swap(old: str, new: str, file: Path = MANIFEST) -> Edit:
    return lambda project: project.edit(file, old, new)


def write(file: Path, text: str | bytes) -> Edit:
    def edit(project: ShapesProject) -> None:
        target = project.path(file)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode() if isinstance(text, str) else text)

    return edit


def remove(file: Path) -> Edit:
    return lambda project: project.path(file).unlink()


def folder(file: Path) -> Edit:
    def edit(project: ShapesProject) -> None:
        project.path(file).unlink(missing_ok=True)
        project.path(file).mkdir()

    return edit


def rename(folder: Path, name: str) -> Edit:
    return lambda project: project.path(folder).rename(project.path(folder).with_name(name))


def source(file: Path, text: str) -> tuple[Edit, ...]:
    """Add a file beside the task and declare it."""
    return write(file, text), swap(ONE_TASK, f"{ONE_TASK[:-1]}, ../../inspect/{file.name}]")


def items_file(text: str) -> tuple[Edit, ...]:
    return write(DATASET, f"name: scenes\nitems_from: {ITEMS.name}\n"), write(ITEMS, text)


def csv_file(text: str) -> tuple[Edit, ...]:
    return write(DATASET, f"name: scenes\nitems_from: {CSV.name}\n"), write(CSV, text)


def judges(role: str, more: str = "") -> tuple[Edit, ...]:
    """Declare one more model judge, with `more` fields."""
    further = f", {more}" if more else ""
    judge = f"    - {{id: strict, provider: openai, model: judging, role: {role}{further}}}\n"

    def edit(project: ShapesProject) -> None:
        text = project.manifest.read_text()
        head = "  model_judges:\n"
        new = (
            text.replace(head, head + judge)
            if head in text
            else text.replace("  acceptance:\n", f"{head}{judge}  acceptance:\n")
        )
        project.manifest.write_text(new)

    return (edit,)


def findings(text: str) -> list[Found]:
    """Read every line of lint's output back; each must have the documented form."""
    found = []
    for line in text.splitlines():
        match = LINE.fullmatch(line)
        assert match is not None, line
        found.append(Found(match["file"], int(match["line"]), match["severity"], match["rule"], match["message"]))
    return found


def line_number(project: ShapesProject, case: Case) -> int:
    if not case.at:
        return 1
    lines = project.path(case.file).read_text().splitlines()
    return [number for number, line in enumerate(lines, 1) if line.lstrip().startswith(case.at)][case.nth - 1]


def case_id(case: Case) -> str:
    return f"{case.rule}:{case.name}" if case.name else case.rule
