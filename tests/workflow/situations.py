"""What the tests of the behaviour table share: bills, digests of evidence, clones, small projects."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import random
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.projects import EVAL, EXPERIMENT, PRICES, ROOT, ShapesProject, fresh

PAY = ("pay_usd=20",)
PAYING = ("--config", "pay_usd=20")
BANKED_USD = 0.042866  # what the recorded usage of 8 runs x 3 items costs at the prices of the tests
RUNS, CALLS = 8, 24
VIEWS = {"metrics": 1, "report": 1, "present": 1}
PAGE = Path("build/shape-drawing/prompt-wording/replayed.html")
CASE_PAGE = Path("build/shape-drawing/index.html")
DERIVED = (
    EVAL / "tables/items.csv",
    EVAL / "tables/runs.csv",
    EVAL / "tables/items.parquet",
    EVAL / "tables/runs.parquet",
    EVAL / "leaderboard.md",
    EVAL / "evaluation-report.md",
    PAGE,
    CASE_PAGE,
)
ANSWERS = EXPERIMENT / "recordings/answers.jsonl"
HEADER = json.dumps({"tamesu_recording": 1, "label": "recorded for a test"})
DRAWING = json.dumps(
    {
        "canvas": {"width": 40, "height": 40, "background": "white"},
        "shapes": [{"kind": "circle", "cx": 20, "cy": 20, "radius": 9, "color": "red"}],
    }
)
_VIEWS_BESIDE_EVIDENCE = {"report.yml"}


@dataclass(frozen=True)
class Bill:
    """What was asked and paid up to a moment."""

    calls: int
    usd: float

    def plus(self, calls: int, usd: float) -> Bill:
        return Bill(self.calls + calls, round(self.usd + usd, 9))


def bill(project: ShapesProject) -> Bill:
    return Bill(len(project.calls()), project.spent())


def digests(folder: Path) -> dict[str, str]:
    """Return the digest of every file below a folder, by its relative path."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def evidence(project: ShapesProject) -> dict[str, str]:
    """Return the digests of runs, call logs and ledger: all that must never be lost or changed."""
    found = digests(project.eval)
    kept = ("runs/", "logs/", "ledger.jsonl")
    return {
        name: sha256
        for name, sha256 in found.items()
        if name.startswith(kept) and Path(name).name not in _VIEWS_BESIDE_EVIDENCE
    }


def kept(before: dict[str, str], after: dict[str, str], appended: Iterable[str] = ()) -> bool:
    """Return whether every file of `before` is still there unchanged, append-only files aside."""
    return all(after.get(name) == sha256 for name, sha256 in before.items() if name not in set(appended))


def derived(project: ShapesProject) -> dict[str, bytes]:
    return {path.as_posix(): project.path(path).read_bytes() for path in DERIVED}


def clone(project: ShapesProject, target: Path, without: Sequence[str]) -> ShapesProject:
    """Return a copy without the folders of those names, with the file times of a checkout: now."""
    shutil.copytree(project.root, target, ignore=shutil.ignore_patterns(*without), copy_function=shutil.copyfile)
    return ShapesProject(target)


def forget(project: ShapesProject, *names: str) -> None:
    """Remove what is no evidence: caches, plans, Snakemake's own memory."""
    for name in names:
        shutil.rmtree(project.path(name), ignore_errors=True)


def files(project: ShapesProject) -> list[Path]:
    return sorted(path for path in project.root.rglob("*") if path.is_file() and not path.is_symlink())


def set_times(paths: Iterable[Path], when: float) -> None:
    for path in paths:
        os.utime(path, (when, when))


def random_times(project: ShapesProject, seed: int) -> None:
    """Give every file a time between 2001 and one that lies a year ahead."""
    draw = random.Random(seed)
    for path in files(project):
        set_times([path], draw.uniform(978_307_200, path.stat().st_mtime + 365 * 86_400))


def found(project: ShapesProject, kind: str) -> dict[str, list[str]]:
    """Return the causes of the runs of that kind which serve no slot."""
    return {run["run_id"]: run["causes"] for run in project.plan()["found"] if run["kind"] == kind}


def owed(project: ShapesProject) -> list[str]:
    return [run["run_id"] for run in project.plan()["runs"] if run["state"] == "owed"]


def lines_about(text: str, word: str) -> list[str]:
    """Return the distinct lines of ours that hold a word."""
    return list(dict.fromkeys(line for line in text.splitlines() if line.startswith("tamesu: ") and word in line))


def rows(project: ShapesProject, table: str) -> list[dict[str, str]]:
    """Return a table with every cell as text."""
    with project.path(EVAL / "tables" / table).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def one_run(target: Path, items: tuple[str, ...] | None = None, paid: bool = True) -> ShapesProject:
    """Return a fresh project of one run: the small model, the terse arm, one repetition."""
    project = fresh(target, paid=paid) if items is None else fresh(target, items, paid=paid)
    project.edit_eval("repetitions: 2", "repetitions: 1")
    project.edit_eval(
        "model: sketcher-small\n    arms: [terse, worked-example]", "model: sketcher-small\n    arms: [terse]"
    )
    project.edit_eval("  - provider: replay\n    model: sketcher-large\n    arms: [terse, worked-example]\n", "")
    return project


def answer(item: str, *, error: str | None = None, **filters: object) -> str:
    """Return a line of recordings: a red circle for an item, or the error that is raised instead."""
    turn: dict[str, object] = {"text": DRAWING, "usage": {"input": 100, "output": 50}}
    if error is not None:
        turn = {"error": error}
    return json.dumps({"item": item, "turns": [turn], **filters})


def record_answers(project: ShapesProject, lines: Iterable[str], relative: Path = ANSWERS) -> None:
    project.path(relative).write_text("\n".join([HEADER, *lines]) + "\n")


def own_workflow(project: ShapesProject) -> Path:
    """Copy the packaged workflow into the project and return its Snakefile."""
    folder = project.path("workflow")
    shutil.copytree(ROOT / "rules", folder / "rules")
    shutil.copy(ROOT / "Snakefile", folder / "Snakefile")
    shutil.copytree(ROOT / "profiles", folder / "profiles")
    return folder / "Snakefile"


def add_price(project: ShapesProject, model: str) -> None:
    line = f"  - {{provider: replay, model: {model}, usd_per_million: {{input: 1.0, output: 4.0}}}}\n"
    project.path("config/models.yml").write_text(PRICES + line)
