"""From recorded pictures over judge and review to a closed eval and its page; what is no picture is shown to nobody."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.judged import review
from tests.pictures.project import CASE, EVAL, EXPERIMENT, ITEMS, Pictures, pictures
from tests.shared import made_once

RUBRIC = "name: looks\ndimensions:\n  - {id: product_reference, question: Is it the product?, reason_codes: [other]}\n"
JUDGED = """\
  model_judges:
    - id: critic
      provider: replay
      model: critic-1
      role: gate
      rubric: ../../rubrics/looks.yml
      prompts: {system: ../../prompts/judge.md, user: ../../prompts/judge-user.md}
      parameters: {recordings: ../../recordings/verdicts.jsonl}
  human_review: {rubric: ../../rubrics/looks.yml}
  acceptance: {requires: [mechanical, human, critic], human: {required_reviews_per_item: 1}}
metrics:
"""


def judged(target: Path) -> Pictures:
    """Return the project with a judge and a review, run and judged, and every review written."""
    project = pictures(target)
    verdicts = [{"tamesu_recording": 1, "label": "made for a test"}]
    for item in ITEMS:
        passed = item != "lamp"
        answer = {"product_reference": {"note": "", "pass": passed, "reason": "none" if passed else "other"}}
        verdicts.append({"item": item, "judge": "critic", "turns": [{"text": json.dumps(answer)}]})
    files = {
        "rubrics/looks.yml": RUBRIC,
        "prompts/judge.md": "You judge pictures.\n",
        "prompts/judge-user.md": "Judge this.\n",
        "recordings/verdicts.jsonl": "".join(json.dumps(line) + "\n" for line in verdicts),
    }
    for path, text in files.items():
        place = project.path(EXPERIMENT / path)
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)
    project.edit(EVAL / "eval.yml", "metrics:\n", JUDGED)
    project.edit(
        EVAL / "eval.yml", "secondary: [", "secondary: [product_reference_pass_rate_given_image, accepted_rate, "
    )
    for command in (("run",), ("judge", "replayed"), ("review", "export", "replayed", "--reviewer", "ada")):
        ended = project.tamesu(*command)
        assert ended.code == 0, (command, ended.out + ended.err)
    review(project, "ada")
    return project


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Pictures:
    return Pictures(made_once(tmp_path_factory, "judged-pictures", judged))


def test_a_pack_holds_the_valid_pictures_alone(done: Pictures) -> None:
    (responses,) = done.root.glob("build/**/responses.csv")
    lines = responses.read_text().splitlines()
    assert len(lines) - 1 == 6
    page = responses.with_name("review.html").read_text()
    assert page.count("data:image/png;base64,") + page.count("data:image/jpeg;base64,") >= 6
    assert "invalid-0001" not in page and "I cannot draw that" not in page


def test_a_judge_sees_the_valid_pictures_alone_as_pictures(done: Pictures) -> None:
    records = sorted((done.eval / "runs").glob("*/items/*/judgments/*.yml"))
    assert len(records) == 6
    assert not {path.parents[1].name for path in records if "--short--" in str(path)} & {"chair", "knife"}


def test_what_was_judged_and_reviewed_closes_and_is_presented(done: Pictures, tmp_path: Path) -> None:
    shutil.copytree(done.root, tmp_path / "copy")
    project = Pictures(tmp_path / "copy")
    for command in (("close", "replayed"), ("present", "product-pictures")):
        ended = project.tamesu(*command)
        assert ended.code == 0, (command, ended.out + ended.err)
    board = (project.eval / "leaderboard.md").read_text()
    long = next(line for line in board.splitlines() if "| long |" in line)
    figures = [cell.split(" ")[1] for cell in long.split("|")[7:-1]]
    assert figures[:3] == ["1.000", "1.000", "0.750"]
    page = (project.root / "build" / CASE.name / "index.html").read_text()
    assert page.count("data:image/png;base64,") >= 6
    assert "withheld by a filter" in page and "undecodable_image" in page
