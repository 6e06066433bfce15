"""Rescore where only what version control carries is here: checks from stored outputs, never from what was altered."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tamesu.base.canonical import digest_bytes
from tests.native.project import EVAL, ITEMS, Tickets, tickets
from tests.sealing import write_sealed


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Tickets:
    """Three tickets under two prompts, one answered wrongly, run and committed."""
    project = tickets(tmp_path_factory.mktemp("origin") / "project", items=3)
    project.answer("login-loop", {"text": '{"queue": "billing"}', "usage": {"input": 9, "output": 9}})
    assert project.tamesu("run").code == 0
    for command in (("init", "-q"), ("add", "-A"), ("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "x")):
        git(project.root, *command)
    return project


def git(folder: Path, *command: str) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(("git", *command), cwd=folder, env=clean, check=True)


@pytest.fixture
def clone(origin: Tickets, tmp_path: Path) -> Tickets:
    git(tmp_path, "clone", "-q", str(origin.root), "clone")
    project = Tickets(tmp_path / "clone")
    assert not list(project.eval.glob("runs/*/inspect"))
    return project


def evidence(project: Tickets) -> dict[str, bytes]:
    """Return run.yml, attempts, results and artifacts by path."""
    kept = (path for path in (project.eval / "runs").rglob("*") if path.is_file() and path.name != "report.yml")
    return {
        path.relative_to(project.eval).as_posix(): path.read_bytes() for path in kept if "inspect" not in path.parts
    }


def result_of(project: Tickets, item: str) -> Path:
    (path,) = project.eval.glob(f"runs/*--names--*/items/{item}/result.yml")
    return path


def re_record(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change a result and the inventory that pins it, as a version of Tamesu that scored otherwise would leave them."""
    result = yaml.safe_load(path.read_text())
    change(result)
    path.write_text(yaml.safe_dump(result, sort_keys=False))
    record_file = path.parents[2] / "run.yml"
    record = yaml.safe_load(record_file.read_text())
    record["items"][path.parent.name]["result"] = digest_bytes(path.read_bytes())
    write_sealed(record_file, record)


def test_checks_that_say_the_same_change_nothing_and_ask_nobody(clone: Tickets) -> None:
    before, board = evidence(clone), (clone.eval / "leaderboard.md").read_bytes()
    done = clone.tamesu("rescore", "replayed")
    assert done.code == 0, done.err
    assert done.out.count("complete, 3/3, checks made again from stored outputs, as its log is not here") == 2
    assert evidence(clone) == before
    assert (clone.eval / "leaderboard.md").read_bytes() == board
    assert clone.calls() == []


def test_scores_of_another_version_are_made_anew_from_the_output(clone: Tickets, origin: Tickets) -> None:
    path, right = result_of(clone, "cancel-plan"), evidence(origin)

    def wrong(result: dict[str, Any]) -> None:
        result["scores"]["valid_json"] |= {"value": 0.0, "passed": False, "raw": 0.0}
        del result["scores"]["exact_match"]

    re_record(path, wrong)
    forged = digest_bytes(path.read_bytes())
    assert clone.states() == {"banked": 2}
    done = clone.tamesu("rescore", "replayed")
    assert done.code == 0, done.err
    assert evidence(clone) == right
    assert "1 of 3 results differs from what was recorded" in done.err
    assert "cancel-plan: exact_match none -> 1.0 passed, valid_json 0.0 not passed -> 1.0 passed" in done.err
    (event,) = (
        event
        for log in clone.eval.glob("logs/*--names--*.jsonl")
        for event in map(json.loads, log.read_text().splitlines())
        if event["event"] == "result_replaced"
    )
    assert event["was"]["sha256"] == forged
    assert event["was"]["scores"] == {"valid_json": {"passed": False, "value": 0.0}, **event["was"]["scores"]}
    assert (clone.eval / "tables/items.csv").read_bytes() == (origin.eval / "tables/items.csv").read_bytes()


@pytest.mark.parametrize("file", ["artifacts/output.txt", "artifacts/output.json", "result.yml"])
def test_nothing_is_scored_of_an_item_whose_files_were_altered(clone: Tickets, file: str) -> None:
    altered = result_of(clone, "cancel-plan").parent / file
    other = result_of(clone, "login-loop")
    re_record(other, lambda result: result["scores"].pop("valid_json"))
    altered.write_bytes(altered.read_bytes() + b"\n")
    before = result_of(clone, "cancel-plan").read_bytes()
    done = clone.tamesu("rescore", "replayed")
    assert done.code == 2
    assert f"items/cancel-plan/{file}: is not what was recorded, so nothing is scored of it; restore it" in done.err
    assert result_of(clone, "cancel-plan").read_bytes() == before
    assert "valid_json" in yaml.safe_load(other.read_text())["scores"]


def test_an_output_that_is_gone_or_no_file_is_named(clone: Tickets) -> None:
    stored = result_of(clone, "cancel-plan").parent / "artifacts/output.txt"
    stored.unlink()
    done = clone.tamesu("rescore", "replayed")
    assert (done.code, "output.txt: No such file or directory; restore it" in done.err) == (2, True)
    os.mkfifo(stored)
    done = clone.tamesu("rescore", "replayed")
    assert (done.code, "output.txt: is not a regular file; restore it" in done.err) == (2, True)


def test_another_threshold_is_judged_in_the_views_and_leaves_results_as_they_were(clone: Tickets) -> None:
    before = evidence(clone)
    assert {row["pass:exact_match"] for row in clone.rows()} == {"true", "false"}
    clone.edit(EVAL / "eval.yml", "    - exact_match\n", "    - {exact_match: {pass_at: 0.0}}\n")
    assert clone.tamesu("rescore", "replayed").code == 0
    assert evidence(clone) == before
    assert {row["pass:exact_match"] for row in clone.rows()} == {"true"}


def test_another_expectation_is_another_run_and_no_rescoring(clone: Tickets) -> None:
    before = evidence(clone)
    clone.edit(ITEMS, '"queue": "billing"', '"queue": "other"')
    done = clone.tamesu("rescore", "replayed")
    assert (done.code, "checks made again" in done.out) == (0, False)
    assert evidence(clone) == before
    assert clone.states() == {"owed": 2}


def test_an_attempt_record_of_another_content_refuses_the_run(clone: Tickets) -> None:
    (record,) = clone.eval.glob("runs/*--names--*/attempts/01.yml")
    record.write_text(record.read_text().replace("calls_lost: 0", "calls_lost: 1"))
    done = clone.tamesu("rescore", "replayed")
    assert done.code == 2
    assert "attempts/01.yml: differs from its inventory" in done.err
    assert done.out.count("checks made again") == 1


def test_a_later_log_that_is_refused_leaves_its_results_in_their_place(tmp_path: Path) -> None:
    project = tickets(tmp_path / "project", items=2)
    project.answer("login-loop", {"error": "the line is dead"})
    for _ in range(2):
        assert project.tamesu("run").code == 1
    before = evidence(project)
    (journal,) = project.eval.glob("runs/*--names--*/inspect/calls-02.jsonl")
    journal.write_bytes(journal.read_bytes().replace(b"the line is dead", b"the line is gone"))
    refused = project.tamesu("rescore", "replayed")
    assert refused.code == 2
    assert evidence(project) == before
