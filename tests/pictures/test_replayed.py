"""A picture eval end to end with recorded pictures: files by content, outcomes told apart, checks made again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.pictures.drawn import BROKEN, drawn
from tests.pictures.project import ANSWERS, EVAL, RECORDINGS, Pictures, pictures
from tests.shared import made_once


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Pictures:
    """The project with its one run over; tests that change anything take a copy."""

    def run(target: Path) -> None:
        ended = pictures(target).tamesu("run")
        assert ended.code == 0, ended.out + ended.err

    return Pictures(made_once(tmp_path_factory, "pictures", run))


def outcomes(project: Pictures) -> dict[tuple[str, str], tuple[str, str | None]]:
    return {
        place: (found["outcome"]["status"], found["outcome"]["reason"]) for place, found in project.results().items()
    }


def figures(project: Pictures, arm: str) -> list[str]:
    """Return the figures of an arm on the leaderboard, in the order of the manifest."""
    board = (project.eval / "leaderboard.md").read_text()
    line = next(line for line in board.splitlines() if f"| {arm} |" in line)
    return [cell.split(" ")[1] for cell in line.split("|")[7:-1]]


def test_every_outcome_is_told_apart(done: Pictures) -> None:
    assert outcomes(done) == {
        ("short", "mug"): ("generated", None),
        ("short", "lamp"): ("generated", None),
        ("short", "chair"): ("invalid_artifact", "undecodable_image"),
        ("short", "knife"): ("safety_filtered", "content_filter"),
        **{("long", item): ("generated", None) for item in ("mug", "lamp", "chair", "knife")},
    }
    assert {found["state"] for found in done.results().values()} == {"complete"}


def test_files_are_named_by_what_they_decode_to(done: Pictures) -> None:
    mug = done.artifacts("short", "mug")
    assert (mug / "output-0001.png").read_bytes() == drawn()
    assert (mug / "words.txt").read_text() == "Here is your mug."
    assert [path.name for path in done.artifacts("short", "lamp").iterdir()] == ["output-0001.jpg"]
    assert (done.artifacts("short", "chair") / "invalid-0001.bin").read_bytes() == BROKEN
    artifact = done.results()["short", "chair"]["artifacts"][0]
    assert (artifact["role"], artifact["media_type"]) == ("output", "application/octet-stream")


def test_what_is_invalid_or_withheld_stays_in_the_denominators(done: Pictures) -> None:
    assert figures(done, "short") == ["0.500", "0.250", "0.250", "0.250", "0.500"]
    assert "1 output of 8 was no valid artifact" in (done.eval / "leaderboard.md").read_text()


def test_a_withheld_answer_is_not_asked_again(done: Pictures) -> None:
    assert len(done.calls()) == 8
    assert done.states() == {"banked": 2}


def test_the_journal_holds_digests_and_no_picture(done: Pictures) -> None:
    for journal in done.eval.glob("runs/*/inspect/calls-01.jsonl"):
        assert b"PNG" not in journal.read_bytes()
        assert max(len(line) for line in journal.read_bytes().splitlines()[1:]) < 1000


def test_rescore_makes_the_checks_again_and_another_minimum_owes_nothing(done: Pictures, tmp_path: Path) -> None:
    shutil.copytree(done.root, tmp_path / "copy")
    project = Pictures(tmp_path / "copy")
    before = project.results()
    project.edit(EVAL / "eval.yml", "{width: 32, height: 24}", "{width: 40, height: 30}")
    assert project.states() == {"banked": 2}
    ended = project.tamesu("rescore", "replayed")
    assert ended.code == 0, ended.err
    assert project.results() == before
    assert figures(project, "short") == ["0.500", "0.250", "0.250", "0.000", "0.000"]
    assert len(project.calls()) == 8


def test_a_recorded_picture_that_changed_or_went_is_told_in_one_line(tmp_path: Path) -> None:
    project = pictures(tmp_path / "project")
    folder = project.path(RECORDINGS) / "pictures"
    (folder / "mug.png").write_bytes(drawn(plain=True))
    (folder / "lamp.jpg").unlink()
    told = project.tamesu("lint")
    assert told.code == 1
    lines = [line for line in told.out.splitlines() if "replay/picture" in line]
    assert lines[0].startswith(f"{ANSWERS.as_posix()}:2:1: error replay/picture the picture 'pictures/mug.png' holds")
    assert lines[1].startswith(f"{ANSWERS.as_posix()}:3:1: error replay/picture the picture 'pictures/lamp.jpg' cannot")
    assert len(lines) == 2
