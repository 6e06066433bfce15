"""Projects that `tamesu new` made, for tests of what follows."""

from __future__ import annotations

from pathlib import Path

from tests.cli.calling import Caller

CASE = Path("cases/word-problems")
EXPERIMENT = CASE / "experiments/steps-first"
EVAL = EXPERIMENT / "evals/replayed"
NAME = "word-problems/steps-first/replayed"
STEPS = (("case", "word-problems"), ("experiment", "word-problems/steps-first"), ("eval", "steps-first/replayed"))


def begun(folder: Path, call: Caller, *review: str) -> Path:
    """Return a folder in which `tamesu new` was called for a case, an experiment and an eval."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind, name in STEPS:
        extra = review if kind == "experiment" else ()
        done = call(folder, "new", kind, name, *extra)
        assert (done.code, done.err) == (0, ""), done.out + done.err
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder by its relative path."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
