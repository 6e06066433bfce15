"""Amazon Bedrock, whose client signs its own requests: what it returns says what was sent."""

from __future__ import annotations

from pathlib import Path

from tests.live import Model, make
from tests.live_runs.attempt_lab import attempt, differences, the_attempt
from tests.servers import ModelServer

MODEL = "anthropic.claude-3-haiku-20240307-v1:0"
REGION = {"AWS_DEFAULT_REGION": "eu-central-1"}
SENT = {"temperature": 0.5, "top_p": 0.75, "max_tokens": 234, "stop_seqs": ["STOP"]}


def test_a_run_over_converse_sends_what_was_declared(tmp_path: Path) -> None:
    with ModelServer() as server:
        project = make(tmp_path / "p", server.url, [Model("bedrock", MODEL, SENT)], items=2)
        worked = attempt(project, REGION, checked=False)
        assert worked.error is None, worked
    assert [asked.body["inferenceConfig"] for asked in server.asked] == [
        {"maxTokens": 234, "temperature": 0.5, "topP": 0.75, "stopSequences": ["STOP"]}
    ] * 2
    record = the_attempt(project)
    assert (record["state"], differences(record), record["wire"]["way"]) == ("finished", [], "call")
    assert record["wire"]["served"] == {}, "its replies name no model"
    plan = project.live("plan", "--json", env=REGION)
    assert '"banked"' in plan.out, plan.err


def test_a_parameter_that_converse_does_not_take_is_drift(tmp_path: Path) -> None:
    with ModelServer() as server:
        project = make(tmp_path / "p", server.url, [Model("bedrock", MODEL, {"seed": 5})], items=1)
        worked = attempt(project, REGION, checked=False)
        assert worked.error is None, worked
    assert differences(the_attempt(project)) == [("not sent", "seed", 1)]
