"""A project of pictures: three products, two prompts, one recorded model whose answers are drawn here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.pictures.drawn import BROKEN, drawn
from tests.projects import ROOT, ShapesProject, results_by_arm

CASE = Path("cases/product-pictures")
EXPERIMENT = CASE / "experiments/wording"
EVAL = EXPERIMENT / "evals/replayed"
DATASET = CASE / "datasets/products-v1"
RECORDINGS = EXPERIMENT / "recordings"
ANSWERS = RECORDINGS / "answers.jsonl"
USAGE = {"input": 40, "output": 1200}
ITEMS = ("mug", "lamp", "chair", "knife")
MANIFEST = """\
name: replayed
question: Does the longer prompt give usable pictures more often?
task: image_generation
dataset: ../../../../datasets/products-v1/dataset.yml
defaults:
  concurrency: 2
  parameters: {image: {size: 32x24, output_format: png}, recordings: ../../recordings/answers.jsonl}
arms:
  - {id: short, prompts: {user: ../../prompts/short.md.j2}}
  - {id: long, prompts: {user: ../../prompts/long.md.j2}}
runs:
  - {provider: replay, model: painter}
evaluation:
  mechanical:
    - {decodable_image: {prerequisite: true}}
    - {min_resolution: {width: 32, height: 24}}
    - format_match
    - non_uniform
metrics:
  primary: generation_success_rate
  secondary: [safety_filter_rate, invalid_artifact_rate, mechanical_pass_rate, mechanical_pass_rate_given_image]
"""


@dataclass(frozen=True)
class Pictures(ShapesProject):
    """Four items under two arms: short gets a picture, a small jpeg, a refusal, broken bytes; long gets pictures."""

    @property
    def eval(self) -> Path:
        return self.root / EVAL

    def results(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Return every result by arm and item."""
        return results_by_arm(self.eval)

    def artifacts(self, arm: str, item: str) -> Path:
        return next((self.eval / "runs").glob(f"*--{arm}--*/items/{item}/artifacts"))


def recorded(target: Path, name: str, content: bytes) -> dict[str, str]:
    """Write a recorded picture below the recordings; return how a turn names it."""
    path = target / RECORDINGS / "pictures" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return {"file": f"pictures/{name}", "sha256": hashlib.sha256(content).hexdigest()}


def answers(target: Path) -> list[dict[str, Any]]:
    """Return the recorded turns of both arms, by arm and item."""
    short: Mapping[str, Mapping[str, Any]] = {
        "mug": {"pictures": [recorded(target, "mug.png", drawn())], "text": "Here is your mug."},
        "lamp": {"pictures": [recorded(target, "lamp.jpg", drawn("JPEG", (16, 16)))]},
        "chair": {"pictures": [recorded(target, "chair.png", BROKEN)]},
        "knife": {"text": "I cannot draw that.", "stop_reason": "content_filter"},
    }
    long = {item: {"pictures": [recorded(target, f"{item}-long.png", drawn(size=(40, 30)))]} for item in ITEMS}
    return [
        {"item": item, "arm": arm, "turns": [{**turn, "usage": USAGE}]}
        for arm, turns in (("short", short), ("long", long))
        for item, turn in turns.items()
    ]


def write_answers(target: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    header = {"tamesu_recording": 1, "label": "drawn for a test"}
    text = "".join(json.dumps(line) + "\n" for line in (header, *lines))
    (target / ANSWERS).write_text(text)


def pictures(target: Path) -> Pictures:
    """Return the project, fresh, at a folder."""
    files = {
        "config/config.yaml": "inspect_version: 0.3.285\n",
        CASE / "case.yml": "name: product-pictures\nquestion: Can a model picture our products?\n",
        CASE / "README.md": "# Product pictures\n",
        DATASET / "dataset.yml": "name: products\nitems:\n"
        + "".join(f"  - {{id: {item}, input: 'a {item} on a table'}}\n" for item in ITEMS),
        EXPERIMENT / "README.md": "# Wording\n",
        EXPERIMENT / "prompts/short.md.j2": "{{ item.input }}\n",
        EXPERIMENT / "prompts/long.md.j2": "A photograph of {{ item.input }}, in even light.\n",
        EVAL / "eval.yml": MANIFEST,
        "Snakefile": (ROOT / "examples/shapes/Snakefile").read_text(),
    }
    for path, text in files.items():
        place = target / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    write_answers(target, answers(target))
    return Pictures(target)
