"""What reviewers do with a pack, without a browser: read it, answer it, hand the answers in."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.cli.calling import Caller
from tests.projects import EVAL, Done, ShapesProject

NAME = "shape-drawing/prompt-wording/replayed"
DIMENSIONS = ("objects", "arrangement", "recognizable")
CODES = {"objects": "object-missing", "arrangement": "wrong-order", "recognizable": "unrecognizable"}


@dataclass(frozen=True)
class PackFolder:
    """A pack as it lies in its folder, and the key that stayed in the project."""

    folder: Path
    key_file: Path

    @property
    def page(self) -> str:
        return (self.folder / "review.html").read_text(encoding="utf-8")

    @property
    def data(self) -> dict[str, object]:
        """What the page holds of foreign text and files."""
        found = re.search(r'<script type="application/json" id="data">(.*?)</script>', self.page, re.DOTALL)
        assert found is not None
        return json.loads(found.group(1))

    @property
    def entries(self) -> list[dict[str, object]]:
        return self.data["entries"]

    @property
    def ids(self) -> list[str]:
        return [entry["id"] for entry in self.entries]

    @property
    def key(self) -> dict[str, object]:
        return yaml.safe_load(self.key_file.read_text())

    @property
    def name(self) -> str:
        return self.key_file.stem

    @property
    def archive(self) -> Path:
        return self.folder.with_name(f"{self.folder.name}.zip")


def export(call: Caller, project: ShapesProject, reviewer: str = "ada", *options: str) -> PackFolder:
    """Export a pack that must be one."""
    before = set(keys(project))
    done = call(project, "review", "export", NAME, "--reviewer", reviewer, *options)
    assert done.code == 0, done.out + done.err
    name = re.search(r": pack (\S+) with", done.out)
    assert name is not None, done.out
    folder = project.root / "build" / "review" / NAME / name.group(1)
    if "--output" in options:
        folder = project.root / options[options.index("--output") + 1]
    assert len(set(keys(project)) - before) <= 1
    return PackFolder(folder, project.eval / "review" / "keys" / f"{name.group(1)}.yml")


def keys(project: ShapesProject) -> list[Path]:
    return sorted((project.eval / "review" / "keys").glob("*.yml"))


Verdict = Callable[[str], bool]


def answers(passed: bool, **parts: Mapping[str, object]) -> dict[str, object]:
    """All dimensions answered alike; `parts` replace single ones."""
    one = {name: {"passed": passed, "reason": "none" if passed else CODES[name]} for name in DIMENSIONS}
    return {**one, **parts}


def responses(
    pack: PackFolder, verdict: Verdict = lambda entry: True, ids: Sequence[str] | None = None
) -> dict[str, object]:
    """What a reviewer hands in who answers entries by a rule."""
    chosen = pack.ids if ids is None else ids
    return {"pack": pack.name, "reviews": [{"entry": one, "answers": answers(verdict(one))} for one in chosen]}


def write(path: Path, content: Mapping[str, object]) -> Path:
    path.write_text(yaml.safe_dump(dict(content), sort_keys=False, allow_unicode=True))
    return path


def take_in(call: Caller, project: ShapesProject, *arguments: str | Path) -> Done:
    return call(project, "review", "import", NAME, *map(str, arguments))


def review_all(
    call: Caller, project: ShapesProject, reviewer: str, verdict: Verdict = lambda entry: True
) -> PackFolder:
    """Export, answer and import."""
    pack = export(call, project, reviewer)
    file = write(project.root / f"{reviewer}.yml", responses(pack, verdict))
    done = take_in(call, project, file)
    assert done.code == 0, done.out + done.err
    return pack


def records(project: ShapesProject) -> dict[str, dict[str, object]]:
    """Return the review records by their path in the project."""
    found = sorted(project.eval.glob("runs/*/items/*/reviews/*.yml"))
    return {str(path.relative_to(project.root)): yaml.safe_load(path.read_text()) for path in found}


def one_run_only(project: ShapesProject) -> ShapesProject:
    """Leave the evidence of two runs, so that packs are small."""
    for run in sorted((project.eval / "runs").glob("*--rep2--*")):
        shutil.rmtree(run)
    return project


def item_of(pack: PackFolder, entry: str) -> tuple[str, str]:
    found = pack.key["entries"][entry]
    return found["run_id"], found["item"]


def artifact(project: ShapesProject, run_id: str, item: str) -> Path:
    return project.path(EVAL) / "runs" / run_id / "items" / item / "artifacts"


def findings(done_out: str) -> list[tuple[str, str]]:
    """Return rule and message of each finding."""
    lines = [line.split(" error responses/", 1)[1] for line in done_out.splitlines() if " error responses/" in line]
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in lines]
