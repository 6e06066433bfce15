"""The product-images example: recorded from its pictures to the closing, and what it shows on the way."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from PIL import Image

from tamesu.base.model.evidence import ItemResult
from tamesu.edge.store.records import read_record
from tests.product_images import (
    DATASETS,
    EXAMPLE,
    EXPORT,
    IMPORT,
    RECORDINGS,
    REVIEW,
    ProductImages,
    closed,
    key_of,
    product_images,
    review_of,
    script,
)

LABEL = "Recorded answers: these figures describe replayed recordings, not live models"
UNUSABLE = {
    ("name-only", "backpack"): ("invalid_artifact", "undecodable_image"),
    ("name-only", "pocket-knife"): ("safety_filtered", "content_filter"),
    ("written-details", "pocket-knife"): ("invalid_artifact", "missing_review_artifact"),
}


@pytest.fixture
def images(tmp_path: Path) -> ProductImages:
    return closed(tmp_path / "product-images")


def results(project: ProductImages) -> dict[tuple[str, str], ItemResult]:
    found = sorted(project.eval.glob("runs/*/items/*/result.yml"))
    return {(path.parents[2].name.split("--")[1], path.parent.name): read_record(path, ItemResult) for path in found}


def shown(content: bytes) -> tuple[tuple[int, int], bytes] | None:
    """Return size and pixels of a picture, whatever its bytes: a later library may compress otherwise."""
    try:
        with Image.open(io.BytesIO(content)) as image:
            return image.size, image.convert("RGBA").tobytes()
    except OSError:
        return None


def rows(project: ProductImages) -> list[dict[str, str]]:
    with (project.eval / "tables/items.csv").open() as table:
        return list(csv.DictReader(table))


def test_from_run_to_promotion_as_its_readme_says(images: ProductImages) -> None:
    """The project was run, judged, reviewed and closed by the commands of the README; the last of them are here."""
    readme = (EXAMPLE / "README.md").read_text()
    for command in (EXPORT, IMPORT, ("run", "replayed"), ("close", "replayed"), ("promote", "replayed", "--dry-run")):
        assert f"    tamesu {' '.join(command)}" in readme
    (view,) = json.loads(images.tamesu("status", "--json").out)
    assert view["standing"] == "closed"
    (closing,) = yaml.safe_load((images.eval / "closing.yml").read_text())["closings"]
    assert (closing["items"], closing["accepted"], closing["waived"]) == (18, 6, [])
    assert len(list(images.eval.glob("runs/*/items/*/reviews/*.yml"))) == 13
    assert len(list(images.eval.glob("runs/*/items/*/judgments/*.yml"))) == 13
    dry = images.tamesu("promote", "replayed", "--dry-run")
    assert (dry.code, dry.err) == (0, "")
    assert "6 pictures of 2 runs would be promoted" in dry.out
    assert [path.name for path in images.path(DATASETS).iterdir()] == ["products-v1"]


def test_its_outputs_are_as_awkward_as_its_readme_says(images: ProductImages) -> None:
    found = results(images)
    unusable = {
        cell: (result.outcome.status, result.outcome.reason)
        for cell, result in found.items()
        if result.outcome.status != "generated"
    }
    assert (len(found), unusable) == (18, UNUSABLE)
    failed = {
        cell: [name for name, score in result.scores.items() if not score.passed]
        for cell, result in found.items()
        if result.outcome.status == "generated" and not all(score.passed for score in result.scores.values())
    }
    assert failed == {
        ("name-only", "desk-lamp"): ["has_transparency"],
        ("name-only", "notebook"): ["min_resolution"],
        ("written-details", "stool"): ["format_match"],
        ("written-details", "umbrella"): ["non_uniform"],
    }


def test_judge_and_reviewer_differ_about_two_pictures(images: ProductImages) -> None:
    looked = [row for row in rows(images) if row["human_pass"]]
    differ = {(row["arm"], row["item"]) for row in looked if row["human_pass"] != row["judge:second-look"]}
    assert (len(looked), differ) == (13, {("name-only", "mug"), ("written-details", "backpack")})


def test_recorded_pictures_and_verdicts_are_labelled(images: ProductImages) -> None:
    for view in ("leaderboard.md", "evaluation-report.md"):
        text = (images.eval / view).read_text()
        assert LABEL in text
    assert "second-look replayed recordings, no model was asked" in (images.eval / "evaluation-report.md").read_text()
    assert "synthetic: made up for this example" in images.path(RECORDINGS / "README.md").read_text()


def test_a_withheld_picture_is_told_as_such_wherever_its_failure_is(images: ProductImages) -> None:
    report = (images.eval / "evaluation-report.md").read_text()
    assert "| pocket-knife | " in report
    assert "| safety_filtered: content_filter |\n" in report
    assert "- 1 output of 18 was withheld by a safety filter and counted as not accepted without review." in report
    page = images.path("build/product-shots/written-details/replayed.html").read_text()
    assert '<div class="nothing">content_filter</div>' in page
    assert "✗ withheld by a filter" in page
    assert "nothing to show" not in page


def test_the_committed_review_answers_the_pack_that_the_readme_exports(images: ProductImages) -> None:
    """When another identity gives the runs other IDs, `python -m tests.product_images` writes it anew."""
    assert review_of(key_of(images)) == images.path(REVIEW).read_text()


def test_the_script_draws_the_pictures_that_are_committed(tmp_path: Path) -> None:
    drawn: Any = script()
    project = product_images(tmp_path / "product-images")
    before = {path.name: path.read_bytes() for path in project.path(RECORDINGS / "pictures").iterdir()}
    recorded = {name: project.path(RECORDINGS / name).read_text() for name in ("answers.jsonl", "verdicts.jsonl")}
    drawn.HERE = project.path(RECORDINGS)
    drawn.main()
    after = {path.name: path.read_bytes() for path in project.path(RECORDINGS / "pictures").iterdir()}
    assert {name: shown(content) for name, content in after.items()} == {
        name: shown(content) for name, content in before.items()
    }
    assert sum(shown(content) is None for content in before.values()) == 1  # the one that is cut short
    assert project.path(RECORDINGS / "verdicts.jsonl").read_text() == recorded["verdicts.jsonl"]
    answers = [json.loads(line) for line in recorded["answers.jsonl"].splitlines()[1:]]
    assert [(line["arm"], line["item"]) for line in answers] == [
        (arm, item) for arm, items in drawn.ARMS.items() for item in items
    ]
    assert max(len(content) for content in before.values()) < 8000
