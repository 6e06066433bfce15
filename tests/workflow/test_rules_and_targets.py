"""Edited rules, forced jobs and deleted outputs touch no evidence; every file is a target; a lever pays."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.projects import EVAL, EXPERIMENT, ShapesProject, fresh
from tests.workflow.situations import (
    BANKED_USD,
    CALLS,
    CASE_PAGE,
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
    evidence,
    forget,
    kept,
    lines_about,
    one_run,
    owed,
    own_workflow,
)

REPORT = str(EVAL / "evaluation-report.md")


def test_edited_rule_text_deletes_and_pays_nothing(banked_paid_shapes: ShapesProject) -> None:
    project = banked_paid_shapes
    snakefile = own_workflow(project)
    before, views = evidence(project), derived(project)
    arguments = ("-s", str(snakefile.relative_to(project.root)), *PAYING)
    for stage in ("freeze", "execute", "ingest", "metrics"):
        rules = snakefile.parent / f"rules/{stage}.smk"
        text = rules.read_text()
        assert f'"{{TAMESU}} {stage}' in text
        rules.write_text(text.replace(f'"{{TAMESU}} {stage}', f'": edited; {{TAMESU}} {stage}'))
    done = project.snakemake(*arguments)
    assert done.code == 0, done.err
    assert "rule execute:" not in done.out + done.err
    assert bill(project) == Bill(CALLS, BANKED_USD)
    assert evidence(project) == before
    assert derived(project) == views


def test_forced_jobs_delete_and_pay_nothing(banked_paid_shapes: ShapesProject) -> None:
    project = banked_paid_shapes
    before, views = evidence(project), derived(project)
    for arguments in (("-F",), ("--forceall", "--", REPORT), ("-f", "--", REPORT)):
        done = project.snakemake(*PAYING, *arguments)
        assert done.code == 0, done.err
    assert bill(project) == Bill(CALLS, BANKED_USD)
    assert evidence(project) == before
    assert derived(project) == views
    run = sorted(project.run_ids())[0]
    for evidence_file in ("run.yml", "items/red-sun/result.yml", "attempts/01.yml"):
        project.snakemake(*PAYING, "-F", "--", f"{EVAL}/runs/{run}/{evidence_file}")
        assert evidence(project) == before, evidence_file
    assert bill(project) == Bill(CALLS, BANKED_USD)


def test_delete_all_output_deletes_views_alone(banked_paid_shapes: ShapesProject) -> None:
    project = banked_paid_shapes
    before, views = evidence(project), derived(project)
    assert project.snakemake("--delete-all-output").code == 0
    assert evidence(project) == before
    assert not any(project.path(path).exists() for path in DERIVED)
    assert project.states() == {"banked": RUNS}
    assert project.jobs(config=PAY) == VIEWS
    assert project.snakemake(*PAYING).code == 0
    assert bill(project) == Bill(CALLS, BANKED_USD)
    assert evidence(project) == before
    assert derived(project) == views


def test_forcing_all_while_a_run_is_owed_pays_that_run_alone(tmp_path: Path) -> None:
    project = one_run(tmp_path / "shapes")
    assert project.tamesu("run").code == 0
    first, before = bill(project), evidence(project)
    project.edit(EXPERIMENT / "prompts/terse.md.j2", "Write the", "Please write the")
    assert project.snakemake("-F", *PAYING).code == 0
    assert bill(project) == Bill(6, round(2 * first.usd, 9))
    assert kept(before, evidence(project), appended=["ledger.jsonl"])
    after = evidence(project)
    assert project.snakemake("-F", *PAYING).code == 0
    assert project.snakemake("--delete-all-output").code == 0
    assert bill(project) == Bill(6, round(2 * first.usd, 9))
    assert evidence(project) == after


@pytest.mark.parametrize(
    ("target", "calls"),
    [("inspect/input.jsonl", 0), ("attempts/01.yml", 3), ("run.yml", 3), ("items/three-stripes/result.yml", 3)],
)
def test_a_file_of_an_owed_run_is_a_target_of_that_run_alone(
    paid_shapes: ShapesProject, target: str, calls: int
) -> None:
    run = owed(paid_shapes)[2]
    path = EVAL / "runs" / run / target
    assert paid_shapes.jobs(str(path), config=PAY).get("execute", 0) == (1 if calls else 0)
    done = paid_shapes.snakemake(*PAYING, "--", str(path))
    assert done.code == 0, done.err
    assert paid_shapes.path(path).stat().st_size > 0
    assert len(paid_shapes.calls()) == calls
    assert [one.name for one in (paid_shapes.eval / "runs").iterdir()] == [run]
    settled = {entry["run_id"] for entry in paid_shapes.ledger() if entry["event"] == "settled"}
    assert settled == ({run} if calls else set())
    assert paid_shapes.jobs(config=PAY)["execute"] == RUNS - (1 if calls else 0)


def test_views_and_lint_are_targets_and_free(banked_paid_shapes: ShapesProject) -> None:
    project, views = banked_paid_shapes, derived(banked_paid_shapes)
    for path in DERIVED:
        project.path(path).unlink()
    assert project.snakemake("--", str(DERIVED[0])).code == 0
    assert project.path(DERIVED[0]).read_bytes() == views[DERIVED[0].as_posix()]
    assert project.snakemake("--", REPORT, str(PAGE), str(CASE_PAGE)).code == 0
    assert derived(project) == views
    done = project.snakemake("--", "lint")
    assert (done.code, "no errors" in done.out) == (0, True)
    assert bill(project) == Bill(CALLS, BANKED_USD)


def _listed(report: str) -> set[str]:
    """Return the views that the report holds; the names of other outputs stand in its rules."""
    return {path.name for path in DERIVED if path.suffix in {".csv", ".html"} and path.name in report}


def test_c19_the_snakemake_report_is_self_contained_and_the_same_without_metadata_and_from_a_clone(
    banked_paid_shapes: ShapesProject, tmp_path: Path
) -> None:
    project = banked_paid_shapes
    lists = []
    for name, lost in (("one.html", ""), ("two.html", ""), ("three.html", ".snakemake/metadata")):
        if lost:
            shutil.rmtree(project.path(lost))
        done = project.snakemake("--report", name)
        assert done.code == 0, done.err
        text = project.path(name).read_text()
        lists.append(_listed(text))
        loads = re.findall(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=[\"']https?://[^\"']*", text)
        assert loads == []
    copy = clone(project, tmp_path / "clone", (".snakemake", ".tamesu", "build"))
    assert copy.snakemake().code == 0
    assert copy.snakemake("--report", "four.html").code == 0
    lists.append(_listed(copy.path("four.html").read_text()))
    assert lists[0] == {"items.csv", "runs.csv", PAGE.name, CASE_PAGE.name}
    assert lists == [lists[0]] * 4
    assert bill(copy).usd == BANKED_USD
    assert bill(project) == Bill(CALLS, BANKED_USD)


@pytest.mark.parametrize("path", [CASE_PAGE, PAGE, EVAL / "tables/items.csv"])
def test_c19_a_report_that_lacks_an_item_fails_and_names_it(banked_shapes: ShapesProject, path: Path) -> None:
    banked_shapes.path(path).unlink()
    done = banked_shapes.snakemake("--report", "report.html")
    assert done.code != 0
    assert f"{path.as_posix()} marked for report but does not exist" in done.out + done.err
    assert not banked_shapes.path("report.html").exists()


def test_bare_snakemake_builds_what_is_free_and_names_the_price(paid_shapes: ShapesProject) -> None:
    done = paid_shapes.snakemake()
    assert done.code != 0
    assert bill(paid_shapes) == Bill(0, 0.0)
    assert paid_shapes.ledger() == []
    priced = [line for line in lines_about(done.out + done.err, "USD") if "pay_usd" in line]
    assert len(priced) == 1
    exposure = float(paid_shapes.plan()["exposure_usd"])
    assert f"{exposure:.4f} USD" in priced[0] or f"{exposure:.2f} USD" in priced[0]
    assert all(paid_shapes.path(path).exists() for path in DERIVED)
    assert paid_shapes.states() == {"owed": RUNS}


def test_a_free_project_is_built_by_bare_snakemake(tmp_path: Path) -> None:
    project = one_run(tmp_path / "shapes", paid=False)
    done = project.snakemake()
    assert done.code == 0, done.err
    assert bill(project) == Bill(3, 0.0)
    assert project.states() == {"banked": 1}
    assert all(project.path(path).exists() for path in DERIVED)
    assert project.snakemake().code == 0
    assert bill(project) == Bill(3, 0.0)


def test_a_ceiling_below_the_exposure_refuses_the_run(tmp_path: Path) -> None:
    project = one_run(tmp_path / "shapes")
    done = project.snakemake("--config", "pay_usd=0.01")
    assert done.code != 0
    assert len(lines_about(done.out + done.err, "exceeds pay_usd 0.0100")) == 1
    assert bill(project) == Bill(0, 0.0)
    assert not any(entry["event"] == "settled" for entry in project.ledger())
    assert project.states() == {"owed": 1}
    assert all(project.path(path).exists() for path in DERIVED)

    assert project.tamesu("run", "--pay-usd", "0.01").code != 0
    assert bill(project) == Bill(0, 0.0)
    assert project.tamesu("run").code == 0
    assert len(project.calls()) == 3


@pytest.mark.parametrize("lost", [(), (".snakemake",), (".snakemake", ".tamesu")], ids=["warm", "no-snakemake", "cold"])
def test_views_that_were_made_while_a_run_was_owed_do_not_hide_it(tmp_path: Path, lost: tuple[str, ...]) -> None:
    project = one_run(tmp_path / "shapes")
    assert project.snakemake().code == 1
    assert all(project.path(path).exists() for path in DERIVED)
    forget(project, *lost)
    assert project.jobs(config=PAY).get("execute") == 1
    assert project.tamesu("run").code == 0
    assert len(project.calls()) == 3
    assert project.states() == {"banked": 1}


def test_nothing_starts_above_the_budget(tmp_path: Path) -> None:
    project = fresh(tmp_path / "shapes", paid=True)
    project.edit_eval("budget_usd: 20.00", "budget_usd: 0.50")
    refused = project.tamesu("run")
    assert refused.code == 2
    assert len(refused.err.splitlines()) == 1
    assert "budget_usd" in refused.err
    assert project.snakemake(*PAYING).code != 0
    assert bill(project) == Bill(0, 0.0)
    forget(project, ".snakemake")
    assert project.states() == {"owed": RUNS}
