"""Structured text through Inspect over real clients: the schema leaves in every call, and nothing drifts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests import live
from tests.live import EVAL, LiveProject, Model
from tests.live_runs.attempt_lab import attempt, states
from tests.servers import ModelServer

MODELS = [Model("openai-api/local", "chatty"), Model("anthropic", "claude-any")]
TOOLS = """
from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.solver import generate, user_message


@task
def sums(dataset: str) -> Task:
    return Task(dataset=json_dataset(dataset), solver=[generate(), user_message("Are you sure?"), generate()])
"""

WITH_TOOLS = """
from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import tool


@tool
def abacus():
    async def execute(number: int):
        '''Count.

        Args:
            number: How far.
        '''
        return str(number)

    return execute


@task
def sums(dataset: str) -> Task:
    return Task(dataset=json_dataset(dataset), solver=[use_tools(abacus()), generate()])
"""


def text_eval(target: Path, server: ModelServer, task: str | None, models: Sequence[Model] = MODELS) -> LiveProject:
    """Return a text eval of two items on Inspect, by Tamesu's own task or by the given one."""
    project = live.make(target, server.url, models, backend="native", items=2, task=task or live.TASK)
    named = "" if task is None else "\n  file: ../../inspect/task.py\n  task: sums"
    project.edit(EVAL / "eval.yml", "backend: native", f"backend: inspect{named}")
    schema = "task: structured_text\n"
    project.edit(EVAL / "eval.yml", schema, f"{schema}output_schema: {{type: integer}}\n")
    return project


def checked(project: LiveProject, calls: int) -> None:
    """Every run is banked with so many calls, each of which carried the schema."""
    assert states(project) == {model.name: "banked" for model in MODELS}
    assert [record["wire"]["differences"] for record in project.attempts()] == [[], []]
    sent = [line for line in project.wire() if line["event"] == "sent"]
    of_runs = [line for line in sent if line["item"] is not None]
    assert len(of_runs) == calls
    assert all(any("ormat" in name or "chema" in name for name in line["contents"]) for line in of_runs)


def test_one_call_per_item(tmp_path: Path) -> None:
    with ModelServer(models=tuple(model.name for model in MODELS)) as server:
        project = text_eval(tmp_path / "live", server, None)
        assert attempt(project).error is None
        checked(project, 4)
    found = project.results()
    assert {name: (one["state"], one["scores"]["exact_match"]["value"]) for name, one in found.items()} == {
        live.item(1): ("complete", 1.0),
        live.item(2): ("complete", 1.0),
    }


def test_every_call_of_a_solver_of_ones_own(tmp_path: Path) -> None:
    with ModelServer(models=tuple(model.name for model in MODELS)) as server:
        project = text_eval(tmp_path / "live", server, TOOLS)
        assert attempt(project, checked=False).error is None
        checked(project, 8)


@pytest.mark.parametrize(
    "model",
    [*MODELS, *(Model(*one) for one in (("openai", "gpt-5"), ("google", "gemini-any"), ("mistral", "mistral-any")))],
    ids=lambda model: model.provider.replace("/", "-"),
)
def test_tools_of_the_task_are_no_drift(tmp_path: Path, model: Model) -> None:
    with ModelServer(models=(model.name,)) as server:
        project = text_eval(tmp_path / "live", server, WITH_TOOLS, [model])
        assert attempt(project, checked=False).error is None
        bodies = [received.body for received in server.requests if received.body is not None]
    assert bodies
    assert all("abacus" in json.dumps(body["tools"]) for body in bodies)
    assert [record["wire"]["differences"] for record in project.attempts()] == [[]]
