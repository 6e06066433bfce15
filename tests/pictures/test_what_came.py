"""No call, no picture, too large a picture and an empty one are told apart, in one way on both backends."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.backends import execution, of_the_answer, table, with_views
from tests.pictures.drawn import drawn
from tests.pictures.project import EVAL, USAGE, Pictures, answers, pictures, recorded, write_answers
from tests.shared import made_once

LARGE = drawn(size=(40, 30)) + b" " * 5_000
SIZES = f"{len(LARGE):,} bytes, above the limit of 5,000"
TURNS: Mapping[str, Mapping[str, Any]] = {
    "mug": {"error": "503\n  overloaded"},
    "lamp": {"pictures": [("empty.png", b"")], "usage": USAGE},
    "chair": {"pictures": [("large.png", LARGE)], "text": "A chair.", "usage": USAGE},
    "knife": {"pictures": [("blank.png", b"  ")], "usage": USAGE},
}


def worked_off(target: Path, backend: str) -> Pictures:
    """Return the project after its one attempt; the long prompt gets what comes of a model on a bad day."""
    project = pictures(target)
    lines = [line for line in answers(target) if line["arm"] == "short"]
    for item, turn in TURNS.items():
        shown = [recorded(target, name, content) for name, content in turn.get("pictures", ())]
        lines.append({"item": item, "arm": "long", "turns": [{**turn, "pictures": shown}]})
    # no answer is recorded for the mug under the short prompt
    write_answers(target, [line for line in lines if (line["item"], line["arm"]) != ("mug", "short")])
    chosen = execution(backend, "{cost_limit: 0.1, time_limit: 60}")
    chosen += "  artifacts: {max_bytes: 5000}\ndefaults:\n  max_attempts: 1\n"
    project.edit(EVAL / "eval.yml", "defaults:\n", chosen)
    with_views(project)
    return project


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Pictures]:
    def work(target: Path) -> None:
        for backend in ("native", "inspect"):
            worked_off(target / backend, backend)

    made = made_once(tmp_path_factory, "what-came", work)
    return {backend: Pictures(made / backend) for backend in ("native", "inspect")}


BACKENDS = pytest.mark.parametrize("backend", ["native", "inspect"])


@BACKENDS
def test_each_is_told_as_what_it_is(both: Mapping[str, Pictures], backend: str) -> None:
    found = {item: result for (arm, item), result in both[backend].results().items() if arm == "long"}
    assert {item: (one["state"], one["answer"], *one["outcome"].values()) for item, one in found.items()} == {
        "mug": ("failed", "none", None, None),
        "lamp": ("complete", "empty", "invalid_artifact", "undecodable_image"),
        "chair": ("complete", "text", "invalid_artifact", "image_too_large"),
        "knife": ("complete", "text", "invalid_artifact", "undecodable_image"),
    }
    chair = found["chair"]
    assert [one["path"] for one in chair["artifacts"]] == ["artifacts/words.txt"]
    assert chair["rejected_artifacts"] == [
        {"role": "output", "path": "output-0001.png", "reason": "too_large", "size": len(LARGE), "limit": 5000}
    ]
    assert chair["scores"]["decodable_image"]["explanation"] == SIZES
    assert chair["scores"]["decodable_image"]["value"] == 0.0


@BACKENDS
def test_a_failed_call_is_no_invalid_artifact_in_any_view(both: Mapping[str, Pictures], backend: str) -> None:
    project = both[backend]
    report = (project.eval / "evaluation-report.md").read_text()
    board = (project.eval / "leaderboard.md").read_text()
    rows = table(project, "items.csv")
    told = [(row["item"], row["outcome_reason"]) for row in rows if row["outcome"] == "invalid_artifact"]
    reasons = "1 image_too_large, 3 undecodable_image"
    assert len(told) == 4
    assert f"4 outputs of 8 were no valid artifact and counted as not accepted without review: {reasons}." in report
    rates = next(line for line in board.splitlines() if "| long |" in line).split("|")
    assert [cell.split(" ")[1] for cell in rates[7:-3]] == ["0.000", "0.000", "0.750"]
    assert f"invalid_artifact: image_too_large ({SIZES})" in report


def test_both_backends_say_the_same_of_every_item(both: Mapping[str, Pictures]) -> None:
    native, inspect = ({cell: of_the_answer(one) for cell, one in both[name].results().items()} for name in both)
    assert native == inspect
    said = [
        {row["arm"]: row["error_message"] for row in table(both[name], "items.csv") if row["item"] == "mug"}
        for name in both
    ]
    none = "no answer is recorded for item 'mug', turn 1, in painter x short rep 1"
    assert said == [{"short": none, "long": "503 overloaded"}] * 2


def test_a_clone_scores_the_same_anew(both: Mapping[str, Pictures], tmp_path: Path) -> None:
    shutil.copytree(both["native"].root, tmp_path / "clone")
    clone = Pictures(tmp_path / "clone")
    before = clone.results()
    for private in clone.eval.glob("runs/*/inspect"):
        shutil.rmtree(private)
    ended = clone.tamesu("rescore", "replayed")
    assert ended.code == 0, ended.err
    assert clone.results() == before
