"""A grader by role at a live endpoint: its own parameters, price, credentials and line in wire.jsonl."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import live
from tests.live_runs.attempt_lab import attempt, differences, the_attempt
from tests.servers import Asked, ModelServer, Reply

AGENT = live.Model("meta", "answerer", {"temperature": 1.0})
GRADER = "openai-api/local"
PRICE, GRADER_PRICE = {"input": 1.0, "output": 4.0}, {"input": 10.0, "output": 50.0}
UNSENT: Any = {"provider": "anthropic", "model": "claude-sonnet-4-5", "parameters": {"seed": 3}}
TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.model import get_model
from inspect_ai.scorer import Score, includes, mean, scorer
from inspect_ai.solver import generate


@scorer(metrics=[mean()])
def judged(calls=1):
    async def score(state, target):
        for _ in range(calls):
            said = await get_model(role="grader", required=True).generate(f"Grade {state.sample_id}")
        return Score(value=1.0 if "right" in said.completion else 0.0)

    return score


@task
def sums(dataset: str, calls: int = 1) -> Task:
    return Task(dataset=json_dataset(dataset), solver=generate(), scorer=[includes(), judged(calls)])
"""


def graded(
    target: Path,
    server: ModelServer,
    *,
    parameters: Mapping[str, object] | None = None,
    provider: str = GRADER,
    model: str = "judge",
    calls: int = 1,
    limits: str = "{cost_limit: 0.25, time_limit: 60}",
) -> live.LiveProject:
    """Return a project of two items whose answers a second model grades; nothing has run yet."""
    project = live.make(target, server.url, [AGENT], items=2, task=TASK, limits=limits)
    role = {"provider": provider, "model": model, "parameters": {"max_tokens": 50, **(parameters or {})}}
    added = f"  model_roles: {json.dumps({'grader': role})}\n  task_args: {{calls: {calls}}}\n  limits:"
    project.edit(live.EVAL / "eval.yml", "  limits:", added)
    models = yaml.safe_load(project.path("config/models.yml").read_text())["models"]
    models.append({"provider": provider, "model": model, "usd_per_million": GRADER_PRICE})
    project.path("config/models.yml").write_text(yaml.safe_dump({"models": models}))
    return dataclasses.replace(project, env={**project.env, **live.environment(server.url, [provider], project.key)})


def answer(asked: Asked) -> Reply:
    return Reply("right" if asked.model == "judge" else "4")


def cost(calls: int, price: Mapping[str, float]) -> float:
    """Return what so many replies of 10 and 5 tokens cost, in US dollars."""
    return calls * (10 * price["input"] + 5 * price["output"]) / 1e6


@dataclasses.dataclass(frozen=True)
class Made:
    """A project after its only attempt, and what the server was asked for it."""

    project: live.LiveProject
    asked: list[Asked]
    probes: list[Asked]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    with ModelServer(answer) as server:
        project = graded(tmp_path_factory.mktemp("roles") / "p", server, parameters={"temperature": 0.0})
        assert attempt(project).error is None
        return Made(project, server.asked, server.probes)


class TestALiveGrader:
    def test_each_model_is_asked_with_its_own_parameters(self, made: Made) -> None:
        sent = {(one.model, one.body["temperature"], one.body["max_tokens"]) for one in made.asked}
        assert sent == {("answerer", 1.0, 100), ("judge", 0.0, 50)}
        assert {(one.model, one.body["temperature"]) for one in made.probes} == {("answerer", 1.0), ("judge", 0.0)}

    def test_the_wire_names_the_role_and_each_is_checked_against_its_own_plan(self, made: Made) -> None:
        project = made.project
        sent = [(line["model"], line["role"]) for line in project.wire() if line["event"] == "sent"]
        assert sorted(sent, key=str) == [("answerer", None)] * 2 + [("judge", "grader")] * 2
        ids = [line["id"] for line in project.wire() if line["event"] == "sent"]
        assert len(set(ids)) == 4
        record = the_attempt(project)
        assert differences(record) == []
        assert record["wire"]["served"] == {"answerer": 2, "judge": 2}
        assert [run["state"] for run in project.plan()["runs"]] == ["banked"]

    def test_its_tokens_are_priced_at_its_own_rates(self, made: Made) -> None:
        project = made.project
        once = cost(1, PRICE) + cost(1, GRADER_PRICE)
        for result in project.results().values():
            assert (result["state"], result["cost_usd"]) == ("complete", pytest.approx(once, abs=1e-12))
            assert (result["usage"]["input"], result["usage"]["output"]) == (20, 10)
        settled = [entry for entry in project.ledger() if entry["event"] == "settled"]
        assert [(entry["attempt"], entry["spent_usd"]) for entry in settled] == [
            (-1, pytest.approx(cost(1, PRICE))),
            (-2, pytest.approx(cost(1, GRADER_PRICE))),
            (1, pytest.approx(2 * once)),
        ]

    def test_run_yml_says_who_graded_and_preflight_checked_it(self, made: Made) -> None:
        project = made.project
        (run,) = project.runs()
        role = run["execution"]["roles"]["grader"]
        assert (role["model_uri"], role["parameters"]["temperature"]) == (f"{GRADER}/judge", 0.0)
        assert role["base_url_origin"] == run["identity"]["generation"]["model_role_origin/grader"]
        assert run["identity"]["generation"]["model_role/grader"]["model"] == "judge"
        (path,) = (project.eval / "runs").glob("*/inspect/preflight.json")
        titles = {check["title"]: check["state"] for check in json.loads(path.read_text())["checks"]}
        assert titles["grader: one tiny request is answered"] == "pass"

    def test_the_key_is_in_no_file(self, made: Made) -> None:
        project = made.project
        files = [path for path in project.root.rglob("*") if path.is_file()]
        assert [path for path in files if project.key.encode() in path.read_bytes()] == []


