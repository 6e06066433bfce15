"""A picture eval over live clients with references and assets: what is sent is what was frozen."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest

from tests.live import EVAL, LiveProject, Model, make
from tests.pictures.drawn import drawn
from tests.pictures.replies import TOOL, drawing, encoded, gemini, http, inline, message, responses, sent_pictures
from tests.servers import ModelServer
from tests.servers.model_server import Received
from tests.shared import made_once

DATASET = Path("cases/arithmetic/datasets/sums")
PRODUCT, SHARED, OWN = drawn(size=(11, 11)), drawn("JPEG", (12, 12)), drawn("GIF", (13, 13))
MODELS = [
    Model("google", "gemini-image", {"image": {"size": "1024x1024"}}),
    Model("openai", "gpt-5", {"image": {"size": "1024x1024", "output_format": "png"}}),
]


def project_of(target: Path, url: str) -> LiveProject:
    """Return a project of three items for two models, with a reference, a shared asset and one of an item."""
    project = make(target, url, MODELS, backend="native", defaults={"budget_usd": 900.0, "retries": 0})
    manifest = EVAL / "eval.yml"
    project.edit(manifest, "task: structured_text", "task: image_generation")
    project.edit(manifest, "[exact_match]", "[decodable_image, {min_resolution: {width: 20, height: 20}}]")
    project.edit(manifest, "mean_score:exact_match", "generation_success_rate")
    project.edit(
        manifest, "user.md.j2}}", "user.md.j2}, references: [{path: ../../references/cup.png, role: product}]}"
    )
    places = {
        EVAL.parent.parent / "references/cup.png": PRODUCT,
        DATASET / "style.jpg": SHARED,
        DATASET / "own.gif": OWN,
    }
    for path, content in places.items():
        project.path(path).parent.mkdir(exist_ok=True)
        project.path(path).write_bytes(content)
    project.edit(DATASET / "dataset.yml", "name: sums\n", "name: sums\nshared_assets: [style.jpg]\n")
    project.edit(DATASET / "dataset.yml", "{id: sum-0002,", "{assets: [own.gif], id: sum-0002,")
    return project


def answer(received: Received) -> tuple[int, dict[str, str], bytes]:
    """Draw for the first two items; withhold the third."""
    prompt = json.dumps(received.body)
    if "contents" in (received.body or {}):
        if "item 0003" in prompt:
            return http(gemini(finish="IMAGE_SAFETY"))
        return http(gemini([inline(drawn())]))
    if "item 0003" in prompt:
        return http(responses(message(type="refusal", refusal="I will not."), tool=None))
    return http(responses(drawing(encoded(drawn())), tool=TOOL))


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> LiveProject:
    """The project with its runs over; the requests that arrived lie beside it."""

    def run(target: Path) -> None:
        with ModelServer(instead=answer, models=tuple(model.name for model in MODELS)) as server:
            project = project_of(target, server.url)
            ended = project.live("run")
            assert ended.code == 0, ended.out + ended.err
            sent = [[json.dumps(call.body), sent_pictures(call)] for call in server.calls]
        (target / "sent.json").write_text(json.dumps(sent))
        (target / "env.json").write_text(json.dumps(dict(project.env)))

    folder = made_once(tmp_path_factory, "sent-pictures", run)
    return LiveProject(folder, json.loads((folder / "env.json").read_text()))


def test_two_routes_bank_with_pictures_and_without_drift(done: LiveProject) -> None:
    runs = {run["model"]: (run["state"], run["complete"]) for run in done.runs()}
    assert runs == {"gemini-image": ("complete", 3), "gpt-5": ("complete", 3)}
    assert [attempt["wire"]["differences"] for attempt in done.attempts()] == [[], []]
    outcomes = {(path.parts[-4].split("--")[0], path.parent.name): status(path) for path in results(done)}
    assert outcomes == {
        (model, f"sum-000{number}"): "safety_filtered" if number == 3 else "generated"
        for model in ("gemini-image", "gpt-5")
        for number in (1, 2, 3)
    }


def results(project: LiveProject) -> list[Path]:
    return sorted((project.eval / "runs").glob("*/items/*/result.yml"))


def status(path: Path) -> str:
    return next(line.split(": ")[1] for line in path.read_text().splitlines() if line.startswith("  status: "))


def test_references_come_before_assets_and_each_item_has_its_own(done: LiveProject) -> None:
    shared = [base64.b64encode(one).decode() for one in (PRODUCT, SHARED)]
    own = base64.b64encode(OWN).decode()
    for prompt, pictures in json.loads((done.root / "sent.json").read_text()):
        assert pictures == ([*shared, own] if "item 0002" in prompt else shared)


def test_what_goes_with_a_prompt_is_told_before_and_after(done: LiveProject) -> None:
    (first,) = done.plan()["first_items"]
    names = [Path(file["path"]).name for file in first["files"]]
    assert names == [Path(one).name for one in told_files(done)]
    assert [file["sha256"] for file in first["files"]] == [hashlib.sha256(one).hexdigest() for one in (PRODUCT, SHARED)]
    page = done.path("build/arithmetic/index.html").read_text()
    assert all(f"{file['path']} (sha256 {file['sha256'][:12]})" in page for file in first["files"])


def told_files(project: LiveProject) -> list[str]:
    """The files that `tamesu plan` names below the first prompt."""
    return re.findall(r"^  file   \| (\S+) \(sha256 [0-9a-f]{12}\)$", project.live("plan").out, re.MULTILINE)


def test_the_frozen_dataset_names_the_pictures_and_the_wire_log_holds_none(done: LiveProject) -> None:
    for private in (done.eval / "runs").glob("*/inspect"):
        records = [json.loads(line) for line in (private / "input.jsonl").read_text().splitlines()]
        assert [len(record["pictures"]) for record in records] == [2, 3, 2]
        assert {path.name for path in (private / "pictures").iterdir()} == {
            name for record in records for name in record["pictures"]
        }
    for wire in (done.eval / "runs").glob("*/wire.jsonl"):
        assert base64.b64encode(PRODUCT).decode()[:30] not in wire.read_text()


def test_a_changed_byte_of_a_reference_or_an_asset_owes_every_run(done: LiveProject) -> None:
    for path, content in ((EVAL.parent.parent / "references/cup.png", PRODUCT), (DATASET / "own.gif", OWN)):
        place = done.path(path)
        place.write_bytes(content + b"\0")
        assert {run["state"] for run in done.plan()["runs"]} == {"owed"}
        place.write_bytes(content)
    assert {run["state"] for run in done.plan()["runs"]} == {"banked"}


def test_what_is_no_picture_blocks_the_run_in_one_line(tmp_path: Path) -> None:
    project = project_of(tmp_path / "p", "http://127.0.0.1:1")
    project.path(DATASET / "own.gif").write_text("a text")
    told = project.live("run")
    assert told.code == 2
    asset = (DATASET / "own.gif").as_posix()
    assert f"asset '{asset}' cannot be sent: backend 'native' sends pictures alone, as PNG, JPEG" in told.err
