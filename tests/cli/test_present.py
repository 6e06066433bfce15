"""`tamesu present`: a page at every stage, bound to its evidence, stale when that changes and at no other time."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tamesu.core.report.evidence import recorded_evidence
from tamesu.edge.store.paths import Project
from tamesu.stages.plan import digest_cache
from tamesu.stages.present import case_is_current
from tests.casebook import ANALYSIS, CASE, CASE_PAGE, measured
from tests.cli.calling import Call, one_line
from tests.projects import DATASET, EVAL, EXPERIMENT, ShapesProject
from tests.workflow.situations import derived

NAME = "shape-drawing/prompt-wording/replayed"
README = Path("cases/shape-drawing/README.md")


def page(call: Call, project: ShapesProject | Path, case: str = CASE) -> str:
    done = call(project, "present", case)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == f"page: build/{case}/index.html"
    root = project.root if isinstance(project, ShapesProject) else project
    return (root / f"build/{case}/index.html").read_text()


def answer(text: str) -> str:
    return text.partition('<p class="answer">')[2].partition("</p>")[0]


def standing(text: str) -> str:
    return (
        text.partition('<p class="answer-head">')[2]
        .partition('<span class="status')[2]
        .partition(">")[2]
        .partition("<")[0]
    )


def is_current(project: ShapesProject) -> bool:
    own = Project(project.root)
    return case_is_current(own, CASE, digest_cache(own))


def test_a_case_without_evals_shows_its_question_and_what_to_do_next(tmp_path: Path, call: Call) -> None:
    (tmp_path / "cases").mkdir()
    assert call(tmp_path, "new", "case", "first").code == 0
    text = page(call, tmp_path, "first")
    assert "No eval yet, so nothing is measured." in text
    assert "<code>tamesu new eval first/EXPERIMENT/NAME</code>" in text


def test_stages_before_any_run(one_run: ShapesProject, call: Call) -> None:
    text = page(call, one_run)
    assert (standing(text), answer(text)) == ("ready", "Not answered yet: nothing is measured, 1 run owed.")
    assert f"<code>tamesu run {NAME}</code>" in text
    assert "may still cost, at most" in text and "system message" in text and "1 repetition each" in text
    one_run.edit_eval("status: active", "status: draft")
    text = page(call, one_run)
    assert standing(text) == "draft"
    assert f"<code>tamesu activate {NAME}</code>" in text


def test_a_partial_eval_shows_what_is_there_and_what_is_missing(banked_shapes: ShapesProject, call: Call) -> None:
    gone = sorted(banked_shapes.run_ids())[0]
    shutil.rmtree(banked_shapes.eval / "runs" / gone)
    text = page(call, banked_shapes)
    assert standing(text) == "partial"
    assert answer(text).startswith("No leader is named: 1 of 8 runs owed")
    assert "Not banked" in text and "owed, 0/3 complete, 0 failed" in text


def test_stages_after_all_runs(banked_shapes: ShapesProject, call: Call) -> None:
    text = page(call, banked_shapes)
    assert standing(text) == "awaiting review"
    assert answer(text).startswith("No leader is named: ") and answer(text).endswith(" reviews owed.")
    banked_shapes.edit_eval(
        "    requires: [mechanical, human]\n    human: {required_reviews_per_item: 1, on_disagreement: adjudicate}\n",
        "    requires: [mechanical]\n",
    )
    banked_shapes.edit_eval("  human_review:\n    rubric: ../../rubrics/drawing.yml\n", "")
    text = page(call, banked_shapes)
    assert standing(text) == "evidence complete"
    assert (
        text.count("policy changed after the evidence existed (was, now): ") >= 2
    )  # beside the figures, and as a limit
    assert call(banked_shapes, "close", "replayed").code == 0
    text = page(call, banked_shapes)
    assert standing(text) == "closed"
    assert re.search(r"<strong>Closed</strong> \S+: 8 runs, 24 items", text)
    assert "Nothing was waived." in text
    banked_shapes.edit_eval("pass_at: 0.8", "pass_at: 0.5")
    text = page(call, banked_shapes)
    assert standing(text) == "evidence complete"
    assert "evidence or policy changed after this eval was closed" in text


def test_what_a_closing_waived_is_shown(banked_shapes: ShapesProject, call: Call) -> None:
    assert call(banked_shapes, "close", "replayed", "--allow-incomplete-review").code == 0
    text = page(call, banked_shapes)
    waived = text.partition("<p>Waived:</p>")[2].partition("</ul>")[0]
    assert waived.count("<li>") == 8
    assert "reviews owed: " in waived and "red-sun" in waived


def test_an_eval_that_does_not_read_is_told_in_its_place(banked_shapes: ShapesProject, call: Call) -> None:
    other = banked_shapes.eval.parent / "broken"
    other.mkdir()
    (other / "eval.yml").write_text("name: broken\nquestoin: <b>x</b>\n")
    text = page(call, banked_shapes)
    assert "<code>cases/shape-drawing/experiments/prompt-wording/evals/broken/eval.yml:2:1: error " in text
    assert "Not answered: the eval does not read." in text
    assert "Results" in text  # the other eval has its section
    assert str(banked_shapes.root) not in text


def test_evidence_that_was_altered_shows_no_figure(banked_shapes: ShapesProject, call: Call) -> None:
    run = sorted((banked_shapes.eval / "runs").iterdir())[0]
    review = run / "items/red-sun/reviews/ada--1.yml"
    review.parent.mkdir()
    review.write_text("reviewer: 7\n")
    text = page(call, banked_shapes)
    assert standing(text) == "invalid"
    assert "ada--1.yml: does not hold what it must" in text
    assert str(banked_shapes.root) not in text


@pytest.mark.parametrize("written", ["closings: 7\n", "a: [\n"])
def test_a_closing_that_cannot_be_read_is_told(banked_shapes: ShapesProject, call: Call, written: str) -> None:
    (banked_shapes.eval / "closing.yml").write_text(written)
    text = page(call, banked_shapes)
    assert "closing.yml: does not hold what it must" in text


def test_an_analysis_is_bound_to_the_evidence_it_was_written_about(banked_shapes: ShapesProject, call: Call) -> None:
    analysis = banked_shapes.path(ANALYSIS)
    analysis.write_text("# Analysis\n\nSmall is *enough*. <script>alert(1)</script>\n")
    done = call(banked_shapes, "present")
    mark = f"<!-- evidence: sha256:{measured(banked_shapes)} -->"
    assert done.out.splitlines()[1] == (
        f"{ANALYSIS.as_posix()}: is not about this evidence; when you have checked it, its first line is {mark}"
    )
    text = banked_shapes.path(CASE_PAGE).read_text()
    assert "does not say which evidence it was written about" in text
    assert "Small is <em>enough</em>. &lt;script&gt;alert(1)&lt;/script&gt;" in text

    analysis.write_text(f"{mark}\n{analysis.read_text()}")
    done = call(banked_shapes, "present")
    assert len(done.out.splitlines()) == 1
    text = banked_shapes.path(CASE_PAGE).read_text()
    assert "Written about this evidence" in text and "figures may differ" not in text

    banked_shapes.edit_eval("pass_at: 0.8", "pass_at: 0.5")
    text = page_with_more(call, banked_shapes)
    assert f"Written about other evidence (sha256:{mark[22:34]}…); figures may differ." in text


def page_with_more(call: Call, project: ShapesProject) -> str:
    assert call(project, "present").code == 0
    return project.path(CASE_PAGE).read_text()


def test_same_evidence_same_bytes_whatever_is_remembered(banked_shapes: ShapesProject, call: Call) -> None:
    first = page(call, banked_shapes)
    evidence = recorded_evidence(first)
    assert evidence is not None and f"Made from evidence sha256:{evidence}" in first
    shutil.rmtree(banked_shapes.path(".tamesu/cache"))
    assert page(call, banked_shapes) == first
    small = list(banked_shapes.path(".tamesu/cache/thumbnails").rglob("*.png"))
    assert small
    for one in small:
        one.write_bytes(b"no picture")
    assert page(call, banked_shapes) == first


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (README, "# Other\n"),
        (EXPERIMENT / "README.md", "Other.\n"),
        (ANALYSIS, "Other.\n"),
        (Path("cases/shape-drawing/case.yml"), "name: other\ndefault_task: artifact_bundle\n"),
    ],
)
def test_an_edit_makes_the_page_of_the_case_stale_and_nothing_else(
    banked_shapes: ShapesProject, call: Call, file: Path, text: str
) -> None:
    page(call, banked_shapes)
    assert is_current(banked_shapes)
    before = {path: content for path, content in derived(banked_shapes).items() if path != CASE_PAGE.as_posix()}
    banked_shapes.path(file).write_text(text)
    assert not is_current(banked_shapes)
    assert banked_shapes.jobs() == {"present": 1}
    assert banked_shapes.snakemake().code == 0
    assert is_current(banked_shapes)
    assert {path: content for path, content in derived(banked_shapes).items() if path in before} == before


def test_a_touched_file_makes_nothing_stale(banked_shapes: ShapesProject, call: Call) -> None:
    page(call, banked_shapes)
    for path in (README, EVAL / "eval.yml", DATASET, CASE_PAGE):
        banked_shapes.path(path).touch()
    assert is_current(banked_shapes)
    assert banked_shapes.jobs() == {}


def test_a_stale_run_is_named_with_cause_price_and_remedy(banked_paid_shapes: ShapesProject, call: Call) -> None:
    banked_paid_shapes.edit(EXPERIMENT / "prompts/terse.md.j2", "Write the", "Please write the")
    text = page(call, banked_paid_shapes)
    assert "Runs on disk that are not counted" in text
    section = text.partition("Runs on disk that are not counted")[2].partition("</table>")[0]
    (found, *_) = [one for one in banked_paid_shapes.plan()["found"]]
    assert found["causes"][0].replace("'", "&#39;") in section
    assert f"{found['redo_usd']:.4f}" in section
    assert "runs that are not counted" in text.partition("Cost by model")[2].partition("</table>")[0]


def test_names_are_checked(banked_shapes: ShapesProject, call: Call) -> None:
    assert "did you mean shape-drawing?" in one_line(call(banked_shapes, "present", "shape-drawin"), 2)


def test_a_project_without_cases_says_how_to_begin(tmp_path: Path, call: Call) -> None:
    (tmp_path / "cases").mkdir()
    assert "`tamesu new case NAME`" in one_line(call(tmp_path, "present"), 2)
    assert "`tamesu new case NAME`" in one_line(call(tmp_path, "show", "--no-open"), 2)


def test_a_readme_that_is_a_link_out_of_the_project_is_not_shown(banked_shapes: ShapesProject, call: Call) -> None:
    secret = banked_shapes.root.parent / "secret.md"
    secret.write_text("not for this page\n")
    readme = banked_shapes.path(README)
    readme.unlink()
    readme.symlink_to(secret)
    text = page(call, banked_shapes)
    assert "not for this page" not in text
    assert "<h1>shape-drawing</h1>" in text


def test_artifacts_are_shown_with_path_and_size_and_cut_with_what_is_left(
    banked_shapes: ShapesProject, call: Call
) -> None:
    text = page(call, banked_shapes)
    assert re.search(
        r'<p class="role">response<span class="small">artifacts/response.txt, \d+ bytes</span></p><pre>', text
    )
    assert re.search(
        r'<p class="role">render<span class="small">artifacts/render.png, [\d,]+ bytes</span></p><img ', text
    )
    assert "Recorded answers: these figures describe replayed recordings" in text and "recorded answers</span>" in text