def test_a_graders_parameter_that_is_not_sent_is_drift_of_the_run(tmp_path: Path) -> None:
    with ModelServer(answer) as server:
        project = graded(tmp_path / "p", server, **UNSENT)
        assert attempt(project, checked=False).error is None
    assert differences(the_attempt(project)) == [("not sent", "grader: seed", 2)]
    assert [run["state"] for run in project.plan()["runs"]] == ["drifted"]


def test_a_graders_parameter_that_is_not_sent_is_refused_before_any_item(tmp_path: Path) -> None:
    with ModelServer(answer) as server:
        project = graded(tmp_path / "p", server, **UNSENT)
        worked = attempt(project)
        assert server.asked == []
    assert "preflight failed: grader: sampling values read back" in worked.told


def test_a_grader_that_is_served_by_another_model_is_drift(tmp_path: Path) -> None:
    def other(asked: Asked) -> Reply:
        return Reply("right", model="lesser") if asked.model == "judge" else Reply("4")

    with ModelServer(other) as server:
        project = graded(tmp_path / "p", server)
        assert attempt(project).error is None
    assert differences(the_attempt(project)) == [("served by another model", "grader: model", 2)]


def test_a_missing_key_of_the_grader_blocks_the_plan(tmp_path: Path) -> None:
    with ModelServer(answer) as server:
        project = graded(tmp_path / "p", server)
        without = {name: value for name, value in project.env.items() if name != "LOCAL_API_KEY"}
        plan = dataclasses.replace(project, env=without).plan()
    assert [blocker["kind"] for blocker in plan["blockers"]] == ["credentials"]
    assert "LOCAL_API_KEY is not set" in plan["blockers"][0]["message"]


def test_a_graders_reply_without_usage_leaves_the_cost_unknown(tmp_path: Path) -> None:
    def silent(asked: Asked) -> Reply:
        return Reply("right", usage=None) if asked.model == "judge" else Reply("4")

    with ModelServer(silent) as server:
        project = graded(tmp_path / "p", server)
        assert attempt(project).error is None
    told = {(result["state"], result["error"]["type"], result["cost_usd"]) for result in project.results().values()}
    assert told == {("failed", "MissingUsage", None)}
    record = the_attempt(project)
    assert (record["calls_lost"], record["lost_usd"] > 2 * cost(1, GRADER_PRICE)) == (2, True)


def test_scoring_ends_at_one_more_cost_limit(tmp_path: Path) -> None:
    """Inspect ends a sample's limits before it is scored; a scorer that asks on and on is stopped all the same."""
    limit = cost(3, GRADER_PRICE) - 1e-9
    with ModelServer(answer) as server:
        project = graded(tmp_path / "p", server, calls=40, limits=f"{{cost_limit: {limit:.9f}, time_limit: 60}}")
        exposure = project.plan()["exposure_usd"]
        assert attempt(project).error is None
        assert sum(one.model == "judge" for one in server.asked) == 2 * 3
    assert all(one["error"]["message"].startswith("Cost limit exceeded") for one in project.results().values())
    record = the_attempt(project)
    assert record["spent_usd"] == pytest.approx(2 * (cost(1, PRICE) + cost(3, GRADER_PRICE)))
    assert record["spent_usd"] + record["lost_usd"] <= exposure
