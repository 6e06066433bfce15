"""xAI over gRPC, where no HTTP client can be handed over: what the provider's client returns says what was sent."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import pytest

from tests import live
from tests.live_runs.attempt_lab import attempt, differences, the_attempt
from tests.servers.grok_server import INPUT_TOKENS, OUTPUT_TOKENS, Failing, GrokServer

MODEL = "grok-2-1212"  # the family that takes the most parameters
SENT: dict[str, Any] = {
    "frequency_penalty": 0.25,
    "max_tokens": 234,
    "presence_penalty": 0.5,
    "seed": 7,
    "temperature": 0.5,
    "top_p": 0.75,
}


def asked(target: Path, server: GrokServer, parameters: dict[str, Any], **settings: Any) -> live.LiveProject:
    project = live.make(target, server.url, [live.Model("grok", MODEL, parameters)], items=2, **settings)
    worked = attempt(project, checked=False)
    assert worked.error is None, worked
    return project


def test_a_run_over_grpc_sends_what_was_declared(tmp_path: Path) -> None:
    with GrokServer() as server:
        project = asked(tmp_path / "p", server, SENT)
    assert len(server.asked) == 2
    for request in server.asked:
        assert {name: getattr(request, name) for name in SENT} == SENT
    assert server.keys == {f"Bearer {project.key}"}
    record = the_attempt(project)
    assert (record["state"], differences(record), record["wire"]["way"]) == ("finished", [], "call")
    assert {run["state"] for run in project.plan()["runs"]} == {"banked"}  # type: ignore[attr-defined]
    (result, _) = project.results().values()
    tokens = SimpleNamespace(**result["usage"])  # type: ignore[arg-type]
    assert (tokens.input, tokens.output) == (INPUT_TOKENS, OUTPUT_TOKENS)
    assert project.spent() == pytest.approx(2 * (INPUT_TOKENS * 1.0 + OUTPUT_TOKENS * 4.0) / 1e6)


def test_a_parameter_that_does_not_travel_over_grpc_is_drift(tmp_path: Path) -> None:
    with GrokServer() as server:
        project = asked(tmp_path / "p", server, {"top_k": 5})
    assert differences(the_attempt(project)) == [("not sent", "top_k", 2)]
    assert {run["state"] for run in project.plan()["runs"]} == {"drifted"}  # type: ignore[attr-defined]


def test_another_model_that_answers_over_grpc_is_drift(tmp_path: Path) -> None:
    with GrokServer(served="grok-2-mini") as server:
        project = asked(tmp_path / "p", server, {})
    assert [found[0] for found in differences(the_attempt(project))] == ["served by another model"]


def test_c28_over_grpc_one_layer_retries(tmp_path: Path) -> None:
    with GrokServer(lambda number: Failing(grpc.StatusCode.UNAVAILABLE)) as server:
        asked(tmp_path / "p", server, {}, defaults={"retries": 2, "concurrency": 1, "timeout_seconds": 100})
    assert len(server.asked) == 2 * 3
