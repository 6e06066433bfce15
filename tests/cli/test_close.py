"""`tamesu close`: refused while evidence is owed, recorded when judgement is waived, outdated when evidence changes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from tests.cli.calling import Caller, one_line
from tests.judged import review, reviewable
from tests.projects import ShapesProject, fresh

NAME = "shape-drawing/prompt-wording/replayed"


def closings(project: ShapesProject) -> list[dict[str, object]]:
    return yaml.safe_load((project.eval / "closing.yml").read_text())["closings"]


def word(project: ShapesProject, call: Caller) -> str:
    return call(project, "status").out.split(": ")[1].split(";")[0]


def test_an_eval_with_all_its_evidence_is_closed(banked_shapes: ShapesProject, call: Caller) -> None:
    review(banked_shapes, "ada")
    before = banked_shapes.manifest.read_bytes()
    assert word(banked_shapes, call) == "evidence complete"
    done = call(banked_shapes, "close", "replayed")
    assert (done.code, done.out, done.err) == (0, f"{NAME}: closed\n", "")
    assert banked_shapes.manifest.read_bytes() == before.replace(b"status: active", b"status: complete")
    assert word(banked_shapes, call) == "closed"
    (closing,) = closings(banked_shapes)
    assert (closing["waived"], closing["allow_incomplete_review"], closing["runs"], closing["items"]) == (
        [],
        False,
        8,
        24,
    )
    # The views were made of what was closed, so nothing is left to make.
    assert f"{NAME}: closed" in (banked_shapes.eval / "leaderboard.md").read_text()
    assert banked_shapes.jobs() == {}
    assert call(banked_shapes, "close", "replayed").out == f"{NAME}: closed already\n"
    assert len(closings(banked_shapes)) == 1


def test_owed_runs_are_listed_and_never_waived(tmp_path: Path, call: Caller) -> None:
    project = fresh(tmp_path / "shapes")
    before = project.manifest.read_bytes()
    done = call(project, "close", "replayed", "--allow-incomplete-review")
    assert done.code == 2
    assert [line for line in done.out.splitlines() if "owed, 0/3 complete" in line] == done.out.splitlines()
    assert len(done.out.splitlines()) == 8
    assert done.err == "tamesu: replayed: not closed, 8 run(s) owed; `tamesu run replayed` first\n"
    assert project.manifest.read_bytes() == before
    assert not (project.eval / "closing.yml").exists()


def test_a_draft_has_nothing_to_close(tmp_path: Path, call: Caller) -> None:
    project = fresh(tmp_path / "shapes")
    project.edit_eval("status: active", "status: draft")
    assert "nothing was measured" in one_line(call(project, "close", "replayed"), 2)


def test_owed_reviews_refuse_until_their_absence_is_recorded(banked_shapes: ShapesProject, call: Caller) -> None:
    project = banked_shapes
    owed = {(result.run_id, result.item) for result in reviewable(project).values()}
    before = project.manifest.read_bytes()
    refused = call(project, "close", "replayed")
    assert refused.code == 2
    assert "judgement is owed" in refused.err
    listed = {
        (line.split(": ")[0], item) for line in refused.out.splitlines() for item in line.split(": ")[2].split(", ")
    }
    assert listed == owed
    assert project.manifest.read_bytes() == before
    assert call(project, "close", "replayed", "--allow-incomplete-review").code == 0
    (closing,) = closings(project)
    waived = {(entry["run_id"], item) for entry in closing["waived"] for item in entry["items"]}
    assert {entry["kind"] for entry in closing["waived"]} == {"review"}
    assert (waived, closing["accepted"]) == (owed, None)
    assert word(project, call) == "closed"
    report = (project.eval / "evaluation-report.md").read_text()
    assert f"with evidence waived: {len(owed)} reviews; figures that need it are not known" in report


def test_evidence_that_came_after_the_closing_reopens_the_question(banked_shapes: ShapesProject, call: Caller) -> None:
    project = banked_shapes
    review(project, "ada")
    call(project, "close", "replayed")
    review(project, "ada", lambda _: False, time="2026-04-01T10:00:00.000+00:00")
    assert word(project, call) == "evidence complete"
    call(project, "report", "replayed")
    assert "evidence or policy changed after this eval was closed on" in (project.eval / "leaderboard.md").read_text()
    assert call(project, "close", "replayed").code == 0
    first, second = closings(project)
    assert first["evidence"] != second["evidence"]
    assert (first["accepted"] > 0, second["accepted"]) == (True, 0)
    assert word(project, call) == "closed"


def test_a_policy_changed_after_the_closing_is_shown(banked_shapes: ShapesProject, call: Caller) -> None:
    review(banked_shapes, "ada")
    call(banked_shapes, "close", "replayed")
    banked_shapes.edit_eval("scene_coverage: {pass_at: 0.8}", "scene_coverage: {pass_at: 0.5}")
    assert word(banked_shapes, call) == "evidence complete"
    call(banked_shapes, "report", "replayed")
    board = (banked_shapes.eval / "leaderboard.md").read_text()
    assert "policy changed after the evidence existed (was, now)" in board
    assert "evidence or policy changed after this eval was closed on" in board


def test_altered_evidence_is_never_called_closed(banked_shapes: ShapesProject, call: Caller) -> None:
    review(banked_shapes, "ada")
    call(banked_shapes, "close", "replayed")
    picture = next(iter(banked_shapes.eval.glob("runs/*/items/*/artifacts/**/*.png")))
    picture.write_bytes(picture.read_bytes() + b"x")
    assert word(banked_shapes, call) == "partial"
    done = call(banked_shapes, "close", "replayed")
    assert (done.code, "differs from its inventory" in done.out) == (2, True)


def test_a_closed_eval_is_opened_again_on_purpose_and_its_closings_stay(
    banked_shapes: ShapesProject, call: Caller
) -> None:
    project = banked_shapes
    review(project, "ada")
    before = project.manifest.read_bytes()
    call(project, "close", "replayed")
    line = one_line(call(project, "activate", "replayed"), 2)
    assert line.endswith(f"or `tamesu activate {NAME} --reopen` to add reviews")
    opened = call(project, "activate", "replayed", "--reopen")
    assert opened.out.splitlines()[0] == f"{NAME}: opened again"
    assert (project.manifest.read_bytes(), len(closings(project))) == (before, 1)
    assert word(project, call) == "evidence complete"


def test_a_death_between_record_and_manifest_is_made_up_for(banked_shapes: ShapesProject, call: Caller) -> None:
    review(banked_shapes, "ada")
    before = banked_shapes.manifest.read_bytes()
    call(banked_shapes, "close", "replayed")
    banked_shapes.manifest.write_bytes(before)
    assert call(banked_shapes, "close", "replayed").out == f"{NAME}: closed\n"
    assert len(closings(banked_shapes)) == 1
    assert word(banked_shapes, call) == "closed"


def test_a_closing_that_is_changed_by_hand_is_none(banked_shapes: ShapesProject, call: Caller) -> None:
    review(banked_shapes, "ada")
    call(banked_shapes, "close", "replayed")
    path = banked_shapes.eval / "closing.yml"
    text = path.read_text()
    path.write_text(re.sub(r"accepted: \d+", "accepted: 7", text))
    assert path.read_text() != text
    told = one_line(call(banked_shapes, "status"), 1)
    assert told.endswith("closing.yml: was changed after it was written; restore it from version control")


@pytest.mark.parametrize("content", ["closings: 3\n", "closings: [{time: now}]\n", "\t"])
def test_a_closing_that_does_not_read_is_one_line(content: str, banked_shapes: ShapesProject, call: Caller) -> None:
    (banked_shapes.eval / "closing.yml").write_text(content)
    line = one_line(call(banked_shapes, "close", "replayed"), 1)
    assert "closing.yml: does not hold what it must" in line
