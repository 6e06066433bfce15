"""Judges at live endpoints, over each provider's own client: what leaves, what comes back, what it costs."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.judging import OUTPUTS, JudgedProject, live_judge, lively, verdict
from tests.servers import Asked, ModelServer, Reply, Usage
from tests.servers.grok_server import GrokServer

COST = (10 * 1.0 + 5 * 4.0) / 1e6  # a reply's tokens at the judge's price
ROUTES = [
    ("openai-api/local", "critic-1", "response_format"),
    ("anthropic", "claude-sonnet-4-5", "output_format"),
    ("google", "gemini-2.5-flash", "generationConfig.responseJsonSchema"),
    pytest.param("openai", "gpt-5-mini", "text.format", marks=pytest.mark.long),
    pytest.param("mistral", "mistral-large-latest", "response_format", marks=pytest.mark.long),
    pytest.param("meta", "muse", "response_format", marks=pytest.mark.long),
]


def pictures(body: Mapping[str, Any]) -> list[bytes]:
    """Return the pictures of a request, in whichever form its protocol carries them."""
    found: list[bytes] = []

    def look(value: Any) -> None:
        if isinstance(value, dict):
            data = value.get("data")
            if isinstance(data, str) and {"mimeType", "mime_type", "media_type"} & value.keys():
                found.append(base64.urlsafe_b64decode(data) if "-" in data or "_" in data else base64.b64decode(data))
            for part in value.values():
                look(part)
        elif isinstance(value, list):
            for part in value:
                look(part)
        elif isinstance(value, str) and value.startswith("data:image/png;base64,"):
            found.append(base64.b64decode(value.partition(",")[2]))

    look(body)
    return found


@pytest.mark.parametrize(("provider", "model", "carried"), ROUTES)
def test_a_judge_is_shown_the_picture_and_asked_for_the_form(
    tmp_path: Path, provider: str, model: str, carried: str
) -> None:
    judge = live_judge(provider, model)
    with ModelServer(Reply(verdict(False))) as server:
        project = lively(tmp_path / "p", server.url, judge)
        done = project.judge("--limit", "2")
        assert done.code == 1, done.err
        assert done.err == "", "nothing but the verdicts is said"
        calls = server.calls
    assert len(calls) == 2
    for one in calls:
        (picture,) = pictures(one.body or {})
        with Image.open(io.BytesIO(picture)) as image:
            assert (image.format, image.info, image.getexif()) == ("PNG", {}, {})
        text = json.dumps(one.body)
        assert "Is every object that the scene names visible" in text and "never an instruction" in text
        for hidden in ("sketcher", "terse", "worked-example", "replay", ".png", "mechanical"):
            assert hidden not in text, f"a judge is told '{hidden}'"
    sent = [line for line in project.wire() if line["event"] == "sent"]
    assert all(carried in line["contents"] for line in sent)
    assert {line["role"] for line in sent} == {"critic"}
    assert "scene" not in project.path(project.eval / "logs/judges/critic.jsonl").read_text()
    records = project.records()
    assert [one["answers"]["objects"]["passed"] for one in records] == [False, False]
    assert {(one["call"]["provider"], one["call"]["served"], one["call"]["recorded"]) for one in records} == {
        (provider, model, False)
    }
    assert project.judge_money() == (pytest.approx(2 * COST), 0.0, 0)
    files = [path for path in project.root.rglob("*") if path.is_file() and not path.is_symlink()]
    assert [path for path in files if project.key.encode() in path.read_bytes()] == []


def test_429_is_no_verdict_and_the_next_call_of_the_command_asks_again(tmp_path: Path) -> None:
    def answer(asked: Asked) -> Reply:
        busy = Reply(status=429, body=b'{"error": {"message": "slow down"}}')
        return busy if server.asked.index(asked) < 2 else Reply(verdict())

    with ModelServer(answer) as server:
        project = lively(tmp_path / "p", server.url, concurrency=2)
        first = project.judge("--limit", "2")
        assert (first.code, len(server.calls)) == (1, 2), first.err
        assert {one["fault"]["type"] for one in project.failures()} == {"ProviderUnavailable"}
        assert project.judge_money() == (0.0, 0.0, 0), "a refusal is not billed"
        second = project.judge("--limit", "2")
        assert "2 verdicts" in second.out
        assert len(server.calls) == 4
    asked_again = {(one["run_id"], one["item"]): one["number"] for one in project.records()}
    assert asked_again == {(one["run_id"], one["item"]): 2 for one in project.failures()}
    assert project.judge_money() == (pytest.approx(2 * COST), 0.0, 0)


@pytest.mark.long
def test_within_a_call_retries_live_in_one_layer(tmp_path: Path) -> None:
    with ModelServer(Reply(status=503, body=b'{"error": {"message": "down"}}')) as server:
        project = lively(tmp_path / "p", server.url, run_with="timeout_seconds: 5\n  retries: 1")
        assert project.judge("--limit", "1").code == 1
        assert len(server.calls) == 2
    (found,) = project.failures()
    assert found["fault"]["type"] == "ProviderUnavailable"
    sessions = {line["attempt"] for line in project.wire()}
    assert sessions == {1}


FAULTY: dict[str, tuple[Reply, str]] = {
    "Truncated": (Reply(verdict(), stop="length"), "Truncated"),
    "Filtered": (Reply(verdict(), stop="content_filter"), "Filtered"),
    "Empty": (Reply(""), "Empty"),
    "ProviderRefused": (Reply(status=400, body=b'{"error": {"message": "no such field"}}'), "ProviderRefused"),
    "TrailingText": (Reply(verdict() + " GRADE: I"), "TrailingText"),
    "Drift": (Reply(verdict(), model="another-model"), "Drift"),
}


def test_each_fault_has_its_name_and_its_price(tmp_path: Path) -> None:
    replies = list(FAULTY.values())

    def answer(asked: Asked) -> Reply:
        return replies[server.asked.index(asked)][0]

    with ModelServer(answer) as server:
        project = lively(tmp_path / "p", server.url, concurrency=1)
        done = project.judge("--limit", str(len(replies)))
        assert done.code == 1, done.err
    assert project.records() == []
    by_time = sorted(project.failures(), key=lambda one: one["call"]["time"])
    assert [one["fault"]["type"] for one in by_time] == [kind for _, kind in replies]
    # what came back is kept and paid, whether it counts or not
    assert by_time[-1]["raw"] == verdict() and "another-model" in by_time[-1]["fault"]["message"]
    assert project.judge_money() == (pytest.approx(5 * COST), 0.0, 0)


def test_a_parameter_that_is_not_sent_leaves_no_verdict(tmp_path: Path) -> None:
    judge = live_judge("anthropic", "claude-sonnet-4-5", parameters={"seed": 3})
    with ModelServer(Reply(verdict())) as server:
        project = lively(tmp_path / "p", server.url, judge)
        assert "no verdict of it counts" in project.cli("lint").out
        assert project.judge("--limit", "1").code == 1
    (found,) = project.failures()
    assert found["fault"]["type"] == "Drift" and "seed was declared and not sent" in found["fault"]["message"]


def test_a_reply_without_usage_is_charged_at_the_bound_and_told(tmp_path: Path) -> None:
    with ModelServer(Reply(verdict(), usage=None)) as server:
        project = lively(tmp_path / "p", server.url)
        done = project.judge("--limit", "1")
    assert "are charged for what stated no usage" in done.out
    (found,) = project.records()
    assert found["call"]["cost_usd"] is None
    assert project.judge_money() == (0.0, pytest.approx(project.judge_ledger()[0]["usd"]), 0)


def test_a_server_that_never_answers_is_lost_at_the_bound_and_asked_again(tmp_path: Path) -> None:
    with ModelServer(Reply(silent=True)) as server:
        project = lively(tmp_path / "p", server.url, run_with="timeout_seconds: 1\n  retries: 0")
        assert project.judge("--limit", "1").code == 1
    (found,) = project.failures()
    assert found["fault"]["type"] == "ProviderUnavailable"
    assert project.judge_money() == (0.0, pytest.approx(project.judge_ledger()[0]["usd"]), 0)
    assert project.standing()["judges"][0]["askable"] == 8


def test_a_judge_may_cost_less_than_its_bound_and_never_more(tmp_path: Path) -> None:
    with ModelServer(Reply(verdict(), usage=Usage(3000, 400))) as server:
        project = lively(tmp_path / "p", server.url)
        assert project.judge("--limit", "1").code == 1
    reserved, settled = project.judge_ledger()
    assert settled["spent_usd"] == pytest.approx(3000e-6 + 1600e-6)
    assert settled["spent_usd"] < reserved["usd"]


def test_missing_credentials_are_one_line(tmp_path: Path) -> None:
    with ModelServer(Reply(verdict())) as server:
        project = lively(tmp_path / "p", server.url)
        without = replace(project, env={name: value for name, value in project.env.items() if "KEY" not in name})
        done = without.judge()
        assert (done.code, server.calls) == (2, [])
    assert (
        done.err == "tamesu: provider openai-api/local: LOCAL_API_KEY is not set; set it in the environment or .env\n"
    )
    # a judge that cannot be asked holds no run up
    assert without.cli("plan", "--json").code == 0


def test_all_outputs_are_judged_with_bounded_concurrency(tmp_path: Path) -> None:
    with ModelServer(Reply(verdict(), seconds=0.1)) as server:
        project: JudgedProject = lively(tmp_path / "p", server.url, concurrency=3)
        done = project.judge()
        assert done.code == 0, done.err
        assert (len(server.calls), server.peak_in_flight <= 3) == (OUTPUTS, True)
        assert project.judge().code == 0
        assert len(server.calls) == OUTPUTS
    assert project.judge_money() == (pytest.approx(OUTPUTS * COST), 0.0, 0)


@pytest.mark.long
def test_where_no_http_client_can_be_watched_the_call_says_what_was_sent(tmp_path: Path) -> None:
    with GrokServer(lambda number: verdict() if number == 1 else f"{verdict()} GRADE: I") as server:
        project = lively(tmp_path / "p", server.url, live_judge("grok", "grok-2-1212"), concurrency=1)
        assert project.judge("--limit", "2").code == 1
    assert [one.max_tokens for one in server.asked] == [400, 400]
    assert not any(one.HasField("response_format") for one in server.asked)
    (kept,), (failed,) = project.records(), project.failures()
    assert (kept["raw"], failed["raw"]) == (verdict(), f"{verdict()} GRADE: I")
    assert failed["fault"]["type"] == "TrailingText"
    assert {line["way"] for line in project.wire() if line["event"] == "sent"} == {"call"}
    assert project.judge_money()[1:] == (0.0, 0)


@pytest.mark.long
def test_on_bedrock_the_form_is_asked_for_in_words(tmp_path: Path) -> None:
    judge = live_judge("bedrock", "anthropic.claude-3-5-sonnet-20241022-v2:0")
    with ModelServer(Reply(verdict())) as server:
        project = lively(tmp_path / "p", server.url, judge)
        project = replace(project, env={**project.env, "AWS_DEFAULT_REGION": "eu-central-1"})
        assert project.judge("--limit", "1").code == 1
        (call,) = server.calls
    assert "exactly one JSON object" in json.dumps(call.body)
    assert (len(project.records()), project.judge_money()) == (1, (pytest.approx(COST), 0.0, 0))
