"""C28: retries live in one layer, bound what the server sees, and are paid for at their upper bound."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.live import Model, make
from tests.live_runs.attempt_lab import attempt, attempted, states, the_attempt
from tests.live_runs.test_faulty_replies import CHAT, GEMINI, LARGEST_CALL, LOCAL, MESSAGES, MISTRAL, RESPONSES
from tests.servers import ModelServer, Reply

SLOW_DOWN = Reply(status=429, headers={"retry-after": "3600"}, body=b'{"error": {"message": "slow down"}}')


@pytest.mark.long
@pytest.mark.parametrize(
    "model",
    [CHAT, RESPONSES, MESSAGES, GEMINI, MISTRAL, LOCAL],
    ids=lambda model: f"{model.provider}-{model.name}".replace("/", "-"),
)
def test_c28_a_silent_server_sees_one_request_and_the_declared_retries(tmp_path: Path, model: Model) -> None:
    settings = {"retries": 2, "timeout_seconds": 1}
    with ModelServer(Reply(silent=True)) as server:
        project = attempted(tmp_path / "p", server, [model], items=2, defaults=settings)
        assert len(server.calls) == 6
    error = {
        "type": "AttemptTimeoutError",
        "message": "3 calls failed, the last with: no answer within timeout_seconds",
    }
    assert [result["error"] for result in project.results().values()] == [error, error]
    record = the_attempt(project)
    assert record["calls_lost"] == 6 and record["lost_usd"] == pytest.approx(6 * LARGEST_CALL)
    assert record["wire"]["requests"] == 6 and record["wire"]["answered"] == 0


def test_c28_without_retries_a_silent_server_is_asked_once_and_paid_at_the_bound(tmp_path: Path) -> None:
    with ModelServer(Reply(silent=True)) as server:
        project = attempted(tmp_path / "p", server, [CHAT], checked=False, items=2, defaults={"timeout_seconds": 1})
        assert len(server.calls) == 2
    assert the_attempt(project)["lost_usd"] == pytest.approx(2 * LARGEST_CALL)
    assert project.spent() == pytest.approx(2 * LARGEST_CALL)
    assert states(project) == {"gpt-4o": "partial"}


@pytest.mark.parametrize(
    "model",
    [CHAT, *(pytest.param(m, marks=pytest.mark.long) for m in (MESSAGES, GEMINI, MISTRAL, LOCAL))],
    ids=lambda model: f"{model.provider}-{model.name}".replace("/", "-"),
)
def test_c28_429_that_asks_for_an_hour_ends_with_the_time_limit_as_no_answer(tmp_path: Path, model: Model) -> None:
    began = time.monotonic()
    with ModelServer(SLOW_DOWN) as server:
        settings = {"retries": 9, "timeout_seconds": 5}
        limits = "{cost_limit: 0.25, time_limit: 4}"
        project = attempted(tmp_path / "p", server, [model], items=2, defaults=settings, limits=limits)
        assert 2 <= len(server.calls) <= 20
    assert time.monotonic() - began < 60
    for result in project.results().values():
        assert (result["state"], result["retryable"], result["limit"]) == ("failed", True, "time")
        assert result["error"]["type"] == "NoAnswer"
        # Inspect keeps of Google's error what the server said, without its status
        assert ("slow down" if model is GEMINI else "429") in result["error"]["message"]
    assert the_attempt(project)["lost_usd"] == 0.0, "a refusal is not billed"


def test_what_never_left_costs_nothing(tmp_path: Path) -> None:
    with ModelServer() as server:
        project = make(tmp_path / "p", server.url, [CHAT], items=2)
    # its port is closed by now
    assert attempt(project, checked=False).error is None
    assert {result["state"] for result in project.results().values()} == {"failed"}
    record = the_attempt(project)
    assert (record["wire"]["requests"], record["wire"]["answered"]) == (2, 0)
    assert (record["calls_lost"], record["lost_usd"]) == (0, 0.0)
    assert {line["error"] for line in project.wire() if line["event"] == "answered"} == {"Unreached"}
