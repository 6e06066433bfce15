"""Judges in the workflow: free ones are asked after ingestion and before the views, paid ones by the lever alone."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.judging import CALL_USD, OUTPUTS, JudgedProject, priced, record, recorded, recorded_judge, with_judges
from tests.projects import EVAL, ITEMS, fresh
from tests.workflow.situations import VIEWS, derived, evidence, lines_about

JUDGED = {"judge": 1, "ingested": 1, **VIEWS}


def verdicts(project: JudgedProject) -> list[str]:
    """Return the column of the judge in items.csv."""
    with (project.eval / "tables/items.csv").open(encoding="utf-8", newline="") as stream:
        return [row["judge:critic"] for row in csv.DictReader(stream)]


def test_a_bare_snakemake_asks_free_judges_and_then_makes_the_views(tmp_path: Path) -> None:
    project = recorded(tmp_path / "p")
    assert project.jobs() == JUDGED
    done = project.snakemake()
    assert done.code == 0, done.err
    assert len(project.records()) == OUTPUTS
    assert verdicts(project).count("true") == OUTPUTS
    before, views = evidence(project), derived(project)
    assert project.jobs() == {}
    # no rule owns a verdict
    assert project.snakemake("-F").code == 0
    assert (evidence(project), derived(project)) == (before, views)
    assert len([one for one in project.calls() if one.get("judge")]) == OUTPUTS


def test_run_works_off_runs_and_then_their_free_judges(tmp_path: Path) -> None:
    project = JudgedProject(fresh(tmp_path / "p", items=ITEMS[:1]).root)
    record(project)
    with_judges(project, [recorded_judge()])
    done = project.tamesu("run", "--json")
    assert done.code == 0, done.err
    assert '"judgments_owed":0' in done.out.replace(" ", "")
    assert verdicts(project) == ["true"] * 8
    assert "## Judges" in (project.eval / "evaluation-report.md").read_text()


def test_paid_judges_wait_for_the_lever_and_their_price_is_named(tmp_path: Path) -> None:
    project = recorded(tmp_path / "p")
    priced(project)
    run = project.tamesu("run")
    assert run.code == 0, run.err
    assert (
        f"judgments owed: {OUTPUTS} of judge critic; `tamesu judge {'/'.join(EVAL.parts[i] for i in (1, 3, 5))}`"
        in run.out
    )
    bare = project.snakemake()
    assert bare.code != 0
    (line,) = lines_about(bare.out + bare.err, "paid judgment")
    assert f"{OUTPUTS} paid judgment(s) owed, up to " in line and "--config pay_usd=<ceiling>" in line
    assert (project.records(), project.judge_ledger()) == ([], [])
    too_low = project.snakemake("--config", "pay_usd=0.001")
    assert lines_about(too_low.out + too_low.err, "above pay_usd 0.0010")
    assert project.records() == []
    paid = project.snakemake("--config", "pay_usd=5")
    assert paid.code == 0, paid.err
    assert project.judge_money() == (pytest.approx(OUTPUTS * CALL_USD), 0.0, 0)
    assert verdicts(project).count("true") == OUTPUTS
    assert project.jobs(config=("pay_usd=5",)) == {}


def test_a_verdict_makes_the_views_out_of_date(tmp_path: Path) -> None:
    project = recorded(tmp_path / "p")
    assert project.snakemake().code == 0
    (first, *_) = (project.eval / "runs").glob("*/items/*/judgments/*.yml")
    kept = first.read_bytes()
    first.unlink()
    assert project.jobs() == JUDGED, "a verdict that is gone is owed"
    first.write_bytes(kept)
    assert project.jobs() == {}
