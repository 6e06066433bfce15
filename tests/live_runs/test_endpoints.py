"""Where a model answers is part of what was measured, and every repetition is a draw of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live import Model, make
from tests.live_runs.attempt_lab import attempt, attempted, differences
from tests.servers import ModelServer, Reply

CHAT = Model("openai", "gpt-4o")


def test_c07_another_endpoint_is_another_run_and_is_asked_everything(tmp_path: Path) -> None:
    with ModelServer(Reply(text="alpha")) as alpha, ModelServer(Reply(text="beta")) as beta:
        project = make(tmp_path / "p", alpha.url, [CHAT], items=3)
        assert attempt(project).error is None
        assert attempt(project, {"OPENAI_BASE_URL": f"{beta.url}/v1"}).error is None
        assert (len(alpha.asked), len(beta.asked)) == (3, 3)
        assert attempt(project).error is None
        assert (len(alpha.asked), len(beta.asked)) == (3, 3), "both are banked"
    runs = project.runs()
    origins = {run["execution"]["base_url_origin"] for run in runs}
    assert len(runs) == 2 and origins == {alpha.url, beta.url}


def test_c09_each_repetition_is_asked(tmp_path: Path) -> None:
    with ModelServer(lambda asked: Reply(text=f"answer {asked.number} is 4")) as server:
        project = attempted(tmp_path / "p", server, [Model("openai", "gpt-4o", repetitions=5)], items=1)
        assert len(server.asked) == 5
    texts = {
        path.read_text().partition("answer: answer ")[2].partition(" ")[0]
        for path in project.eval.glob("runs/*/items/*/result.yml")
    }
    assert len(list(project.eval.glob("runs/*/run.yml"))) == 5
    assert len(texts) == 5


@pytest.mark.long
def test_every_route_makes_a_whole_run(tmp_path: Path) -> None:
    models = [
        Model("openai", "gpt-4o", {"temperature": 0.2, "seed": 3, "top_k": 5}),
        Model("openai", "gpt-5-mini", {"reasoning_effort": "low", "verbosity": "low"}),
        Model("anthropic", "claude-sonnet-4-5", {"temperature": 0.2, "top_k": 5}),
        Model("anthropic", "claude-opus-4-1", {"max_tokens": 30_000}),
        Model("google", "gemini-2.5-flash", {"temperature": 0.2, "top_k": 5}),
        Model("mistral", "mistral-large-latest", {"temperature": 0.2, "seed": 3}),
        Model("openrouter", "org/base", {"temperature": 0.2, "top_k": 5}),
        Model("vllm", "base", {"temperature": 0.2, "top_k": 5, "min_p": 0.1}),
        Model("meta", "Llama-4", {"temperature": 0.2, "top_k": 5}),
        Model("openai-api/local", "base", {"temperature": 0.2, "top_k": 5}),
    ]
    with ModelServer() as server:
        project = make(tmp_path / "p", server.url, models, items=2)
        done = project.live("run")
        assert done.code == 0, done.out + done.err
        assert len(server.asked) == 20
        assert any(asked.body.get("stream") for asked in server.asked), "a large max_tokens is streamed"
    assert [differences(record) for record in project.attempts()] == [[]] * 10
    assert {run["state"] for run in project.plan()["runs"]} == {"banked"}
