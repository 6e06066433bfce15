"""Evidence that came with a package says what its maker wants: it names no place outside its run to anybody's harm."""

from __future__ import annotations

import hashlib
import html
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from tamesu.base.model.review import PackKey
from tamesu.edge.store.records import read_record
from tamesu.edge.store.seal import dump_sealed
from tests.cli.calling import Caller
from tests.packages.snapshots import snapshot
from tests.projects import ShapesProject
from tests.review.packs import NAME, export, responses, take_in, write
from tests.sealing import write_sealed

SECRET = "a-secret-of-this-machine"
READING = ("status", "plan", "report replayed", "present shape-drawing", "review status", "list", "leaderboard")


def first_item(project: ShapesProject) -> Path:
    return sorted((project.eval / "runs").glob("*/items/*/result.yml"))[0].parent


def forged(item: Path, change: Callable[[dict[str, Any], dict[str, Any]], object]) -> None:
    """Change a result and the inventory of its run, so that every digest still fits."""
    record_file, result_file = item.parent.parent / "run.yml", item / "result.yml"
    record, result = yaml.safe_load(record_file.read_text()), yaml.safe_load(result_file.read_text())
    entry = record["items"][item.name]
    change(entry, result)
    result_file.write_text(yaml.safe_dump(result, sort_keys=False))
    entry["result"] = hashlib.sha256(result_file.read_bytes()).hexdigest()
    write_sealed(record_file, record)


def written_pages(project: ShapesProject) -> str:
    """Everything that commands made of the evidence."""
    pages = [*project.path("build").rglob("*"), *project.eval.glob("*.md"), *project.eval.glob("tables/*.csv")]
    return html.unescape("".join(path.read_text(errors="replace") for path in pages if path.is_file()))


@pytest.fixture
def secret(banked_shapes: ShapesProject) -> Path:
    path = banked_shapes.root.parent / "secret.txt"
    path.write_text(SECRET)
    return path


def outward(item: Path, secret: Path) -> str:
    return os.path.relpath(secret, item)


@pytest.mark.parametrize("in_inventory", [False, True], ids=["result alone", "result and inventory"])
@pytest.mark.parametrize("absolute", [False, True], ids=["parent", "absolute"])
def test_an_artifact_outside_its_run_is_shown_nowhere(
    absolute: bool, in_inventory: bool, banked_shapes: ShapesProject, secret: Path, call: Caller
) -> None:
    item = first_item(banked_shapes)
    place = str(secret) if absolute else outward(item, secret)
    sha256 = hashlib.sha256(secret.read_bytes()).hexdigest()

    def forge(entry: dict[str, Any], result: dict[str, Any]) -> None:
        artifact = {**result["artifacts"][0], "path": place, "sha256": sha256, "media_type": "text/plain"}
        result["artifacts"].append(artifact)
        if in_inventory:
            entry["artifacts"][place] = sha256

    forged(item, forge)
    for command in READING:
        done = call(banked_shapes, *command.split())
        assert SECRET not in done.out + done.err, command
        assert "Traceback" not in done.out + done.err, command
    call(banked_shapes, "review", "export", NAME, "--reviewer", "ada")
    assert SECRET not in written_pages(banked_shapes)
    told = call(banked_shapes, "status")
    line = "leads out of its run" if in_inventory else "which run.yml does not hold so"
    assert line in told.out + told.err + call(banked_shapes, "present", "shape-drawing").err


def test_a_result_of_another_item_is_refused(banked_shapes: ShapesProject, secret: Path, call: Caller) -> None:
    item = first_item(banked_shapes)
    forged(item, lambda entry, result: result.update(item=outward(item.parent, secret.parent)))
    done = call(banked_shapes, "present", "shape-drawing")
    assert "is of item '../" in done.out + done.err + written_pages(banked_shapes)


def test_c37_aliases_in_evidence_unfold_to_nothing(banked_shapes: ShapesProject, call: Caller) -> None:
    item = first_item(banked_shapes)
    layers = ["raw0: &a0 [x]"] + [f"raw{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    (item / "result.yml").write_text("\n".join(layers) + "\n")
    record_file = item.parent.parent / "run.yml"
    record = yaml.safe_load(record_file.read_text())
    record["items"][item.name]["result"] = hashlib.sha256((item / "result.yml").read_bytes()).hexdigest()
    write_sealed(record_file, record)
    done = call(banked_shapes, "present", "shape-drawing")
    assert "it holds a YAML alias" in done.out + done.err + written_pages(banked_shapes)


def test_a_text_with_stars_and_ands_is_no_alias(banked_shapes: ShapesProject, call: Caller) -> None:
    item = first_item(banked_shapes)

    def forge(entry: dict[str, Any], result: dict[str, Any]) -> None:
        for score in result["scores"].values():
            score["explanation"] = "*bold* and\n*list & more\n- *point"

    forged(item, forge)
    assert call(banked_shapes, "status").out.startswith(f"{NAME}: awaiting review; 8/8 runs banked")


@pytest.mark.parametrize("field", ["reviewer", "run_id", "item"])
def test_a_key_of_a_pack_that_would_write_elsewhere_is_refused(
    field: str, banked_shapes: ShapesProject, call: Caller, tmp_path: Path
) -> None:
    pack = export(call, banked_shapes)
    answers = write(tmp_path / "responses.yml", responses(pack))
    key = read_record(pack.key_file, PackKey)
    if field == "reviewer":
        key = replace(key, reviewer="../../../../../../../../../../outside/ada")
    else:
        name, entry = next(iter(key.entries.items()))
        key = replace(key, entries={**key.entries, name: replace(entry, **{field: "../../elsewhere"})})
    pack.key_file.write_bytes(dump_sealed(key))  # its maker seals it too
    before = snapshot(tmp_path)
    done = take_in(call, banked_shapes, answers)
    assert done.code == 1
    assert "which leads out of its folder; restore the key" in done.err
    after = snapshot(tmp_path)
    assert {name for name in set(before) ^ set(after) if "/.tamesu" not in name} == set()
    assert not any("reviews" in name for name in after)
