"""Replies that are no answer, half an answer, or an answer without its price."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.live import LiveProject, Model, item, task_with
from tests.live_runs.attempt_lab import attempt, attempted, by_item, number, states, the_attempt
from tests.servers import Asked, ModelServer, Reply, Usage

CHAT = Model("openai", "gpt-4o")
LOCAL = Model("openai-api/local", "base")
RESPONSES = Model("openai", "gpt-5-mini")
MESSAGES = Model("anthropic", "claude-sonnet-4-5")
GEMINI = Model("google", "gemini-2.5-flash")
MISTRAL = Model("mistral", "mistral-large-latest")
LARGEST_CALL = 0.000426  # 100 tokens of output at 4 USD and the prompt's 26 bytes at 1 USD a million
NO_CHOICE = b'{"choices":[],"usage":{"prompt_tokens":9},"prompt_filter_results":[{"hate":{"filtered":true}}]}'
ERROR = b'{"error":{"message":"overloaded"}}'
HTML = b"<html><body>Welcome: 4</body></html>"


def answers(project: LiveProject) -> dict[str, tuple[str, str | None]]:
    return {name: (result["answer"], result["stop_reason"]) for name, result in project.results().items()}


@pytest.mark.parametrize(
    "model",
    [CHAT, *(pytest.param(m, marks=pytest.mark.long) for m in (LOCAL, RESPONSES, MESSAGES, GEMINI, MISTRAL))],
    ids=lambda model: f"{model.provider}-{model.name}".replace("/", "-"),
)
def test_c31_no_choice_an_error_and_html_of_status_200_fail_their_items_alone(tmp_path: Path, model: Model) -> None:
    html = Reply(body=HTML, headers={"content-type": "text/html"})
    faults = {1: Reply(body=NO_CHOICE), 2: Reply(body=ERROR), 3: html}
    with ModelServer(by_item(faults)) as server:
        project = attempted(tmp_path / "p", server, [model], items=4)
        assert len(server.asked) == 4
    results = project.results()
    assert [results[item(n)]["state"] for n in (1, 2, 3, 4)] == ["failed", "failed", "failed", "complete"]
    assert states(project) == {model.name: "partial"}
    for n, told in ((1, "returned no choice"), (2, "overloaded"), (3, "no JSON object")):
        result = results[item(n)]
        assert result["error"]["type"] == "UnusableReply" and told in result["error"]["message"]
        assert result["retryable"] and result["scores"] == {}
    assert '"filtered": true' in results[item(1)]["error"]["message"]
    assert the_attempt(project)["lost_usd"] == pytest.approx(3 * LARGEST_CALL), "they may be billed"


def chat_reply(asked: Asked, message: dict[str, object], finish: str) -> Reply:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}
    usage = {"prompt_tokens": 10, "completion_tokens": 100, "total_tokens": 110}
    whole = {"id": "c", "object": "chat.completion", "created": 1, "model": asked.model, "choices": [choice]}
    return Reply(body=json.dumps({**whole, "usage": usage}).encode())


@pytest.mark.parametrize("model", [CHAT, pytest.param(LOCAL, marks=pytest.mark.long)], ids=["openai", "openai-api"])
def test_c30_null_empty_truncated_and_absent_are_told_apart(tmp_path: Path, model: Model) -> None:
    said: dict[int, tuple[dict[str, object], str]] = {
        1: ({"content": None, "reasoning_content": "it is 4"}, "length"),
        2: ({"content": ""}, "stop"),
        3: ({"content": "4"}, "length"),
        4: ({}, "stop"),
        5: ({"reasoning_content": "it is 4"}, "stop"),
    }
    with ModelServer(lambda asked: chat_reply(asked, *said[number(asked)])) as server:
        project = attempted(tmp_path / "p", server, [model], items=5)
    assert answers(project) == {
        item(1): ("truncated_empty", "max_tokens"),
        item(2): ("empty", "stop"),
        item(3): ("truncated", "max_tokens"),
        item(4): ("absent", "stop"),
        item(5): ("absent", "stop"),
    }
    scores = {name: result["scores"]["includes"]["value"] for name, result in project.results().items()}
    assert scores == {item(1): 0.0, item(2): 0.0, item(3): 1.0, item(4): 0.0, item(5): 0.0}, "reasoning is no answer"
    assert all(result["usage"]["output"] == 100 for result in project.results().values()), "tokens are charged"


def test_c12_an_error_is_asked_again_and_a_refusal_is_final(tmp_path: Path) -> None:
    refusal = Reply(text="I cannot help with that.", stop="content_filter")
    down = Reply(status=500, body=b'{"error": {"message": "down"}}')
    with ModelServer(by_item({3: [down, Reply()], 4: refusal})) as server:
        project = attempted(tmp_path / "p", server, [CHAT], items=5)
        assert project.results()[item(3)]["state"] == "failed" and project.results()[item(3)]["retryable"]
        assert attempt(project).error is None
        assert [number(asked) for asked in server.asked].count(3) == 2
        assert [number(asked) for asked in server.asked].count(4) == 1
        assert len(server.asked) == 6
    results = project.results()
    assert results[item(3)]["answer"] == "text" and results[item(3)]["scores"]["includes"]["value"] == 1.0
    assert answers(project)[item(4)] == ("filtered", "content_filter")
    assert states(project) == {"gpt-4o": "banked"}


def test_c06_attempts_are_recorded_on_exactly_the_items_that_needed_more(tmp_path: Path) -> None:
    down = Reply(status=500, body=b"{}")
    with ModelServer(by_item({1: [down, Reply()], 2: [down, down, Reply()]})) as server:
        project = attempted(tmp_path / "p", server, [CHAT], items=3)
        for _ in range(3):
            assert attempt(project).error is None
        assert len(server.asked) == 6
    assert {name: r["attempts"] for name, r in project.results().items()} == {item(1): 2, item(2): 3, item(3): 1}
    assert [record["asked"] for record in project.attempts()] == [
        [item(1), item(2), item(3)],
        [item(1), item(2)],
        [item(2)],
    ]


@pytest.mark.parametrize(
    "model",
    [CHAT, *(pytest.param(m, marks=pytest.mark.long) for m in (RESPONSES, MESSAGES, GEMINI, LOCAL, MISTRAL))],
    ids=lambda model: f"{model.provider}-{model.name}".replace("/", "-"),
)
def test_a_reply_without_usage_is_a_fault_and_charged_at_its_bound(tmp_path: Path, model: Model) -> None:
    with ModelServer(by_item({1: Reply(usage=None)})) as server:
        project = attempted(tmp_path / "p", server, [model], items=2)
    result = project.results()[item(1)]
    assert result["state"] == "failed"
    assert "usage" in result["error"]["message"]
    assert project.results()[item(2)]["state"] == "complete"
    assert the_attempt(project)["lost_usd"] == pytest.approx(LARGEST_CALL)
    assert the_attempt(project)["calls_lost"] == 1


LOOP = "from inspect_ai.tool import tool\nfrom inspect_ai.solver import use_tools\n" + task_with('''
    @tool
    def look():
        async def execute() -> str:
            """Look."""
            return "nothing"
        return execute

    @solver
    def own():
        return chain(use_tools(look()), generate())
''')


@pytest.mark.parametrize(
    ("limit", "reply", "requests"),
    [
        ("cost_limit: 0.0002, time_limit: 60", Reply(tool_call=("look", {}), usage=Usage(90, 15)), 2),
        ("cost_limit: 0.25, time_limit: 60, token_limit: 50", Reply(tool_call=("look", {})), 4),
        ("cost_limit: 0.25, time_limit: 60, message_limit: 4", Reply(tool_call=("look", {})), 2),
        ("cost_limit: 0.25, time_limit: 60, turn_limit: 3", Reply(tool_call=("look", {})), 4),
        ("cost_limit: 0.25, time_limit: 3", Reply(tool_call=("look", {}), seconds=0.5), None),
        ("cost_limit: 0.25, time_limit: 60, working_limit: 2", Reply(tool_call=("look", {}), seconds=0.5), None),
    ],
    ids=["cost", "token", "message", "turn", "time", "working"],
)
def test_limits_trip_over_http_and_are_recorded(
    tmp_path: Path, request: pytest.FixtureRequest, limit: str, reply: Reply, requests: int | None
) -> None:
    name = request.node.callspec.id
    with ModelServer(reply) as server:
        project = attempted(tmp_path / "p", server, [CHAT], items=1, limits=f"{{{limit}}}", task=LOOP)
        made = len(server.asked)
    result = project.results()[item(1)]
    assert (result["state"], result["limit"]) == ("complete", name)
    assert made == requests if requests is not None else 2 <= made <= 8
    spent = the_attempt(project)["spent_usd"]
    assert spent >= (0.0002 if name == "cost" else 0.00001)
