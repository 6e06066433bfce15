"""A change of what a model sees, says, or is measured by owes exactly the runs that it touches; an undo banks them."""

from __future__ import annotations

import functools
import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.projects import DATASET, EVAL, EXPERIMENT, ShapesProject, fresh
from tests.workflow.situations import (
    ANSWERS,
    BANKED_USD,
    CALLS,
    PAY,
    PAYING,
    RUNS,
    VIEWS,
    Bill,
    bill,
    evidence,
    found,
    kept,
    lines_about,
    one_run,
    owed,
    rows,
)

LEDGER = "ledger.jsonl"
PROMPT = EXPERIMENT / "prompts/terse.md.j2"
COMPOSE = EXPERIMENT / "inspect/compose.yaml"
IMAGE = "services:\n  default:\n    image: registry.example.org/tools/draw@sha256:{}\n"


def paying(runs: int) -> dict[str, int]:
    """Return the jobs of so many owed runs, with the views that wait for them."""
    owed_rules = ("freeze", "execute", "ingest")
    return {**dict.fromkeys(owed_rules, runs), **VIEWS, "ingested": 1, "complete": 1}


def test_an_edited_prompt_owes_the_runs_of_its_arm_and_an_undo_banks_the_old_ones(
    banked_paid_shapes: ShapesProject,
) -> None:
    project = banked_paid_shapes
    before, table = evidence(project), rows(project, "items.csv")
    terse = {run for run in project.run_ids() if "--terse--" in run}
    original = project.path(PROMPT).read_bytes()
    project.edit(PROMPT, "Write the", "Please write the")

    assert project.jobs(config=PAY) == paying(4)
    assert project.states() == {"owed": 4, "banked": 4}
    stale = found(project, "stale")
    assert set(stale) == terse
    assert all(causes == ["prompt terse.md.j2 changed"] for causes in stale.values())
    shown = project.tamesu("plan").out.splitlines()
    assert any(line.startswith("stale: ") and "prompt terse.md.j2 changed" in line for line in shown)

    assert project.tamesu("run").code == 0
    paid = bill(project)
    assert paid.calls == CALLS + 12
    assert 0 < paid.usd - BANKED_USD < BANKED_USD
    assert project.states() == {"banked": RUNS}
    assert len(project.run_ids()) == 12
    assert kept(before, evidence(project), appended=[LEDGER])
    assert project.jobs(config=PAY) == {}

    project.path(PROMPT).write_bytes(original)
    after = evidence(project)
    assert project.jobs(config=PAY) == VIEWS
    assert project.states() == {"banked": RUNS}
    assert project.snakemake(*PAYING).code == 0
    assert bill(project) == paid
    assert evidence(project) == after
    assert rows(project, "items.csv") == table
    assert project.jobs(config=PAY) == {}


@dataclass(frozen=True)
class Change:
    """A change of one file that owes all runs, and the words of its cause."""

    name: str
    file: Path
    old: str
    new: str
    cause: str
    pays_all: bool = False


DRAWING_PY, TASK_PY = EXPERIMENT / "inspect/drawing.py", EXPERIMENT / "inspect/task.py"
MANIFEST = EVAL / "eval.yml"
CHANGES = [
    Change(
        "item-text", DATASET, "A large red circle", "A huge red circle", "dataset item red-sun changed", pays_all=True
    ),
    Change(
        "scorer-source", DRAWING_PY, "MAX_SHAPES = 50", "MAX_SHAPES = 51", "source/drawing.py changed", pays_all=True
    ),
    Change("generation-source", TASK_PY, "One written scene", "A written scene", "source/task.py changed"),
    Change("limit", MANIFEST, "token_limit: 20000", "token_limit: 20001", "token_limit changed (was 20000, now 20001)"),
    Change("parameter", MANIFEST, "temperature: 0.7", "temperature: 0.6", "temperature changed (was 0.7, now 0.6)"),
    Change("retries", MANIFEST, "retries: 0", "retries: 1", "retries changed (was 0, now 1)"),
    Change(
        "timeout",
        MANIFEST,
        "timeout_seconds: 30",
        "timeout_seconds: 31",
        "timeout_seconds changed (was 30, now 31)",
    ),
    Change(
        "recordings", ANSWERS, "made up for this example", "made up for an example", "recordings changed", pays_all=True
    ),
]


ROWS = [
    # a row that pays for all eight runs takes half a minute
    pytest.param(change, id=change.name, marks=[pytest.mark.long] if change.pays_all else [])
    for change in CHANGES
]


@pytest.mark.parametrize("change", ROWS)
def test_a_change_of_identity_owes_all_runs_and_an_undo_banks_the_old_ones(
    banked_paid_shapes: ShapesProject, change: Change
) -> None:
    project = banked_paid_shapes
    before, old = evidence(project), project.run_ids()
    original = project.path(change.file).read_bytes()
    project.edit(change.file, change.old, change.new)
    assert project.jobs(config=PAY) == paying(RUNS)
    assert len(owed(project)) == RUNS
    stale = found(project, "stale")
    assert set(stale) == old
    assert all(len(causes) == 1 and change.cause in causes[0] for causes in stale.values()), stale

    # paying for all of them takes long and is the same for every cause; most causes pay for one run
    targets = () if change.pays_all else ("--", f"{EVAL}/runs/{owed(project)[0]}/run.yml")
    done = project.snakemake(*PAYING, *targets) if targets else project.tamesu("run")
    assert done.code == 0, done.err
    runs = RUNS if change.pays_all else 1
    assert len(project.calls()) == CALLS + 3 * runs
    assert len(project.run_ids()) == RUNS + runs
    assert project.spent() == _twice_paid(project, old)
    assert kept(before, evidence(project), appended=[LEDGER])

    project.path(change.file).write_bytes(original)
    assert "execute" not in project.jobs(config=PAY)
    assert project.states() == {"banked": RUNS}
    assert {run["run_id"] for run in project.plan()["runs"] if run["state"] == "banked"} == old


