"""Redirects of model calls: followed a bounded number of times on their own origin, and never to another."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live import Model, item
from tests.live_runs.attempt_lab import attempted, differences, the_attempt
from tests.servers import ModelServer, Reply
from tests.servers.model_server import Received

MODELS = [
    Model("openai", "gpt-4o"),
    Model("anthropic", "claude-sonnet-4-5"),
    Model("google", "gemini-2.5-flash"),
    Model("mistral", "mistral-large-latest"),
]
Special = tuple[int, dict[str, str], bytes] | None
by_name = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.provider)


def moved(received: Received) -> Special:
    if received.path.startswith("/moved"):
        return None
    return 307, {"location": f"/moved{received.path}"}, b""


@by_name
def test_a_307_on_the_same_origin_is_followed_with_its_body(tmp_path: Path, model: Model) -> None:
    with ModelServer(instead=moved) as server:
        project = attempted(tmp_path / "p", server, [model], items=2)
        assert len(server.calls) == 4 and len(server.asked) == 2
    record = the_attempt(project)
    assert differences(record) == [] and record["failed"] == 0
    assert (record["wire"]["requests"], record["wire"]["answered"]) == (2, 2)
    assert [line["redirects"] for line in project.wire() if line["event"] == "answered"] == [1, 1]


@by_name
@pytest.mark.parametrize("status", [303, 307])
def test_another_origin_gets_neither_prompt_nor_key(tmp_path: Path, model: Model, status: int) -> None:
    with ModelServer() as elsewhere:

        def away(received: Received) -> Special:
            return status, {"location": f"{elsewhere.url}{received.path}"}, b'{"error": {"message": "moved"}}'

        with ModelServer(instead=away) as server:
            project = attempted(tmp_path / "p", server, [model], items=2)
            assert len(server.calls) == 2
        assert elsewhere.requests == []
    for result in project.results().values():
        assert result["state"] == "failed" and result["retryable"]
        assert len(result["error"]["message"]) < 400 and "\n" not in result["error"]["message"]
        assert str(status) in str(result["error"]) or "moved" in str(result["error"])
    assert the_attempt(project)["lost_usd"] == 0.0


def test_a_303_on_the_same_origin_asks_no_second_answer(tmp_path: Path) -> None:
    def see_other(received: Received) -> Special:
        if received.path == "/elsewhere":
            return 200, {"content-type": "text/html"}, b"<html>an answer 4</html>"
        return (303, {"location": "/elsewhere"}, b"") if received.method == "POST" else None

    with ModelServer(other=see_other) as server:
        project = attempted(tmp_path / "p", server, MODELS[:1], checked=False, items=1)
        assert [(one.method, one.path) for one in server.requests if one.path != "/metrics"] == [
            ("POST", "/v1/chat/completions"),
            ("GET", "/elsewhere"),
        ]
    assert project.results()[item(1)]["state"] == "failed"
    assert project.results()[item(1)]["scores"] == {}


def test_a_loop_of_redirects_is_bounded(tmp_path: Path) -> None:
    with ModelServer(instead=lambda received: (307, {"location": received.path}, b"")) as server:
        project = attempted(tmp_path / "p", server, MODELS[:1], items=1)
        assert len(server.calls) == 11
    assert project.results()[item(1)]["state"] == "failed"
    assert "307" in str(project.results()[item(1)]["error"])


def test_a_user_in_the_target_does_not_make_it_another_origin_look_the_same(tmp_path: Path) -> None:
    with ModelServer() as elsewhere:
        port = elsewhere.url.rpartition(":")[2]

        def away(received: Received) -> Special:
            own = received.headers["host"]
            return 308, {"location": f"//{own}@127.0.0.1:{port}{received.path}"}, b""

        with ModelServer(Reply(), instead=away) as server:
            attempted(tmp_path / "p", server, MODELS[:1], items=1)
            assert len(server.calls) == 1
        assert elsewhere.requests == []
