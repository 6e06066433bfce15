"""Packs as targets of the workflow: made from the evidence of now, never by default, and never twice for nothing."""

from __future__ import annotations

import csv
import io

import yaml

from tests.projects import EVAL, EXPERIMENT, ShapesProject
from tests.workflow.situations import evidence

FOLDER = "build/review/shape-drawing/prompt-wording/replayed/ada"
PAGE = f"{FOLDER}/review.html"
NAME = "shape-drawing/prompt-wording/replayed"


def keys(project: ShapesProject) -> list[str]:
    return sorted(path.stem for path in (project.eval / "review" / "keys").glob("*.yml"))


def answer_all(project: ShapesProject) -> None:
    """Fill in the sheet that the workflow made, and import it."""
    sheet = project.path(FOLDER) / "responses.csv"
    rows = list(csv.reader(io.StringIO(sheet.read_text(encoding="utf-8-sig"), newline="")))
    for row in rows[1:]:
        for name in ("objects", "arrangement", "recognizable"):
            row[rows[0].index(name)] = "yes"
    filled = project.root / "ada.csv"
    with filled.open("w", newline="") as stream:
        csv.writer(stream).writerows(rows)
    done = project.tamesu("review", "import", NAME, str(filled))
    assert done.code == 0, done.out + done.err


def test_a_pack_is_a_target_until_its_reviews_are_in(banked_shapes: ShapesProject) -> None:
    project = banked_shapes
    before = evidence(project)
    assert "review" not in project.jobs(), "nobody is asked by default"
    assert project.jobs(PAGE) == {"review": 1}
    done = project.snakemake("--", PAGE)
    assert done.code == 0, done.out + done.err
    (key,) = keys(project)
    assert len(yaml.safe_load((project.eval / "review" / "keys" / f"{key}.yml").read_text())["entries"]) == 22
    assert project.path(PAGE).stat().st_size > 10_000
    assert project.jobs(PAGE) == {}, "made already"
    assert evidence(project) == before

    answer_all(project)
    assert project.jobs(PAGE) == {"metrics": 1, "report": 1, "review": 1}
    done = project.snakemake("--", PAGE)
    assert done.code == 0, done.out + done.err
    assert "Nothing to review" in project.path(PAGE).read_text()
    assert keys(project) == [key]
    assert "evidence complete" in project.tamesu("status").out


def test_a_changed_rubric_makes_a_new_pack(banked_shapes: ShapesProject) -> None:
    project = banked_shapes
    assert project.snakemake("--", PAGE).code == 0
    project.edit(EXPERIMENT / "rubrics" / "drawing.yml", "visible in the drawing?", "visible?")
    assert "review" in project.jobs(PAGE)
    assert project.snakemake("--", PAGE).code == 0
    assert len(keys(project)) == 2
    assert "visible?" in project.path(PAGE).read_text()


def test_a_sheet_that_was_begun_is_not_lost(banked_shapes: ShapesProject) -> None:
    project = banked_shapes
    assert project.snakemake("--", PAGE).code == 0
    sheet = project.path(FOLDER) / "responses.csv"
    begun = sheet.read_text(encoding="utf-8-sig").replace(",,,,,,,,,,", ",yes,,,,,,,,,", 1)
    sheet.write_text(begun)
    project.edit(EXPERIMENT / "rubrics" / "drawing.yml", "visible in the drawing?", "visible?")
    done = project.snakemake("--", PAGE)
    assert done.code != 0
    assert "holds answers; import it or move it away, then export again" in done.out + done.err
    assert sheet.read_text() == begun


def test_only_ids_are_reviewers(banked_shapes: ShapesProject) -> None:
    done = banked_shapes.snakemake("-n", "--", PAGE.replace("/ada/", "/Ada Lovelace/"))
    assert done.code != 0
    assert "MissingRuleException" in done.out + done.err
    assert not (banked_shapes.path(EVAL) / "review").exists()
