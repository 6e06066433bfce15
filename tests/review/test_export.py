"""What a pack holds, for whom, and which words cannot be a pack."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.calling import Caller, one_line
from tests.projects import EXPERIMENT, ShapesProject
from tests.review.hostile import hostile
from tests.review.packs import (
    NAME,
    PackFolder,
    artifact,
    export,
    item_of,
    keys,
    one_run_only,
    responses,
    review_all,
    take_in,
    write,
)


def places(pack: PackFolder) -> set[tuple[str, str]]:
    return {item_of(pack, entry) for entry in pack.ids}


def generated(project: ShapesProject) -> set[tuple[str, str]]:
    found = project.eval.glob("runs/*/items/*/result.yml")
    return {(path.parts[-4], path.parts[-2]) for path in found if "status: generated" in path.read_text()}


def test_a_pack_holds_what_is_owed_and_can_be_shown(banked_shapes: ShapesProject, call: Caller) -> None:
    pack = export(call, banked_shapes)
    assert places(pack) == generated(banked_shapes)
    assert len(pack.ids) == 22, "two of 24 outputs are no pictures"
    for entry in pack.entries:
        (shown,) = entry["inputs"]
        assert shown["label"] == "scene"
        assert shown["text"].startswith(("A large red circle", "Three upright stripes", "A green circle. Two black"))
    assert {path.name for path in pack.folder.iterdir()} == {"review.html", "responses.csv", "README.txt"}
    assert pack.data["rubric"]["rationale"].startswith("# Why these questions")


def test_partial_evidence_is_reviewed_as_far_as_it_goes(banked_shapes: ShapesProject, call: Caller) -> None:
    one_run_only(banked_shapes)
    assert places(export(call, banked_shapes)) == generated(banked_shapes)


def test_one_run_alone(banked_shapes: ShapesProject, call: Caller) -> None:
    run = sorted(banked_shapes.run_ids())[0]
    pack = export(call, banked_shapes, "ada", "--run", run)
    assert {place[0] for place in places(pack)} == {run}
    done = call(banked_shapes, "review", "export", NAME, "--reviewer", "ada", "--run", "no-such-run")
    assert "'no-such-run': is no run of" in one_line(done, 2)


def test_what_was_answered_is_left_out_unless_all_is_asked_for(banked_shapes: ShapesProject, call: Caller) -> None:
    first = export(call, banked_shapes)
    file = write(banked_shapes.root / "r.yml", responses(first, ids=first.ids[:5]))
    assert take_in(call, banked_shapes, "--partial", file).code == 0
    rest = export(call, banked_shapes)
    assert places(rest) == places(first) - {item_of(first, entry) for entry in first.ids[:5]}
    assert places(export(call, banked_shapes, "ada", "--all")) == places(first)
    assert places(export(call, banked_shapes, "bo", "--all")) == places(rest), "one review is enough here"


def test_with_two_reviews_wanted_each_reviewer_owes_one(two_reviewers: ShapesProject, call: Caller) -> None:
    one_run_only(two_reviewers)
    ada = review_all(call, two_reviewers, "ada")
    done = call(two_reviewers, "review", "export", NAME, "--reviewer", "ada")
    assert (done.code, done.out, done.err) == (0, f"{NAME}: nothing to review for ada\n", "")
    assert places(export(call, two_reviewers, "bo")) == places(ada)


def test_evidence_that_does_not_verify_is_left_out_and_told(banked_shapes: ShapesProject, call: Caller) -> None:
    run, item = sorted(generated(banked_shapes))[0]
    path = artifact(banked_shapes, run, item) / "render.png"
    path.write_bytes(path.read_bytes() + b"\0")
    done = call(banked_shapes, "review", "export", NAME, "--reviewer", "ada")
    assert done.code == 0
    assert f"warning: left out: {run}: " in done.err
    pack = PackFolder(Path(), keys(banked_shapes)[0])
    assert {entry["run_id"] for entry in pack.key["entries"].values()} == {
        one for one, _ in generated(banked_shapes)
    } - {run}


def test_nothing_to_review_yet(shapes: ShapesProject, call: Caller) -> None:
    done = call(shapes, "review", "export", NAME, "--reviewer", "ada")
    assert (done.code, done.out, done.err) == (0, f"{NAME}: nothing to review for ada\n", "")
    assert not keys(shapes)
    assert not (shapes.root / "build").exists()


@pytest.mark.parametrize("name", ["", "Ada", "ada lovelace", "ada--l", "-ada", "../ada", "a" * 61, "ädа", "ada\n"])
def test_a_reviewer_is_an_id(name: str, banked_shapes: ShapesProject, call: Caller) -> None:
    done = call(banked_shapes, "review", "export", NAME, "--reviewer", name)
    assert "is no ID; use lowercase letters and digits" in one_line(done, 2)
    assert not keys(banked_shapes)


@pytest.mark.parametrize("command", [("export", "--reviewer", "ada"), ("import", "r.yml"), ("status",)])
def test_an_eval_without_human_review_says_so(
    command: tuple[str, ...], banked_shapes: ShapesProject, call: Caller
) -> None:
    banked_shapes.edit_eval("  human_review:\n    rubric: ../../rubrics/drawing.yml\n", "")
    banked_shapes.edit_eval("requires: [mechanical, human]", "requires: [mechanical]")
    banked_shapes.edit_eval("    human: {required_reviews_per_item: 1, on_disagreement: adjudicate}\n", "")
    done = call(banked_shapes, "review", command[0], NAME, *command[1:])
    assert "declares no human review; add evaluation.human_review.rubric" in one_line(done, 2)


def test_options_that_exclude_each_other(banked_shapes: ShapesProject, call: Caller) -> None:
    done = call(banked_shapes, "review", "export", NAME, "--reviewer", "ada", "--all", "--adjudicate")
    assert one_line(done, 2) == "--all and --adjudicate: say one of them"


def test_an_unknown_subcommand_names_the_nearest(banked_shapes: ShapesProject, call: Caller) -> None:
    done = call(banked_shapes, "review", "exprt")
    assert done.code == 2
    assert "Did you mean export or import?" in done.err


def test_every_command_says_what_it_does(banked_shapes: ShapesProject, call: Caller) -> None:
    told = call(banked_shapes, "review", "--help", columns=80)
    assert (told.code, told.err) == (0, "")
    assert "..." not in told.out.partition("Commands:")[2], "nothing is cut off"
    for name in ("export", "import", "status"):
        assert call(banked_shapes, "review", name, "--help").out.startswith(f"Usage: tamesu review {name} ")


def test_an_eval_with_errors_is_not_exported(banked_shapes: ShapesProject, call: Caller) -> None:
    (banked_shapes.path(EXPERIMENT) / "rubrics" / "drawing.yml").write_text("name: [")
    assert "drawing.yml" in one_line(call(banked_shapes, "review", "export", NAME, "--reviewer", "ada"), 1)


def test_a_folder_of_ones_own(banked_shapes: ShapesProject, call: Caller) -> None:
    pack = export(call, banked_shapes, "ada", "--output", "out/for-ada")
    assert {path.name for path in pack.folder.iterdir()} == {"review.html", "responses.csv", "README.txt"}
    assert (banked_shapes.root / "out" / "for-ada.zip").is_file()


@pytest.mark.parametrize("name", ["README.txt", "review.html"])
def test_a_folder_with_files_of_ones_own_is_not_overwritten(
    name: str, banked_shapes: ShapesProject, call: Caller
) -> None:
    own = banked_shapes.root / "own" / name
    own.parent.mkdir()
    own.write_text("mine")
    done = call(banked_shapes, "review", "export", NAME, "--reviewer", "ada", "--output", "own")
    assert one_line(done, 2).endswith(f"own/{name}: is of no pack and would be overwritten; name another folder")
    assert [path.name for path in own.parent.iterdir()] == [name]
    assert own.read_text() == "mine"
    assert not keys(banked_shapes)


def test_packs_of_one_reviewer_are_numbered(banked_shapes: ShapesProject, call: Caller) -> None:
    names = [export(call, banked_shapes, reviewer).name for reviewer in ("ada", "ada", "ada-2", "ada")]
    assert [name[:-7] for name in names] == ["ada-001", "ada-002", "ada-2-001", "ada-003"]
    shutil.rmtree(banked_shapes.root / "build")
    assert export(call, banked_shapes, "ada").name.startswith("ada-004-")


def test_texts_and_several_roles_are_shown_by_their_role(tmp_path: Path, call: Caller) -> None:
    hostile_text = "</script><script>alert(1)</script> \u202e \u2028"
    project = hostile(tmp_path / "lab", {"page": hostile_text}, ["source"], arms=("candidate-b",))
    (entry,) = export(call, project).entries
    (shown,) = entry["outputs"]
    assert (shown["kind"], shown["text"], shown["source"]) == ("text", hostile_text, None)
    assert shown["remarks"] == ["holds characters that turn the direction of reading"]
    page = export(call, project).page
    assert hostile_text not in page
    assert page.count("<script") == 2
    assert page.count("</script") == 2
