"""The same picture eval on both backends: recorded pictures become the same files, outcomes and figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.backends import OF_THE_BACKEND, boards_differ_in, differing, execution, of_the_answer, table, with_views
from tests.pictures.drawn import BROKEN, drawn
from tests.pictures.project import EVAL, USAGE, Pictures, answers, pictures, recorded, write_answers

URL = b"https://pictures.example.org/mug.png"


def worked_off(target: Path, backend: str) -> Pictures:
    """Return the project after one attempt; under the long prompt a reply holds several pictures, or a URL."""
    project = pictures(target)
    lines = answers(target)
    several = [recorded(target, f"several-{size}.png", drawn(size=(size, size))) for size in (40, 50)]
    for item, shown in {"mug": several, "lamp": [recorded(target, "url.txt", URL)]}.items():
        (line,) = (line for line in lines if (line["item"], line["arm"]) == (item, "long"))
        line["turns"] = [{"text": "as you wish", "pictures": shown, "usage": USAGE}]
    write_answers(target, lines)
    chosen = execution(backend, "{cost_limit: 0.1, time_limit: 60}")
    project.edit(EVAL / "eval.yml", "defaults:\n", f"{chosen}defaults:\n")
    with_views(project)
    return project


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Pictures, Pictures]:
    target = tmp_path_factory.mktemp("both")
    return worked_off(target / "native", "native"), worked_off(target / "inspect", "inspect")


def test_tables_and_leaderboard_are_the_same_but_for_what_names_the_run_and_the_clock(
    both: tuple[Pictures, Pictures],
) -> None:
    native, inspect = (table(project, "items.csv") for project in both)
    assert len(native) == len(inspect) == 8
    assert differing(native, inspect) <= OF_THE_BACKEND - {"error_type"}
    assert differing(*(table(project, "runs.csv") for project in both)) == {"run_id"}
    (other,) = boards_differ_in(*both)
    assert other.startswith("Evidence: sha256:")


def test_the_values_are_those_of_the_answers(both: tuple[Pictures, Pictures]) -> None:
    rows = table(both[1], "items.csv")
    kept = ("state", "outcome", "outcome_reason", "answer", "score:min_resolution")
    assert {(row["arm"], row["item"]): tuple(row[name] for name in kept) for row in rows} == {
        ("short", "mug"): ("complete", "generated", "", "text", "1.0"),
        ("short", "lamp"): ("complete", "generated", "", "text", "0.0"),
        ("short", "chair"): ("complete", "invalid_artifact", "undecodable_image", "text", "0.0"),
        ("short", "knife"): ("complete", "safety_filtered", "content_filter", "filtered", "0.0"),
        ("long", "mug"): ("complete", "generated", "", "text", "1.0"),
        ("long", "lamp"): ("complete", "invalid_artifact", "picture_by_url", "text", "0.0"),
        ("long", "chair"): ("complete", "generated", "", "text", "1.0"),
        ("long", "knife"): ("complete", "generated", "", "text", "1.0"),
    }


def test_the_results_and_the_files_that_were_kept_are_the_same(both: tuple[Pictures, Pictures]) -> None:
    native, inspect = ({cell: of_the_answer(one) for cell, one in project.results().items()} for project in both)
    assert native == inspect
    mug, lamp, chair = (both[1].artifacts(*cell) for cell in (("long", "mug"), ("long", "lamp"), ("short", "chair")))
    assert {path.name: path.read_bytes() for path in mug.iterdir()} == {
        "output-0001.png": drawn(size=(40, 40)),
        "output-0002.png": drawn(size=(50, 50)),
        "words.txt": b"as you wish",
    }
    assert (lamp / "invalid-0001.bin").read_bytes() == URL
    assert (chair / "invalid-0001.bin").read_bytes() == BROKEN
