"""`tamesu compare` and `tamesu leaderboard`: the figures of now, from the evidence, without writing anything."""

from __future__ import annotations

import hashlib
import json
import shutil

from tests.cli.calling import Caller, one_line
from tests.judged import review
from tests.projects import EVAL, ShapesProject

NAME = "shape-drawing/prompt-wording/replayed"
AGAIN = "shape-drawing/prompt-wording/again"
RECORDED = "Recorded answers: these figures describe replayed recordings, not live models"


def with_second_eval(project: ShapesProject) -> ShapesProject:
    """The same eval once more under another name, evidence included."""
    copy = (EVAL.parent / "again").as_posix()
    shutil.copytree(project.root / EVAL, project.root / copy)
    project.edit(f"{copy}/eval.yml", "name: replayed", "name: again")
    return project


def files(project: ShapesProject) -> dict[str, str]:
    found = (path for path in (project.root / "cases").rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def test_the_leaderboard_shows_counts_figures_and_limits(banked_shapes: ShapesProject, call: Caller) -> None:
    before = files(banked_shapes)
    done = call(banked_shapes, "leaderboard", NAME)
    assert (done.code, done.err) == (0, "")
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert lines[:2] == [f"{NAME}: awaiting review", RECORDED]
    assert "model arm planned complete failed owed value interval" in lines
    assert any(line.startswith("replay/sketcher-small terse 6 6 0 0 0.") for line in lines)
    assert any(line.startswith("No leader is named: ") for line in lines)
    assert any(line.startswith("- 8 of 8 runs replay recorded answers") for line in lines)
    assert files(banked_shapes) == before


def test_the_leaderboard_as_json_is_the_same(banked_shapes: ShapesProject, call: Caller) -> None:
    (told,) = json.loads(call(banked_shapes, "leaderboard", "--json").out)
    assert (told["eval"], told["standing"], told["recorded"]) == (NAME, "awaiting review", RECORDED)
    assert [row["cell"]["arm"] for row in told["rows"]] == ["terse", "worked-example"] * 2
    figure = told["rows"][0]["metrics"][told["primary"]]
    assert figure["n"] == told["rows"][0]["planned"] == 6
    assert figure["low"] < figure["value"] < figure["high"]
    accepted = told["rows"][0]["metrics"]["accepted_rate"]
    assert (accepted["value"], accepted["low"]) == (None, None)
    assert accepted["lacking"].endswith("owed")
    assert (told["leader"], told["ranked"], len(told["comparisons"])) == (None, False, 4)


def test_the_leaderboard_names_what_does_not_read_and_shows_the_rest(
    banked_shapes: ShapesProject, call: Caller
) -> None:
    with_second_eval(banked_shapes).edit(EVAL.parent / "again" / "eval.yml", "name: again", "name: other")
    done = call(banked_shapes, "leaderboard")
    assert done.code == 1
    assert f"{AGAIN}: invalid: " in done.out
    assert f"{NAME}: awaiting review" in done.out


def test_arms_of_one_eval_are_compared(banked_shapes: ShapesProject, call: Caller) -> None:
    done = call(banked_shapes, "compare", "replayed", "--by", "arm")
    assert (done.code, done.err) == (0, "")
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert lines[0] == f"{NAME} by mean_score:scene_coverage"
    assert lines[1] == f"{NAME}: recorded answers, not live models, in 8 of 8 runs"
    assert any("worked-example − terse (replay/sketcher-small)" in line for line in lines)
    assert "3 shared items cannot show any difference" in " ".join(lines)
    assert lines[-1].endswith("p adjusted for 2 comparisons (Holm); 0 of 2 differences are clear at 5 %.")


def test_two_evals_are_compared_cell_by_cell(banked_shapes: ShapesProject, call: Caller) -> None:
    done = call(with_second_eval(banked_shapes), "compare", "again", "replayed", "--metric", "render_rate", "--json")
    assert (done.code, done.err) == (0, "")
    told = json.loads(done.out)
    assert (told["first"], told["second"], told["metric"]) == (AGAIN, NAME, "render_rate")
    assert (len(told["items"]["equal"]), told["items"]["changed"]) == (3, [])
    assert [(one["difference"], one["p_adjusted"], one["items"]) for one in told["comparisons"]] == [(0.0, 1.0, 3)] * 4
    assert len(told["warnings"]) == 2


def test_an_edited_item_is_left_out(banked_shapes: ShapesProject, call: Caller) -> None:
    """The second eval keeps its own copy of the dataset, in which one text differs."""
    project = with_second_eval(banked_shapes)
    scenes = project.root / "cases/shape-drawing/datasets/scenes-v1"
    shutil.copytree(scenes, scenes.parent / "scenes-v2")
    project.edit(EVAL.parent / "again" / "eval.yml", "scenes-v1", "scenes-v2")
    project.edit("cases/shape-drawing/datasets/scenes-v2/dataset.yml", "A large red circle", "A small red circle")
    told = json.loads(call(project, "compare", "again", "replayed", "--json").out)
    assert told["items"]["changed"] == ["red-sun"]
    assert len(told["items"]["equal"]) == 2
    assert told["warnings"][0].startswith("datasets differ: 2 items compared; left out are 1 of equal ID and other")


def test_mistakes_end_in_one_line(banked_shapes: ShapesProject, call: Caller) -> None:
    with_second_eval(banked_shapes)
    line = one_line(call(banked_shapes, "compare", "again", "replayed", "--by", "arm"), 2)
    assert line.startswith("--by: belongs to the comparison within one eval")
    assert "is named twice" in one_line(call(banked_shapes, "compare", "again", "again"), 2)
    line = one_line(call(banked_shapes, "compare", "replayed", "--metric", "render_rat"), 2)
    assert line == f"no metric of {NAME} named 'render_rat'; did you mean render_rate?"
    assert call(banked_shapes, "compare", "replayed", "--by", "arms").code == 2


def test_reviews_count_in_a_comparison(banked_shapes: ShapesProject, call: Caller) -> None:
    asked = ("compare", NAME, "--by", "arm", "--metric", "human_pass_rate", "--json")
    owed = json.loads(call(banked_shapes, *asked).out)
    assert [one["difference"] for one in owed["comparisons"]] == [None, None]
    review(banked_shapes, "ada", lambda result: "--terse--" not in result.run_id)
    told = json.loads(call(banked_shapes, *asked).out)
    assert all(one["difference"] > 0 for one in told["comparisons"])


def test_a_policy_that_changed_stands_beside_a_comparison(banked_shapes: ShapesProject, call: Caller) -> None:
    banked_shapes.edit_eval("scene_coverage: {pass_at: 0.8}", "scene_coverage: {pass_at: 0.5}")
    done = call(banked_shapes, "compare", NAME, "--by", "arm")
    assert done.code == 0
    assert f"{NAME}: policy changed after the evidence existed (was, now)" in " ".join(done.out.split())
