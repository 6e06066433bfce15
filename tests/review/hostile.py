"""Projects whose outputs say who made them, or want to be more than text: the inputs of C46 and worse."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.ingest.lab import lab, turn, work_off
from tests.projects import DATASET, EXPERIMENT, ShapesProject

ARMS = ("arm2", "candidate-b", "candidate-a")
RUBRIC = {
    "name": "visual",
    "dimensions": [
        {"id": "good", "question": "Is it good?", "reason_codes": ["bad"]},
        {"id": "constructor", "question": "?"},
    ],
    "acceptance": {"rule": "all_dimensions_pass"},
}
TASK = '''\
"""The answer says what is staged; the prompt's length, which differs by arm, is the size of a picture."""

import io

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import Score, mean, scorer
from inspect_ai.solver import generate
from PIL import Image, PngImagePlugin

from tamesu.inspect_support import stager


def picture(side, kind):
    image = Image.new("RGBA", (side, side), (side % 256, 30, 30, 90 if kind == "glass" else 255))
    buffer = io.BytesIO()
    if kind == "jpeg":
        exif = Image.Exif()
        exif[0x0131] = "candidate-b 1.0"
        image.convert("RGB").save(buffer, "JPEG", exif=exif, comment=b"arm2")
    else:
        info = PngImagePlugin.PngInfo()
        info.add_text("parameters", "candidate-b")
        image.save(buffer, "PNG", pnginfo=info)
    return buffer.getvalue()


@task
def probe(dataset):
    return Task(dataset=json_dataset(dataset), solver=[generate()], scorer=[rate()])


@scorer(metrics=[mean()])
def rate():
    async def score(state, target):
        text = state.output.choices[0].message.text
        side = 40 + len(state.messages[0].text)
        stage = stager(state.sample_id)
        if text == "jpeg":
            stage.add("render", "arm2_003.jpg", picture(side, "jpeg"), "image/jpeg")
        elif text in ("png", "glass"):
            stage.add("render", "arm2_003.png", picture(side, text), "image/png")
        else:
            stage.add("source", "candidate-b.html", text, "text/html")
        if text == "sound":
            chunk = b"LIST" + (12).to_bytes(4, "little") + b"INFOcandidat"
            sound = b"fmt " + (16).to_bytes(4, "little") + bytes([1, 0, 1, 0, 64, 31, 0, 0, 64, 31, 0, 0, 1, 0, 8, 0])
            sound += chunk + b"data" + (4).to_bytes(4, "little") + bytes([128, 129, 128, 127])
            sound = b"RIFF" + (len(sound) + 4).to_bytes(4, "little") + b"WAVE" + sound
            stage.add("speech", "speech.wav", sound, "audio/wav")
        elif text == "tagged":
            sound = b"ID3" + bytes([4, 0, 0, 0, 0, 0, 0]) + b"by candidate-b" + bytes([255, 251, 144, 0])
            stage.add("speech", "speech.mp3", sound, "audio/mpeg")
        return Score(value=1.0)

    return score
'''


def hostile(
    target: Path,
    items: Mapping[str, str],
    review: object = "render",
    inputs: Mapping[str, Any] | None = None,
    rubric: Mapping[str, Any] = RUBRIC,
    arms: tuple[str, ...] = ARMS,
    assets: Mapping[str, bytes] | None = None,
) -> ShapesProject:
    """A banked project of one run per arm; `items` maps an item to what its task stages.

    `assets` are files that go with every item.
    """
    artifacts = {"required": [], "allowed": ["render", "source", "speech"], "review": review}
    prompts = {arm: f"../../prompts/{arm}.md" for arm in arms}
    changes = {
        "execution": {"artifacts": artifacts},
        "arms": [{"id": arm, "description": "One.", "prompts": {"system": path}} for arm, path in prompts.items()],
        "runs": [{"provider": "replay", "model": "echo-maker/parrot-large", "arms": list(arms)}],
        "evaluation": {
            "human_review": {"rubric": "../../rubrics/visual.yml"},
            "acceptance": {"requires": ["mechanical", "human"], "human": {"required_reviews_per_item": 1}},
        },
        "metrics": {"primary": "render_rate"},
    }
    project = lab(target, {name: turn(text) for name, text in items.items()}, task=TASK, changes=changes, inputs=inputs)
    (project.path(EXPERIMENT) / "rubrics").mkdir()
    (project.path(EXPERIMENT) / "prompts").mkdir()
    (project.path(EXPERIMENT) / "rubrics" / "visual.yml").write_text(yaml.safe_dump(dict(rubric), allow_unicode=True))
    for number, arm in enumerate(arms):
        (project.path(EXPERIMENT) / "prompts" / f"{arm}.md").write_text("Draw." + "!" * 10 * number)
    if assets:
        _add_assets(project, assets)
    worked = work_off(project)
    assert worked.error is None, worked.told
    return project


def _add_assets(project: ShapesProject, assets: Mapping[str, bytes]) -> None:
    folder = project.path(DATASET).parent
    for name, content in assets.items():
        (folder / name).write_bytes(content)
    lines = (folder / "items.jsonl").read_text().splitlines()
    items = [{**json.loads(line), "assets": list(assets)} for line in lines]
    (folder / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
