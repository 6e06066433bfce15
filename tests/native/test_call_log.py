"""The call log of a native run: one event per call, however often it is ingested."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from tests.native.project import Tickets, tickets


def events(project: Tickets, arm: str) -> list[dict[str, Any]]:
    (path,) = project.eval.glob(f"logs/*--{arm}--*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def calls(project: Tickets, arm: str = "names") -> list[dict[str, Any]]:
    return [event for event in events(project, arm) if event["event"] == "provider_attempt"]


def test_every_call_is_told_once_with_what_came_of_it(tmp_path: Path) -> None:
    project = tickets(tmp_path / "project", items=2)
    project.answer("login-loop", {"error": "the line is dead"})
    assert project.tamesu("run").code == 1
    kinds = [event["event"] for event in events(project, "names")]
    assert kinds[:4] == ["run_started", "inspect_log", "provider_attempt", "provider_attempt"]
    by_item = {call["item"]: call for call in calls(project)}
    answered, failed = by_item["double-charge"], by_item["login-loop"]
    assert (answered["state"], answered["error"], answered["recorded"]) == ("answered", None, True)
    assert answered["usage"] == project.results()["names", "double-charge"]["usage"]
    assert failed["error"] == {"type": "ProviderUnavailable", "message": "the line is dead"}
    assert failed["parameters"] == answered["parameters"]
    other = {call["item"]: call for call in calls(project, "definitions")}
    assert answered["prompt"] != other["double-charge"]["prompt"]

    assert project.tamesu("run").code == 1
    told = Counter((call["attempt"], call["item"]) for call in calls(project))
    assert told == {(1, "double-charge"): 1, (1, "login-loop"): 1, (2, "login-loop"): 1}


def test_ingesting_again_tells_what_a_death_kept_from_the_log_and_nothing_twice(tmp_path: Path) -> None:
    project = tickets(tmp_path / "project", items=3)
    assert project.tamesu("run").code == 0
    whole = calls(project)
    assert len(whole) == 3
    assert project.tamesu("rescore", "replayed").code == 0
    assert calls(project) == whole
    (path,) = project.eval.glob("logs/*--names--*.jsonl")
    lines = path.read_text().splitlines()
    first = next(number for number, line in enumerate(lines) if '"provider_attempt"' in line)
    path.write_text("\n".join(lines[: first + 1]) + "\n" + lines[first + 1][:40])
    assert project.tamesu("rescore", "replayed").code == 0
    kept = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]
    told = [event for event in kept if event["event"] == "provider_attempt"]
    timeless = [{**event, "time": None} for event in told]
    assert timeless == [{**event, "time": None} for event in whole]
