"""File times, clones and lost caches never make anything owed, and never let a view of other evidence stand."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
import yaml

from tests.projects import DATASET, EVAL, EXPERIMENT, ShapesProject
from tests.workflow.situations import (
    ANSWERS,
    BANKED_USD,
    CALLS,
    DERIVED,
    PAGE,
    PAY,
    PAYING,
    RUNS,
    VIEWS,
    Bill,
    bill,
    clone,
    derived,
    digests,
    evidence,
    files,
    forget,
    lines_about,
    owed,
    random_times,
    rows,
    set_times,
)

YEAR_2001 = 978_307_200
TOUCHED = [
    EVAL / "eval.yml",
    EXPERIMENT / "prompts/terse.md.j2",
    DATASET,
    EXPERIMENT / "inspect/drawing.py",
    EXPERIMENT / "inspect/task.py",
    ANSWERS,
    Path("config/config.yaml"),
]


def test_a_banked_project_has_nothing_to_do_and_its_bill_is_known(banked_paid_shapes: ShapesProject) -> None:
    assert bill(banked_paid_shapes) == Bill(CALLS, BANKED_USD)
    assert banked_paid_shapes.jobs(config=PAY) == {}
    assert banked_paid_shapes.jobs() == {}


def test_c15_touched_inputs_make_no_job(banked_paid_shapes: ShapesProject) -> None:
    for touched in TOUCHED:
        banked_paid_shapes.path(touched).touch()
    assert banked_paid_shapes.jobs(config=PAY) == {}
    for name in ("run.yml", "items/red-sun/result.yml", "attempts/01.yml"):
        for path in banked_paid_shapes.eval.glob(f"runs/*/{name}"):
            path.touch()
    assert banked_paid_shapes.jobs(config=PAY) == {}


def test_c15_all_files_touched_ask_and_pay_nothing(banked_paid_shapes: ShapesProject) -> None:
    before, views = evidence(banked_paid_shapes), derived(banked_paid_shapes)
    for path in files(banked_paid_shapes):
        path.touch()
    assert set(banked_paid_shapes.jobs(config=PAY)) <= set(VIEWS)
    assert banked_paid_shapes.snakemake(*PAYING).code == 0
    assert bill(banked_paid_shapes) == Bill(CALLS, BANKED_USD)
    assert evidence(banked_paid_shapes) == before
    assert derived(banked_paid_shapes) == views
    assert banked_paid_shapes.jobs(config=PAY) == {}


@pytest.mark.parametrize(("seed", "lost"), [(1, ()), (2, (".snakemake",)), (3, (".snakemake", ".tamesu"))])
def test_c15_random_times_ask_and_pay_nothing(
    banked_paid_shapes: ShapesProject, seed: int, lost: tuple[str, ...]
) -> None:
    calls, before = banked_paid_shapes.calls(), evidence(banked_paid_shapes)
    forget(banked_paid_shapes, *lost)
    random_times(banked_paid_shapes, seed)
    assert set(banked_paid_shapes.jobs(config=PAY)) <= set(VIEWS)
    assert banked_paid_shapes.snakemake(*PAYING).code == 0
    assert banked_paid_shapes.calls() == ([] if ".tamesu" in lost else calls)
    assert banked_paid_shapes.spent() == BANKED_USD
    assert evidence(banked_paid_shapes) == before
    assert banked_paid_shapes.jobs(config=PAY) == {}


def test_c15_a_clone_only_rebuilds_its_page(banked_paid_shapes: ShapesProject, tmp_path: Path) -> None:
    copy = clone(banked_paid_shapes, tmp_path / "clone", [".snakemake", ".tamesu"])
    assert copy.jobs(config=PAY) == {}

    copy = clone(banked_paid_shapes, tmp_path / "pageless", [".snakemake", ".tamesu", "build"])
    assert copy.jobs(config=PAY) == {"report": 1, "present": 1}
    assert copy.snakemake(*PAYING).code == 0
    assert bill(copy) == Bill(0, BANKED_USD)
    assert evidence(copy) == evidence(banked_paid_shapes)
    assert derived(copy) == derived(banked_paid_shapes)
    assert copy.jobs(config=PAY) == {}


def test_a_clone_without_logs_is_banked_and_its_reports_are_the_same(
    banked_paid_shapes: ShapesProject, tmp_path: Path
) -> None:
    copy = clone(banked_paid_shapes, tmp_path / "clone", [".snakemake", ".tamesu", "inspect"])
    # the folder of the task is named `inspect` too, and is no private folder of a run
    shutil.copytree(banked_paid_shapes.path(EXPERIMENT / "inspect"), copy.path(EXPERIMENT / "inspect"))
    assert copy.states() == {"banked": RUNS}
    for path in DERIVED:
        copy.path(path).unlink()
    assert copy.jobs(config=PAY) == VIEWS
    assert copy.snakemake(*PAYING).code == 0
    assert derived(copy) == derived(banked_paid_shapes)
    assert bill(copy) == Bill(0, BANKED_USD)

    rescored = copy.tamesu("rescore")
    assert (rescored.code, rescored.err) == (0, "")
    assert sum("log" in line and "not here" in line for line in rescored.out.splitlines()) == RUNS
    assert bill(copy) == Bill(0, BANKED_USD)
    assert copy.states() == {"banked": RUNS}
    assert derived(copy) == derived(banked_paid_shapes)


@pytest.mark.parametrize("asked", ["inspect/input.jsonl", "inspect/attempt-01.eval"])
def test_a_request_for_a_private_file_that_is_not_here_is_one_line_and_free(
    banked_paid_shapes: ShapesProject, asked: str
) -> None:
    run = sorted(banked_paid_shapes.run_ids())[0]
    shutil.rmtree(banked_paid_shapes.eval / "runs" / run / "inspect")
    done = banked_paid_shapes.snakemake(*PAYING, "--", f"{EVAL}/runs/{run}/{asked}")
    assert done.code != 0
    assert bill(banked_paid_shapes) == Bill(CALLS, BANKED_USD)
    told = lines_about(done.out + done.err, asked)
    assert len(told) == 1, done.err
    assert "not here" in told[0]


def test_c16_edit_and_undo_with_old_times_never_leaves_views_of_the_wrong_runs(
    banked_paid_shapes: ShapesProject,
) -> None:
    project = banked_paid_shapes
    prompt = EXPERIMENT / "prompts/terse.md.j2"
    original, first = project.path(prompt).read_bytes(), rows(project, "runs.csv")
    project.edit(prompt, "Write the", "Please write the")
    set_times(files(project), YEAR_2001)
    forget(project, ".snakemake", ".tamesu")
    wrong = set(owed(project))
    assert len(wrong) == 4
    assert project.jobs() == {**VIEWS, "complete": 1}
    assert project.snakemake().code == 1
    assert {row["run_id"] for row in rows(project, "runs.csv") if row["state"] == "owed"} == wrong
    assert bill(project) == Bill(0, BANKED_USD)

    project.path(prompt).write_bytes(original)
    set_times(files(project), YEAR_2001)
    forget(project, ".snakemake", ".tamesu")
    assert project.jobs(config=PAY) == VIEWS
    assert project.snakemake(*PAYING).code == 0
    assert rows(project, "runs.csv") == first
    for view in (path for path in DERIVED if path.suffix in {".csv", ".md"}):
        assert not any(run in project.path(view).read_text() for run in wrong), view
    assert bill(project) == Bill(0, BANKED_USD)
    assert project.jobs(config=PAY) == {}


def test_c16_a_table_with_two_lines_swapped_is_rebuilt(banked_paid_shapes: ShapesProject) -> None:
    views = derived(banked_paid_shapes)
    table = banked_paid_shapes.path(EVAL / "tables/items.csv")
    header, *lines = table.read_bytes().splitlines(keepends=True)
    lines[0], lines[1] = lines[1], lines[0]
    table.write_bytes(b"".join([header, *lines]))
    assert len(table.read_bytes()) == len(views[(EVAL / "tables/items.csv").as_posix()])
    set_times([table], YEAR_2001)
    forget(banked_paid_shapes, ".snakemake")
    assert banked_paid_shapes.jobs(config=PAY) == {"metrics": 1, "report": 1}
    assert banked_paid_shapes.snakemake(*PAYING).code == 0
    assert derived(banked_paid_shapes) == views
    assert bill(banked_paid_shapes) == Bill(CALLS, BANKED_USD)


@pytest.mark.parametrize("name", ["items.parquet", "runs.parquet"])
def test_c16_a_typed_table_with_one_other_byte_is_rebuilt(banked_paid_shapes: ShapesProject, name: str) -> None:
    views = derived(banked_paid_shapes)
    table = banked_paid_shapes.path(EVAL / "tables" / name)
    content = bytearray(table.read_bytes())
    content[len(content) // 2] ^= 1
    table.write_bytes(content)
    set_times([table], YEAR_2001)
    assert banked_paid_shapes.jobs(config=PAY) == {"metrics": 1, "report": 1}
    assert banked_paid_shapes.snakemake(*PAYING).code == 0
    assert derived(banked_paid_shapes) == views
    assert bill(banked_paid_shapes) == Bill(CALLS, BANKED_USD)


@pytest.mark.parametrize("view", [EVAL / "leaderboard.md", EVAL / "evaluation-report.md", PAGE], ids=lambda p: p.name)
def test_c16_a_view_that_names_other_evidence_is_rebuilt(banked_paid_shapes: ShapesProject, view: Path) -> None:
    views = derived(banked_paid_shapes)
    path = banked_paid_shapes.path(view)
    evidence_line = yaml.safe_load(banked_paid_shapes.path(EVAL / "tables/evidence.yml").read_text())["evidence"]
    banked_paid_shapes.edit(view, evidence_line, evidence_line[::-1])
    set_times([path], YEAR_2001)
    assert banked_paid_shapes.jobs(config=PAY) == {"report": 1}
    assert banked_paid_shapes.snakemake(*PAYING).code == 0
    assert derived(banked_paid_shapes) == views


def test_c16_no_figure_is_printed_over_a_result_that_was_altered(banked_paid_shapes: ShapesProject) -> None:
    run = sorted(banked_paid_shapes.run_ids())[0]
    result = banked_paid_shapes.eval / "runs" / run / "items/red-sun/result.yml"
    times = result.stat()
    text = result.read_text()
    altered = text.replace("1.0", "0.0", 1)
    assert altered != text
    result.write_text(altered)
    os.utime(result, ns=(times.st_atime_ns, times.st_mtime_ns))
    forget(banked_paid_shapes, ".snakemake")

    [slot] = [one for one in banked_paid_shapes.plan()["runs"] if one["run_id"] == run]
    assert slot["state"] == "failed"
    assert "items/red-sun/result.yml" in slot["problem"]
    assert banked_paid_shapes.states() == {"banked": RUNS - 1, "failed": 1}
    assert banked_paid_shapes.jobs(config=PAY) == {**VIEWS, "complete": 1}
    assert banked_paid_shapes.snakemake(*PAYING).code == 1
    assert bill(banked_paid_shapes) == Bill(CALLS, BANKED_USD)
    [row] = [row for row in rows(banked_paid_shapes, "runs.csv") if row["run_id"] == run]
    assert (row["state"], row["complete"], row["cost_usd"]) == ("failed", "0", "")
    assert [row["score:valid_program"] for row in rows(banked_paid_shapes, "items.csv") if row["run_id"] == run] == [
        "",
        "",
        "",
    ]


def test_c16_a_restored_result_is_counted_again(banked_paid_shapes: ShapesProject) -> None:
    result = sorted(banked_paid_shapes.eval.glob("runs/*/items/red-sun/result.yml"))[0]
    views, text = derived(banked_paid_shapes), result.read_text()
    result.write_text(text.replace("1.0", "0.0", 1))
    assert banked_paid_shapes.tamesu("metrics", "replayed").code == 0
    assert banked_paid_shapes.tamesu("report", "replayed").code == 0
    assert banked_paid_shapes.tamesu("present").code == 0
    assert all(content != views[name] for name, content in derived(banked_paid_shapes).items())
    result.write_text(text)
    assert banked_paid_shapes.states() == {"banked": RUNS}
    assert banked_paid_shapes.jobs(config=PAY) == VIEWS
    assert banked_paid_shapes.snakemake(*PAYING).code == 0
    assert derived(banked_paid_shapes) == views
    assert bill(banked_paid_shapes) == Bill(CALLS, BANKED_USD)


def test_c16_an_altered_artifact_takes_its_run_out_of_the_figures(banked_paid_shapes: ShapesProject) -> None:
    artifact = sorted(banked_paid_shapes.eval.glob("runs/*/items/red-sun/artifacts/response.txt"))[0]
    before = digests(artifact.parent)
    artifact.write_bytes(artifact.read_bytes()[::-1])
    set_times([artifact], YEAR_2001)
    assert digests(artifact.parent) != before
    assert banked_paid_shapes.states() == {"banked": RUNS - 1, "failed": 1}
    assert "execute" not in banked_paid_shapes.jobs(config=PAY)
