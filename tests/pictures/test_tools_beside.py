"""A picture that a task file asks for with tools of its own beside it: they are the task's, and no drift."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tamesu.base.model.wire import WireRequest
from tamesu.core.wire import check_wire
from tamesu.core.wire_body import reduce_body
from tests.factories import make_spec
from tests.live import EVAL
from tests.live_runs.attempt_lab import attempt, the_attempt
from tests.pictures.replies import GOOGLE, OPENAI, HttpReply
from tests.pictures.test_live_backends import picture_eval
from tests.servers import ModelServer

REPLIES = {"google": GOOGLE, "openai": OPENAI}
TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import tool


@tool
def catalogue():
    async def execute(product: str):
        '''Look up a product.

        Args:
            product: Its name.
        '''
        return "blue"

    return execute


@task
def shots(dataset: str) -> Task:
    return Task(dataset=json_dataset(dataset), solver=[use_tools(catalogue()), generate()])
"""


@pytest.mark.parametrize("provider", REPLIES)
def test_tools_of_the_task_are_no_drift(tmp_path: Path, provider: str) -> None:
    picture = next(iter(REPLIES[provider].values()))
    nothing: HttpReply = (404, {}, b"")
    with ModelServer(instead=lambda received: nothing if received.body is None else picture) as server:
        project = picture_eval(tmp_path / "p", server.url, provider, "inspect", 1)
        path = project.path(EVAL.parent.parent / "inspect/task.py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(TASK)
        named = "backend: inspect\n  file: ../../inspect/task.py\n  task: shots"
        project.edit(EVAL / "eval.yml", "backend: inspect", named)
        worked = attempt(project, checked=False)
        assert worked.error is None, worked
        (sent,) = [received.body for received in server.requests if received.body is not None]
    assert "catalogue" in json.dumps(sent["tools"])
    assert the_attempt(project)["wire"]["differences"] == []


def drift(tools: list[dict[str, object]], task_file: str | None = "inspect/task.py") -> list[tuple[str, str]]:
    """Return what the wire check says of a request with these tools, of a run that wants pictures of 1024x1024."""
    parameters = {"image": {"size": "1024x1024"}}
    spec = replace(make_spec(("a",)), provider="openai", model="gpt-5", parameters=parameters, task_file=task_file)
    reduced = reduce_body(json.dumps({"model": "gpt-5", "input": "a mug", "tools": tools}).encode())
    request = WireRequest(1, 1, "", "http", "/v1/responses", "a", 1, "gpt-5", reduced.parameters, reduced.contents)
    return [(one.kind, one.name) for one in check_wire(spec, [request], [], None).differences]


WISH = {"type": "image_generation", "size": "1024x1024"}
OWN = {"type": "function", "name": "catalogue"}


@pytest.mark.parametrize("tools", [[WISH], [WISH, OWN], [OWN, WISH], [OWN, OWN, WISH]])
def test_the_tool_for_pictures_is_known_among_others(tools: list[dict[str, object]]) -> None:
    assert drift(tools) == []


@pytest.mark.parametrize(
    "tools", [[{**WISH, "size": "auto"}, OWN], [OWN], [{**WISH, "size": "auto"}], [WISH, WISH, OWN], [WISH, WISH]]
)
def test_another_wish_or_none_is_drift_whatever_stands_beside_it(tools: list[dict[str, object]]) -> None:
    assert drift(tools) == [("sent otherwise", "modalities")]


def test_no_tool_at_all_is_drift() -> None:
    assert drift([]) == [("sent otherwise", "modalities")]


@pytest.mark.parametrize("other", [OWN, {"type": "web_search"}])
def test_without_a_task_file_any_other_tool_is_drift(other: dict[str, object]) -> None:
    assert drift([WISH, other]) == []
    assert drift([WISH, other], task_file=None) == [("sent otherwise", "modalities")]
