"""Structured text over the real clients of four providers: the schema leaves as each wants it, and nothing drifts."""

from __future__ import annotations

import csv
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


def test_a_price_that_nobody_knows_is_accepted_on_a_word_and_never_taken_for_nothing(tmp_path: Path) -> None:
    with ModelServer(models=("nobody-knows",)) as server:
        project = make(
            tmp_path / "live", server.url, [Model("openai-api/local", "nobody-knows")], backend="native", items=2
        )
        project.path("config/models.yml").write_text("models: []\n")
        refused = project.live("run")
        assert (refused.code, server.calls) == (2, [])
        assert "nobody knows the price of openai-api/local/nobody-knows; state it in config/models.yml, or accept" in (
            refused.err
        )
        done = project.live("run", "--accept-unknown-price")
        assert (done.code, len(server.calls)) == (0, 2), done.out + done.err
        assert "attempt 1 finished, 2/2 items good, cost not known" in done.out
        status = project.plan()
    assert (status["spent_usd"], status["unpriced_samples"]) == (0, 2)
    lacking = "what 2 samples cost is not known, as nobody knew the price"
    assert f"Spent 0.0000 USD; {lacking}." in (project.eval / "evaluation-report.md").read_text()
    assert lacking in project.live("plan").out
    assert lacking in project.path("build/arithmetic/sums/live.html").read_text()
    with (project.eval / "tables/items.csv").open() as table:
        assert {row["cost_usd"] for row in csv.DictReader(table)} == {""}
