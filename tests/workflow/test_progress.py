"""What `tamesu run` shows while it works: lines in a pipe, JSON for programs, a live table on a terminal."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tamesu.edge.store.paths import Project
from tamesu.workflow_files import workflow_folder
from tests.ingest.lab import attempt, failing, lab, turn, work_off
from tests.projects import Done, ShapesProject
from tests.resilience import counting
from tests.resilience.counting import Numbers
from tests.terminal import on_terminal

SCHEMA = json.loads((workflow_folder() / "schemas" / "output" / "run.schema.json").read_text(encoding="utf-8"))
ITEMS = {"good": turn(), "bad": failing("connection reset"), "late": [turn()]}
CLOSED = "echo x plain rep 1: attempt 1 finished, 2/3 items good, 1 failed"


def work(target: Path, *, paid: bool = True) -> ShapesProject:
    """A run of three items, of which one fails."""
    return lab(target, ITEMS, paid=paid, changes={"defaults": {"max_attempts": 1, "retries": 0}})


def events(done: Done) -> list[dict[str, Any]]:
    """Return the lines of `--json`, each valid, the outcome last."""
    read = [json.loads(line) for line in done.out.splitlines()]
    for one in read:
        Draft202012Validator(SCHEMA).validate(one)
    assert [one["event"] for one in read].count("outcome") == 1
    assert read[-1]["event"] == "outcome"
    assert read[-1]["exit_code"] == done.code
    return read


def kinds(read: list[dict[str, Any]]) -> list[str]:
    """Return the events but those of calls, which depend on time."""
    return [one["event"] for one in read if one["event"] != "calls_ended"]


def test_the_schema_describes_every_field() -> None:
    Draft202012Validator.check_schema(SCHEMA)

    def undescribed(schema: Any, name: str) -> list[str]:
        found = [] if "description" in schema else [name]
        for key, field in schema.get("properties", {}).items():
            found += undescribed(field, f"{name}.{key}")
        for kind in schema.get("oneOf", []):
            found += undescribed(kind, kind["title"])
        return found + (undescribed(schema["items"], f"{name}[]") if "items" in schema else [])

    assert undescribed(SCHEMA, "") == []


class TestJson:
    def test_events_and_the_outcome_and_nothing_else(self, tmp_path: Path) -> None:
        project = work(tmp_path / "lab")
        read = events(project.tamesu("run", "--json"))
        assert kinds(read) == ["attempt_begun", "item_ended", "item_ended", "item_ended", "attempt_closed", "outcome"]
        first, *_, close, outcome = read
        assert (first["model"], first["asked"], first["paid"], first["recorded"]) == ("echo", 3, True, True)
        items = [one for one in read if one["event"] == "item_ended"]
        assert {one["item"]: one["failed"] for one in items} == {"good": False, "bad": True, "late": False}
        assert items[-1]["cost_usd"] == close["cost_usd"] > 0
        assert (close["state"], close["finished"], close["failed"]) == ("finished", 3, 1)
        assert close["line"].startswith(CLOSED)
        assert outcome["exit_code"] == 1
        (evaluation,) = outcome["evals"]
        assert (evaluation["runs"], evaluation["banked"], evaluation["recorded"]) == (1, 0, True)
        assert evaluation["spent_usd"] == pytest.approx(project.spent())
        (run,) = evaluation["not_banked"]
        assert (run["run_id"], run["planned"], run["complete"], run["failed"]) == (first["run_id"], 3, 2, 1)
        assert all(project.path(file).exists() for file in evaluation["files"])

    def test_free_answers_cost_nothing_and_a_second_run_has_only_an_outcome(self, tmp_path: Path) -> None:
        project = lab(tmp_path / "lab", {"one": turn()})
        read = events(project.tamesu("run", "--json"))
        assert kinds(read) == ["attempt_begun", "item_ended", "attempt_closed", "outcome"]
        assert (read[0]["paid"], read[1]["cost_usd"], read[2]["cost_usd"]) == (False, None, 0)
        assert read[-1]["evals"][0]["banked"] == 1
        assert kinds(events(project.tamesu("run", "--json"))) == ["outcome"]

    def test_a_refusal_is_one_line_on_stderr(self, tmp_path: Path) -> None:
        done = work(tmp_path / "lab").tamesu("run", "--json", "--pay-usd", "0")
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)


def test_a_pipe_gets_begin_and_end_of_each_attempt(tmp_path: Path) -> None:
    done = work(tmp_path / "lab").tamesu("run")
    assert done.code == 1
    first, second, third, *_ = done.out.splitlines()
    assert first == "echo x plain rep 1: attempt 1 asks 3 items"
    assert second.startswith(CLOSED)
    assert third.startswith("shape-drawing/")
    assert "\x1b" not in done.out


def test_progress_that_nobody_can_open_harms_nothing(tmp_path: Path) -> None:
    project = work(tmp_path / "lab")
    (project.root / ".tamesu").mkdir()
    (project.root / ".tamesu" / "progress").touch()
    done = project.tamesu("run")
    assert (done.code, CLOSED in done.out, len(project.calls())) == (1, True, 3)


def on_a_full_disk() -> None:
    """Have progress written where every write fails."""
    Project.progress = lambda self, invocation: Path("/dev/full")  # type: ignore[method-assign]


def test_a_disk_that_is_full_for_progress_harms_nothing(tmp_path: Path) -> None:
    project = work(tmp_path / "lab")
    work_off(project, before=on_a_full_disk)
    record = attempt(project)
    assert (record["state"], record["failed"], len(record["finished"])) == ("finished", 1, 3)


class TestTerminal:
    def test_the_table_stays_as_it_was_in_the_end(self, tmp_path: Path) -> None:
        project = work(tmp_path / "lab")
        seen = on_terminal(project, "run")
        assert seen.code == 1
        screen = seen.screen
        head = next(number for number, line in enumerate(screen) if line.split() == HEAD)
        cost = f"{project.spent():.4f}"
        assert screen[head + 2].split() == ["echo", "plain", "1", "3/3", "1", cost, "finished"]
        assert screen[head + 4].startswith(f" 1/1 runs, 3/3 items, 1 failed, {cost} USD, 0:")
        assert screen[head + 4].endswith(" (recorded)")
        assert sum(line.split() == HEAD for line in screen) == 1
        (above,) = (line for line in screen[:head] if line)
        assert above.startswith(CLOSED)
        assert max(map(len, screen[head : head + 5])) <= 80
        assert not any("attempt 1 asks" in line for line in screen)
        assert any(line.startswith("shape-drawing/") for line in screen[head:])
        assert seen.written.count("\x1b[?25l") == seen.written.count("\x1b[?25h") == 1

    @pytest.mark.long
    def test_a_terminal_that_goes_away_ends_no_work(self, tmp_path: Path) -> None:
        project = work(tmp_path / "lab")
        ours, theirs = pty.openpty()
        with (tmp_path / "err").open("wb") as err:
            child = subprocess.Popen(
                [sys.executable, "-m", "tamesu", "run"],
                cwd=project.root,
                env={**os.environ, "TERM": "xterm"},
                stdin=subprocess.DEVNULL,
                stdout=theirs,
                stderr=err,
                start_new_session=True,
            )
        os.close(theirs)
        assert os.read(ours, 1)
        os.close(ours)
        assert child.wait(timeout=240) == 129
        assert "Traceback" not in (tmp_path / "err").read_text()
        assert (attempt(project)["state"], len(project.run_ids())) == ("finished", 1)

    @pytest.mark.long
    def test_ctrl_c_leaves_the_interrupted_row(self, tmp_path: Path) -> None:
        project = counting.make(tmp_path / "counting", Numbers(items=16, concurrency=4, latency_seconds=0.5))
        seen = on_terminal(project, "run", press=(lambda: len(project.calls()) > 4, b"\x03"))
        assert seen.code == 130
        head = next(number for number, line in enumerate(seen.screen) if line.split() == HEAD)
        row = seen.screen[head + 2].split()
        assert (row[0], row[2], row[-1]) == ("counter", "1", "interrupted")
        assert 0 < int(row[3].removesuffix("/16")) < 16
        assert seen.written.count("stopping: what is in flight is cut off and asked again by the next run") == 1
        assert "Traceback" not in seen.written
        assert seen.written.count("\x1b[?25h") == 1
        assert project.tamesu("run").code == 0


HEAD = ["model", "arm", "rep", "done", "failed", "cost", "USD", "state"]
