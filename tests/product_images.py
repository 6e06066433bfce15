"""The product-images example as a project of its own; `python -m tests.product_images` writes its recorded review anew.

The entries of a review pack are named after run IDs, so another prompt, dataset or identity makes the committed answers
those of another pack.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import yaml

from tests import shared
from tests.projects import ROOT, ShapesProject

EXAMPLE = ROOT / "examples/product-images"
CASE = Path("cases/product-shots")
EXPERIMENT = CASE / "experiments/written-details"
EVAL = EXPERIMENT / "evals/replayed"
RECORDINGS = EXPERIMENT / "recordings"
REVIEW = RECORDINGS / "review-ada.yml"
DATASETS = CASE / "datasets"
EXPORT = ("review", "export", "replayed", "--reviewer", "ada", "--seed", "7")  # as its README says
IMPORT = ("review", "import", "replayed", REVIEW.as_posix())
HEAD = """\
# Answers to the pack that `tamesu review export replayed --reviewer ada --seed 7` makes. Synthetic: made up for this
# example by whoever drew the pictures, and no person reviewed anything.
"""


@dataclass(frozen=True)
class ProductImages(ShapesProject):
    """Nine products, two prompts, one recorded model, one recorded judge, one recorded review."""

    @property
    def eval(self) -> Path:
        return self.root / EVAL


def product_images(target: Path) -> ProductImages:
    """Return a copy of the example."""
    shutil.copytree(
        EXAMPLE, target, ignore=shutil.ignore_patterns(".tamesu", ".snakemake", "build", "runs", "__pycache__")
    )
    return ProductImages(target)


def close(target: Path) -> ProductImages:
    """Run, judge, review and close a copy of the example in `target`, all of it recorded, as its README says."""
    project = product_images(target)
    for command in (("run", "replayed"), ("judge", "replayed"), EXPORT, IMPORT, ("close", "replayed")):
        done = project.tamesu(*command)
        assert done.code == 0, done.out + done.err
    return project


def closed(target: Path) -> ProductImages:
    """Return a copy of the project that is run, reviewed and closed once per session."""
    shutil.copytree(shared.once("product-images", close), target, symlinks=True)
    return ProductImages(target)


def script() -> ModuleType:
    """Return the script that drew the pictures, as a module."""
    spec = importlib.util.spec_from_file_location("make_pictures", EXAMPLE / RECORDINGS / "make_pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclasses look for it
    spec.loader.exec_module(module)
    return module


def review_of(key: Path) -> str:
    """Return the answers to a pack: of each picture what the script that drew it knows of it."""
    drawn = script()
    record = yaml.safe_load(key.read_text())
    lines = [f'{HEAD}pack: "{record["pack"]}"\nreviews:\n']
    for entry, what in record["entries"].items():
        answers = drawn.ARMS[what["run_id"].split("--")[1]][what["item"]].answer
        lines.append(f'  - entry: "{entry}"\n    answers:\n')
        for dimension, answer in answers.items():
            reason = "" if answer["pass"] else f', reason: "{answer["reason"]}"'
            lines.append(f"      {dimension}: {{passed: {str(answer['pass']).lower()}{reason}}}\n")
    return "".join(lines)


def key_of(project: ShapesProject) -> Path:
    (key,) = (project.eval / "review/keys").glob("*.yml")
    return key


def _write() -> None:
    with tempfile.TemporaryDirectory() as place:
        project = product_images(Path(place) / "product-images")
        (project.root / REVIEW).unlink(missing_ok=True)
        for command in (("run",), EXPORT):
            subprocess.run(
                [sys.executable, "-m", "tamesu", *command],
                cwd=project.root,
                env={**os.environ},
                check=True,
                timeout=300,
            )
        (EXAMPLE / REVIEW).write_text(review_of(key_of(project)), encoding="utf-8")


if __name__ == "__main__":
    _write()
