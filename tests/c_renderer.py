"""The c-renderer example for tests: copies of it, and what each recorded answer must come to."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

from tests import projects

EXAMPLE = projects.ROOT / "examples" / "c-renderer"
EXPERIMENT = Path("cases/c-pictures/experiments/asked-once")
COMPOSE = EXPERIMENT / "inspect/compose.yaml"
EVAL = EXPERIMENT / "evals/replayed"
TAG = "gcc:14-bookworm"


class End(NamedTuple):
    """How an item must end: its score, why, and the last role that is staged."""

    score: float
    reason: str
    last: str


ROLES = ("response", "source", "compiler-log", "run-log", "render")
ENDS = {
    "red-disc": End(1.0, "none", "render"),
    "two-halves": End(1.0, "none", "render"),
    "white-cross": End(1.0, "none", "render"),
    "chessboard": End(0.8, "wrong_content", "render"),
    "black-border": End(0.6, "wrong_size", "render"),
    "magenta-sheet": End(0.6, "copy_failed", "compiler-log"),
    "three-stripes": End(0.4, "run_failed", "run-log"),
    "diagonal": End(0.4, "run_timeout", "run-log"),
    "green-ring": End(0.4, "run_timeout", "run-log"),
    "night-sky": End(0.4, "run_failed", "run-log"),
    "gray-steps": End(0.4, "run_failed", "run-log"),
    "gray-sheet": End(0.4, "run_failed", "run-log"),
    "blue-square": End(0.2, "compile_error", "compiler-log"),
    "nested-frames": End(0.2, "compile_timeout", "source"),
    "horizon": End(0.0, "unsafe_file_name", "response"),
}


def staged(end: End) -> list[str]:
    """Return the roles that an item must have: all up to its last."""
    return list(ROLES[: ROLES.index(end.last) + 1])


def copy(target: Path, image: str | None = None) -> projects.ShapesProject:
    """Return a copy of the example, its sandbox of another image where one is given."""
    shutil.copytree(
        EXAMPLE, target, ignore=shutil.ignore_patterns(".tamesu", ".snakemake", "build", "runs", "__pycache__")
    )
    project = projects.ShapesProject(target)
    if image is not None:
        project.edit(COMPOSE, f"image: {TAG}", f"image: {image}")
    return project
