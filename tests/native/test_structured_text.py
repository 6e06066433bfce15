"""The tickets example end to end: answers kept, checked, counted; what is done is never asked again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from tests.native.project import EVAL, EXPERIMENT, ITEMS, Tickets, tickets


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Tickets:
    project = tickets(tmp_path_factory.mktemp("tickets") / "project")
    ended = project.tamesu("run")
    assert ended.code == 0, ended.out + ended.err
    return project


def figures(project: Tickets, metric: str) -> dict[str, float]:
    """Return a metric by arm, counted from the rows and results themselves."""
    by_arm: dict[str, list[float]] = {}
    for (arm, _), result in project.results().items():
        by_arm.setdefault(arm, []).append(float(result["scores"][metric]["value"]))
    return {arm: round(sum(values) / len(values), 3) for arm, values in by_arm.items()}


def test_the_figures_are_those_of_the_recorded_answers(done: Tickets) -> None:
    assert figures(done, "exact_match") == {"definitions": 0.792, "names": 0.333}
    assert figures(done, "field:queue") == {"definitions": 0.917, "names": 0.625}
    board = (done.eval / "leaderboard.md").read_text()
    assert "0.792 \\[0.595, 0.908\\] (n=24)" in board
    assert "Recorded answers: these figures describe replayed recordings" in board


def test_an_answer_is_kept_as_it_came_and_as_the_value_that_it_is(done: Tickets) -> None:
    fenced = next(path for path in done.eval.glob("runs/*--names--*/items/card-declined/artifacts/output.txt"))
    assert fenced.read_text().startswith("```json\n")
    assert fenced.with_name("output.json").read_text() == (
        '{\n  "queue": "billing",\n  "urgency": "normal",\n  "money": {\n    "refund_asked": false\n  }\n}\n'
    )
    prose = done.results()["names", "thanks"]
    assert [artifact["role"] for artifact in prose["artifacts"]] == ["output"]
    assert prose["scores"]["valid_json"]["explanation"] == "line 1, column 1: Expecting value"


def test_truncated_answers_are_told_apart(done: Tickets) -> None:
    cut = done.results()["names", "data-leak"]
    assert (cut["state"], cut["answer"], cut["scores"]["valid_json"]["value"]) == ("complete", "truncated", 0.0)


def test_every_item_was_asked_once_and_a_second_run_asks_nothing(done: Tickets) -> None:
    assert len(done.calls()) == 48
    again = done.tamesu("run")
    assert (again.code, len(done.calls())) == (0, 48)
    assert done.jobs() == {}


def test_the_report_counts_confused_queues(done: Tickets) -> None:
    report = (done.eval / "evaluation-report.md").read_text()
    section = report.partition("### queue: replay/sorter-small · names")[2].partition("###")[0]
    assert "| other | 0 | 1 | 0 | 0 | 0 | 2 | 1 |" in section


def test_a_check_that_is_listed_later_owes_nothing(tmp_path: Path) -> None:
    project = tickets(tmp_path / "project", items=3)
    project.edit(EVAL / "eval.yml", "    - exact_match\n", "")
    assert project.tamesu("run").code == 0
    before = project.calls()
    project.edit(EVAL / "eval.yml", "    - schema_valid\n", "    - schema_valid\n    - exact_match\n")
    assert project.states() == {"banked": 2}
    assert project.tamesu("report", "replayed").code == 0
    assert project.calls() == before
    assert "policy changed after the evidence existed" in (project.eval / "leaderboard.md").read_text()


def test_a_changed_schema_or_prompt_owes_its_runs(tmp_path: Path) -> None:
    project = tickets(tmp_path / "project", items=2)
    assert project.tamesu("run").code == 0
    project.edit(EXPERIMENT / "prompts/names.md", "You sort", "Please sort")
    assert project.states() == {"banked": 1, "owed": 1}
    project.edit(EXPERIMENT / "schemas/ticket.json", '"Who answers it."', '"Who is to answer it."')
    assert project.states() == {"owed": 2}


def test_a_reply_that_failed_is_asked_again_up_to_the_bound(tmp_path: Path) -> None:
    project = tickets(tmp_path / "project", items=2)
    project.answer("login-loop", {"error": "the line is dead"})
    ended = project.tamesu("run")
    assert ended.code == 1
    failed = project.results()["names", "login-loop"]
    assert (failed["state"], failed["retryable"], failed["attempts"]) == ("failed", True, 1)
    assert failed["error"] == {"type": "ProviderUnavailable", "message": "the line is dead"}
    assert project.states() == {"partial": 2}
    for _ in range(2):
        project.tamesu("run")
    assert project.states() == {"failed": 2}
    assert sum(call["item"] == "login-loop" for call in project.calls()) == 6
    assert sum(call["item"] == "double-charge" for call in project.calls()) == 2


def test_a_call_that_failed_is_not_counted_in_a_field_that_its_item_does_not_expect(tmp_path: Path) -> None:
    project = tickets(tmp_path / "project", items=2)
    project.answer("login-loop", {"error": "the line is dead"})
    project.edit(ITEMS, '"technical", "urgency": "high"', '"technical"')
    project.edit(EXPERIMENT / "schemas/ticket.json", '    "urgency",\n    "money"\n', '    "money"\n')
    project.edit(EVAL / "eval.yml", "  retries: 0\n", "  retries: 0\n  max_attempts: 1\n")
    project.tamesu("run")
    assert project.states() == {"failed": 2}
    board = (project.eval / "leaderboard.md").read_text()
    assert "| queue_accuracy | urgency_accuracy | money.refund_asked_accuracy |" in board
    assert board.count("| 0.500 \\[0.095, 0.905\\] (n=2) | 1.000 (n=1) | 0.500 \\[0.095, 0.905\\] (n=2) |") == 2


def test_answers_of_a_dead_process_are_counted_and_not_asked_again(tmp_path: Path) -> None:
    project = tickets(tmp_path / "project", items=2)
    assert project.tamesu("run").code == 0
    results = project.results()
    for run in (project.eval / "runs").iterdir():
        for left in ("attempts", "items"):
            shutil.rmtree(run / left)
        (run / "run.yml").unlink()
        journal = run / "inspect/calls-01.jsonl"
        journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))
    ended = project.tamesu("run")
    assert (ended.code, len(project.calls())) == (0, 4)
    assert project.results() == results
    attempts = sorted(project.eval.glob("runs/*/attempts/01.yml"))
    assert [yaml.safe_load(one.read_text())["state"] for one in attempts] == ["died", "died"]


def test_a_lost_record_of_an_attempt_is_asked_for_and_nothing_is_asked_again(tmp_path: Path) -> None:
    project = tickets(tmp_path / "project", items=2)
    assert project.tamesu("run").code == 0
    records = sorted((project.eval / "runs").glob("*/attempts/01.yml"))
    evidence = [path for name in ("run.yml", "result.yml") for path in (project.eval / "runs").rglob(name)]
    before = {path: path.read_bytes() for path in evidence}
    for record in records:
        record.rename(record.with_name("lost"))
    refused = project.tamesu("rescore", "replayed")
    assert refused.code == 2
    assert refused.err.count("attempts/01.yml: is missing and run.yml counts on it; restore it from version") == 2
    assert project.tamesu("run").code != 0
    assert {path: path.read_bytes() for path in before} == before
    assert not any(record.exists() for record in records)
    assert len(project.calls()) == 4
    for record in records:
        record.with_name("lost").rename(record)
    assert project.tamesu("run").code == 0
    assert len(project.calls()) == 4


def test_rescore_makes_every_check_anew_from_what_is_stored(tmp_path: Path) -> None:
    project = tickets(tmp_path / "project", items=2)
    assert project.tamesu("run").code == 0
    before = project.results()
    ended = project.tamesu("rescore", "replayed")
    assert (ended.code, project.results()) == (0, before)
    journal = next(project.eval.glob("runs/*/inspect/calls-01.jsonl"))
    journal.write_bytes(journal.read_bytes().replace(b'"answered":true', b'"answered":false', 1))
    refused = project.tamesu("rescore", "replayed")
    assert refused.code == 2
    assert "was altered after attempt 1 recorded it" in refused.err


def test_altered_answers_are_no_evidence(tmp_path: Path) -> None:
    project = tickets(tmp_path / "project", items=2)
    assert project.tamesu("run").code == 0
    stored = next(project.eval.glob("runs/*/items/double-charge/artifacts/output.txt"))
    stored.write_text('{"queue": "returns"}')
    assert "differs from its inventory" in project.tamesu("status").out


def test_assets_that_no_model_would_see_block_the_run(tmp_path: Path) -> None:
    project = tickets(tmp_path / "project", items=1)
    project.path(ITEMS).with_name("photo.txt").write_text("seen by nobody")
    project.edit(ITEMS, '{"id": "double-charge"', '{"assets": ["photo.txt"], "id": "double-charge"')
    refused = project.tamesu("run")
    assert refused.code == 2
    photo = ITEMS.with_name("photo.txt").as_posix()
    assert f"asset '{photo}' cannot be sent: backend 'native' sends pictures alone, as PNG, JPEG, WebP" in refused.err
    assert project.calls() == []


def test_arms_are_compared_by_any_metric_of_the_task(done: Tickets) -> None:
    told = done.tamesu("compare", "replayed", "--by", "arm", "--json")
    assert told.code == 0, told.err
    by_field = done.tamesu("compare", "replayed", "--by", "arm", "--metric", "queue_accuracy", "--json")
    assert by_field.code == 0, by_field.err
    assert '"items": 24' in told.out and '"items": 24' in by_field.out
