"""C24: a cap holds per provider, over all models, runs and jobs of a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import live
from tests.servers import ModelServer, Reply

MODELS = [live.Model("openai", name) for name in ("gpt-4o-mini", "gpt-4o", "gpt-4.1-mini")]


@pytest.mark.long
def test_c24_a_declared_cap_holds_over_all_jobs_and_429_does_not_raise_it(tmp_path: Path) -> None:
    def answer(asked: object) -> Reply:
        number = getattr(asked, "number", 0)
        return Reply(status=429, body=b'{"error": {"message": "slow down"}}') if number % 7 == 0 else Reply(seconds=0.2)

    with ModelServer(answer) as server:
        project = live.make(tmp_path / "p", server.url, MODELS, items=8, defaults={"concurrency": 2, "retries": 3})
        with (project.root / "config/config.yaml").open("a") as config:
            config.write("endpoints: [{provider: openai, max_connections: 3}]\n")
        done = project.live("run")
        assert done.code == 0, done.out + done.err
        assert 2 <= server.peak_in_flight <= 3


@pytest.mark.long
def test_c24_without_a_cap_one_run_at_a_time_asks_a_provider(tmp_path: Path) -> None:
    """`concurrency` of the manifest is then what the endpoint sees, whatever Snakemake starts."""
    with ModelServer(Reply(seconds=0.1)) as server:
        project = live.make(tmp_path / "p", server.url, MODELS, items=6, defaults={"concurrency": 2})
        done = project.live("run")
        assert done.code == 0, done.out + done.err
        assert server.peak_in_flight == 2
        assert {run["execution"]["concurrency_reached"] for run in project.runs()} == {2}