def _twice_paid(project: ShapesProject, old: set[str]) -> float:
    """Return what all runs cost: the old ones, and each new one as much as the old one of its cell."""
    cell_usd = {run.rsplit("--", 1)[0]: float(str(project.record(run)["spent_usd"])) for run in old}
    return round(sum(cell_usd[run.rsplit("--", 1)[0]] for run in project.run_ids()), 9)


def test_a_moved_inspect_pin_blocks_every_generation_in_one_line(banked_paid_shapes: ShapesProject) -> None:
    project, config = banked_paid_shapes, Path("config/config.yaml")
    before, original = evidence(project), project.path(config).read_text()
    pinned = original.split('"')[1]
    project.edit(config, pinned, "0.3.1")
    assert len(owed(project)) == RUNS
    assert all(
        causes == [f"inspect_version changed (was {pinned}, now 0.3.1)"] for causes in found(project, "stale").values()
    )
    assert "execute" not in project.jobs(config=PAY)

    refused = project.tamesu("run")
    assert refused.code == 2
    assert len(refused.err.splitlines()) == 1
    assert f"inspect_ai {pinned} is installed but config/config.yaml pins 0.3.1" in refused.err
    bare = project.snakemake(*PAYING)
    assert bare.code != 0
    assert len(lines_about(bare.out + bare.err, "is installed but")) == 1
    assert bill(project) == Bill(CALLS, BANKED_USD)

    project.path(config).write_text(original)
    assert project.states() == {"banked": RUNS}
    assert project.snakemake(*PAYING).code == 0
    assert bill(project) == Bill(CALLS, BANKED_USD)
    assert evidence(project) == before


@functools.cache
def _banked_with_image() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="tamesu-image-")) / "shapes"
    project = fresh(folder, paid=True)
    project.path(COMPOSE).write_text(IMAGE.format("a" * 64))
    project.edit_eval(
        "generation: [../../inspect/task.py]", "generation: [../../inspect/task.py, ../../inspect/compose.yaml]"
    )
    done = project.tamesu("run")
    assert done.code == 0, done.out + done.err
    return folder


def test_another_image_digest_owes_all_runs_and_its_comment_does_too(tmp_path: Path) -> None:
    project = ShapesProject(Path(shutil.copytree(_banked_with_image(), tmp_path / "shapes")))
    before, old = evidence(project), project.run_ids()
    assert project.jobs(config=PAY) == {}
    original = project.path(COMPOSE).read_bytes()
    project.path(COMPOSE).write_text(IMAGE.format("b" * 64))
    assert project.jobs(config=PAY) == paying(RUNS)
    stale = found(project, "stale")
    assert set(stale) == old
    assert all(any(cause.startswith("images changed") for cause in causes) for causes in stale.values()), stale
    assert all("source/compose.yaml changed" in causes for causes in stale.values())

    assert project.tamesu("run").code == 0
    assert bill(project) == Bill(2 * CALLS, round(2 * BANKED_USD, 9))
    assert kept(before, evidence(project), appended=[LEDGER])
    project.path(COMPOSE).write_bytes(original)
    assert project.states() == {"banked": RUNS}
    # execution sources count byte for byte, comments included
    project.path(COMPOSE).write_bytes(b"# pinned\n" + original)
    assert len(owed(project)) == RUNS


def _selection(project: ShapesProject, seed: int) -> None:
    text = project.manifest.read_text()
    start = text.index("  items: ")
    end = text.index("\n", start)
    project.manifest.write_text(f"{text[:start]}  items: {{random: 5, seed: {seed}}}{text[end:]}")


def test_c10_another_seed_owes_the_runs_and_names_the_items_that_differ(tmp_path: Path) -> None:
    project = one_run(tmp_path / "shapes")
    _selection(project, 1)
    assert project.tamesu("run").code == 0
    assert len(project.calls()) == 5
    [old] = project.run_ids()
    asked = {path.name for path in (project.eval / "runs" / old / "items").iterdir()}

    _selection(project, 2)
    [new] = owed(project)
    assert project.jobs(config=PAY) == paying(1)
    stale = found(project, "stale")
    assert set(stale) == {old}
    assert (
        project.snakemake(
            *PAYING, "--", str(project.eval.relative_to(project.root) / f"runs/{new}/inspect/input.jsonl")
        ).code
        == 0
    )
    frozen = (project.eval / "runs" / new / "inspect/input.jsonl").read_text().splitlines()
    selected = {str(json.loads(line)["id"]) for line in frozen}
    assert len(selected) == 5
    assert selected != asked
    told = "; ".join(stale[old])
    assert all(f"dataset item {item} is not selected any more" in told for item in sorted(asked - selected)[:3])
    assert all(f"dataset item {item} is new" in told for item in sorted(selected - asked)[:1])
    assert not any(item in told for item in asked & selected)
    assert len(project.calls()) == 5

    _selection(project, 1)
    assert project.states() == {"banked": 1}
    item = sorted(asked)[0]
    scene = _scene(project, item)
    project.edit(DATASET, scene, scene.replace(".", " indeed.", 1))
    assert len(owed(project)) == 1
    assert found(project, "stale") == {old: [f"dataset item {item} changed"]}


def _scene(project: ShapesProject, item: str) -> str:
    items = yaml.safe_load(project.path(DATASET).read_text())["items"]
    return next(one["input"]["scene"] for one in items if one["id"] == item)
