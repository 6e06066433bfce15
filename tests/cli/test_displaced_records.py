"""Records that were copied, renamed or edited: none counts where it does not belong, or twice, or against its reply."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.calling import Caller, one_line
from tests.judged import review
from tests.judging import recorded
from tests.projects import ShapesProject


def first(project: ShapesProject, pattern: str) -> Path:
    """Return the first record that fits a pattern below the eval."""
    return sorted(project.eval.glob(pattern))[0]


class TestJudgments:
    def test_a_copy_under_another_number_is_no_further_verdict(self, tmp_path: Path, call: Caller) -> None:
        project = recorded(tmp_path / "p", repetitions=2)
        assert call(project, "judge").code == 0
        second = first(project, "runs/*/items/*/judgments/*--0002.yml")
        shutil.copyfile(second.with_name(second.name.replace("0002", "0001")), second)
        told = one_line(call(project, "status"), 1)
        assert f"{second}: is number 1 of judge 'critic'" in told and "remove the copy" in told

    def test_answers_that_the_reply_does_not_give_do_not_count(self, tmp_path: Path, call: Caller) -> None:
        project = recorded(tmp_path / "p")
        assert call(project, "judge").code == 0
        record = first(project, "runs/*/items/*/judgments/*.yml")
        text = record.read_text()
        record.write_text(text.replace("passed: true\n    reason: none", "passed: false\n    reason: wrong-size", 1))
        assert record.read_text() != text
        told = one_line(call(project, "leaderboard"), 1)
        assert f"{record}: its answers are not what its reply says; restore it from version control" in told


class TestReviews:
    def test_a_copy_in_another_name_is_no_further_reviewer(self, tmp_path: Path, call: Caller) -> None:
        project = recorded(tmp_path / "p")
        record = review(project, "ada")[0]
        shutil.copyfile(record, record.with_name(record.name.replace("ada", "bob")))
        told = one_line(call(project, "status"), 1)
        assert "is a review by 'ada', not by whom the file is named after; remove the copy" in told

    @pytest.mark.parametrize("known", [True, False], ids=["read-before", "never-read"])
    def test_the_records_of_one_run_are_not_those_of_another(self, tmp_path: Path, call: Caller, known: bool) -> None:
        project = recorded(tmp_path / "p")
        review(project, "ada")
        if known:
            assert call(project, "status").code == 0
        one, other = sorted((project.eval / "runs").iterdir())[:2]
        for folder in other.glob("items/*/reviews"):
            shutil.rmtree(folder)
        for folder in one.glob("items/*/reviews"):
            shutil.copytree(folder, other / folder.relative_to(one))
        told = one_line(call(project, "status"), 1)
        assert f"of run {one.name}; move it back" in told
