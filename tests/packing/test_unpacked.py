"""A case out of a package: what was banked is banked, figures are computed anew, reports alone run nothing."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest

from tests.cli.calling import Caller, one_line
from tests.packing.cases import ARCHIVE, CASE, extracted, published
from tests.projects import ShapesProject
from tests.shared import banked

NAME = "shape-drawing/prompt-wording/replayed"
PAGE = Path("build/shape-drawing/index.html")
VIEWS = ("leaderboard.md", "evaluation-report.md", "tables/items.csv", "tables/runs.csv", "tables/items.parquet")
COMMANDS = ("run", "resume", "plan", "preflight", "rescore", "report")


def unpacked(call: Caller, source: ShapesProject, profile: str, target: Path) -> ShapesProject:
    """Pack the case of a project and return a fresh project that holds what the archive does."""
    archive = source.path(ARCHIVE)
    archive.unlink(missing_ok=True)
    assert call(source, "pack", "shape-drawing", "--profile", profile).code == 0
    extracted(archive, target / CASE)
    shutil.copytree(source.path("config"), target / "config")
    return ShapesProject(target)


@pytest.fixture
def source(tmp_path: Path) -> ShapesProject:
    return published(banked(tmp_path / "source"))


@pytest.fixture
def elsewhere(source: ShapesProject, call: Caller, tmp_path: Path) -> ShapesProject:
    """A project that holds what was unpacked of a rescorable package."""
    return unpacked(call, source, "rescorable", tmp_path / "elsewhere")


def test_all_banked_runs_are_still_banked_and_nothing_is_owed(elsewhere: ShapesProject, call: Caller) -> None:
    done = call(elsewhere, "status", "--check")
    assert done.code == 0
    assert f"{NAME}: awaiting review; 8/8 runs banked\nlogs of 8 run(s) are absent" in done.out
    assert elsewhere.states() == {"banked": 8}


def test_runs_stay_banked_under_another_name_of_the_case(elsewhere: ShapesProject, call: Caller) -> None:
    elsewhere.path(CASE).rename(elsewhere.path("cases/acme-shapes"))
    assert "acme-shapes/prompt-wording/replayed: awaiting review; 8/8 runs banked" in call(elsewhere, "status").out


def test_rescore_says_that_logs_are_not_here_and_makes_the_views(
    source: ShapesProject, elsewhere: ShapesProject, call: Caller
) -> None:
    assert not (elsewhere.eval / "leaderboard.md").exists()
    done = call(elsewhere, "rescore")
    assert (done.code, done.err) == (0, "")
    assert [line.partition(": ")[2] for line in done.out.splitlines()] == [
        "its log and frozen dataset are not here (a clone or package); results stand as recorded"
    ] * 8
    for view in (
        "leaderboard.md",
        "evaluation-report.md",
        "tables/items.csv",
        "tables/runs.csv",
        "tables/items.parquet",
    ):
        assert (elsewhere.eval / view).read_bytes() == (source.eval / view).read_bytes()


def test_rescore_computes_passes_and_figures_anew_from_stored_results(elsewhere: ShapesProject, call: Caller) -> None:
    run = elsewhere.eval / "runs" / sorted(elsewhere.run_ids())[0]
    results, reported = (run / "items/red-sun/result.yml").read_bytes(), (run / "report.yml").read_bytes()
    before = passes(elsewhere, call)
    assert (len(before), before.count("true"), before.count("false")) == (24, 22, 2)
    elsewhere.edit_eval("scene_coverage: {pass_at: 0.8}", "scene_coverage: {pass_at: 1.5}")
    assert passes(elsewhere, call) == ["false"] * 24
    assert (run / "items/red-sun/result.yml").read_bytes() == results
    assert (run / "report.yml").read_bytes() != reported
    assert elsewhere.states() == {"banked": 8}
    assert "policy changed after the evidence existed" in call(elsewhere, "status").out


def passes(project: ShapesProject, call: Caller) -> list[str]:
    """Return the mechanical verdicts in the table that `rescore` makes."""
    assert call(project, "rescore").code == 0
    with (project.eval / "tables/items.csv").open(newline="") as stream:
        return [row["mechanical_pass"].lower() for row in csv.DictReader(stream)]


def test_present_gives_the_page_of_the_source(source: ShapesProject, elsewhere: ShapesProject, call: Caller) -> None:
    for project in (source, elsewhere):
        assert call(project, "present", "shape-drawing").code == 0
    assert elsewhere.path(PAGE).read_bytes() == source.path(PAGE).read_bytes()


def test_snakemake_makes_the_views_and_runs_nothing(source: ShapesProject, elsewhere: ShapesProject) -> None:
    shutil.copy(source.path("Snakefile"), elsewhere.root)
    assert set(elsewhere.jobs()) <= {"lint", "metrics", "report", "present", "tamesu"}


def test_packing_again_gives_the_same_content(source: ShapesProject, elsewhere: ShapesProject, call: Caller) -> None:
    again = call(elsewhere, "pack", "shape-drawing", "--profile", "rescorable")
    assert again.code == 0, again.out + again.err
    assert elsewhere.path(ARCHIVE).read_bytes() == source.path(ARCHIVE).read_bytes()


def test_reports_alone_are_shown_and_nothing_of_them_is_planned_or_run(
    source: ShapesProject, call: Caller, tmp_path: Path
) -> None:
    reports = unpacked(call, source, "report-only", tmp_path / "reports")
    for command in COMMANDS:
        for name in (NAME, "replayed"):
            line = one_line(call(reports, command, name), 2)
            assert line.startswith("cases/shape-drawing/view-only.yml: this case holds reports alone, so nothing")
    one_line(call(reports, "run"), 2)
    assert not reports.path(".snakemake").exists()
    assert call(reports, "status").out.startswith("shape-drawing: holds reports alone")
    assert "reports alone" in call(reports, "list").out
    assert call(reports, "lint").code == 0
    assert call(reports, "present").code == 0
    page = reports.path(PAGE).read_text()
    assert "Its reports are here, the evidence behind them is not" in page
    assert "No leader is named" in page
    assert not list(reports.eval.glob("runs/*/inspect")) and not (reports.eval / "ledger.jsonl").exists()


def test_reports_alone_do_not_stop_the_rest_of_a_project(source: ShapesProject, call: Caller, tmp_path: Path) -> None:
    reports = unpacked(call, source, "report-only", tmp_path / "reports")
    shutil.copytree(reports.path(CASE), source.path("cases/seen"))
    done = call(source, "status", "--check")
    assert (done.code, "8/8 runs banked" in done.out, "seen: holds reports alone" in done.out) == (0, True, True)
    assert call(source, "status", "replayed").code == 0
    assert call(source, "plan").code == 0
    assert source.states() == {"banked": 8}


def test_a_damaged_marker_marks_as_well(elsewhere: ShapesProject, call: Caller) -> None:
    elsewhere.path(CASE / "view-only.yml").symlink_to("nowhere")
    assert "holds reports alone" in one_line(call(elsewhere, "run"), 2)
