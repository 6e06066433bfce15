"""Structured text over the real clients of four providers: the schema leaves as each wants it, and nothing drifts."""

from __future__ import annotations

from pathlib import Path

from tests.live import EVAL, Model, make
from tests.servers import ModelServer

MODELS = [
    Model("openai-api/local", "chatty"),
    Model("openai", "gpt-any"),
    Model("anthropic", "claude-any"),
    Model("google", "gemini-any"),
]


def test_four_routes_carry_the_schema_and_bank(tmp_path: Path) -> None:
    names = tuple(model.name for model in MODELS)
    with ModelServer(models=names) as server:
        project = make(tmp_path / "live", server.url, MODELS, backend="native", items=2)
        task = "task: structured_text\n"
        project.edit(EVAL / "eval.yml", task, f"{task}output_schema: {{type: integer}}\n")
        done = project.live("run")
    assert done.code == 0, done.out + done.err
    ended = {run["model"]: (run["state"], run["complete"]) for run in project.runs()}
    assert ended == dict.fromkeys(names, ("complete", 2))
    assert all(attempt["wire"]["differences"] == [] for attempt in project.attempts())
    sent = [line for line in project.wire() if line["event"] == "sent"]
    assert len(sent) == 8
    assert all(any("ormat" in name or "chema" in name for name in line["contents"]) for line in sent)
