"""Agents over several turns, without a sandbox: tools that fail, limits, usage, a grader by role, approval."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.event import ToolEvent
from inspect_ai.log import EvalSample, read_eval_log

from tests.ingest.lab import attempt, lab, log_path, result, run_yml, the_run, work_off
from tests.projects import EXPERIMENT, ShapesProject

TASK = '''\
"""An agent with tools of its own; what its answer scores is its first word."""

from inspect_ai import Task, task
from inspect_ai.agent import react
from inspect_ai.approval import Approval, approver
from inspect_ai.dataset import json_dataset
from inspect_ai.model import get_model
from inspect_ai.scorer import Score, mean, scorer
from inspect_ai.tool import ToolError, tool

_ = METRICS


@tool
def look():
    async def execute(what: str) -> str:
        """Look something up.

        Args:
            what: What to look up.
        """
        if what == "refused":
            raise ToolError("there is no such thing")
        if what == "broken":
            raise RuntimeError("the tool itself is broken")
        if what == "slow":
            raise TimeoutError("the tool took too long")
        return f"{what}: found"

    return execute


@approver
def careful():
    async def approve(message, call, view, history):
        forbidden = call.arguments.get("what") == "secret"
        return Approval(decision="reject" if forbidden else "approve", explanation="not for you")

    return approve


@task
def probe(dataset, prompt=None):
    agent = react(prompt=prompt, tools=[look()])
    return Task(dataset=json_dataset(dataset), solver=agent, scorer=[rate()])


@scorer(metrics=[mean()])
def rate():
    async def score(state, target):
        value = 1.0 if state.output.completion.startswith("done") else 0.0
        grader = get_model(role="grader", default=None, required=False)
        if grader.role == "grader" and grader.name == "strict":
            said = await grader.generate(f"Grade: {state.output.completion}")
            value = 1.0 if "C" in said.completion else 0.0
        return Score(value=value, answer=state.output.completion)

    return score
'''
PRICE = {"input": 2.0, "output": 8.0}
GRADER_PRICE = {"input": 20.0, "output": 100.0}


def call(function: str, **arguments: Any) -> dict[str, Any]:
    return {"function": function, "arguments": arguments}


def turn(*calls: Mapping[str, Any], usage: tuple[int, int] = (100, 10), **more: Any) -> dict[str, Any]:
    return {"tool_calls": list(calls), "usage": {"input": usage[0], "output": usage[1]}, **more}


def look(what: str, **more: Any) -> dict[str, Any]:
    return turn(call("look", what=what), **more)


DONE = turn(call("submit", answer="done"))


def agent(
    target: Path, turns: Sequence[Mapping[str, Any]], execution: Mapping[str, Any] | None = None, **more: Any
) -> ShapesProject:
    """Return a paid project of one item after its only attempt."""
    project = lab(target, {"one": turns}, paid=True, task=TASK, changes={"execution": execution or {}}, **more)
    assert work_off(project).error is None
    return project


def sample(project: ShapesProject) -> EvalSample:
    (found,) = read_eval_log(str(log_path(project))).samples or ()
    return found


def tools(project: ShapesProject) -> list[tuple[str, str | None]]:
    """Return the tool calls of the transcript, with the type of the error that each ended with."""
    events = [event for event in sample(project).events if isinstance(event, ToolEvent)]
    return [(event.function, event.error.type if event.error else None) for event in events]


def cost(usages: Sequence[tuple[int, int]], price: Mapping[str, float] = PRICE) -> float:
    return round(sum(i * price["input"] + o * price["output"] for i, o in usages) / 1e6, 9)


class TestTools:
    def test_usage_of_many_turns_adds_up_and_the_cost_is_exact(self, tmp_path: Path) -> None:
        usages = [(100 * n, 7 * n) for n in range(1, 9)]
        turns = [look(f"thing {n}", usage=usage) for n, usage in enumerate(usages[:-1])]
        project = agent(tmp_path / "lab", [*turns, turn(call("submit", answer="done"), usage=usages[-1])])
        found = result(project, "one")
        assert (found["state"], found["scores"]["rate"]["value"], found["limit"]) == ("complete", 1.0, None)
        assert (found["usage"]["input"], found["usage"]["output"]) == (3600, 252)
        assert found["cost_usd"] == cost(usages)
        assert project.spent() == cost(usages)
        assert [name for name, _ in tools(project)] == ["look"] * 7 + ["submit"]

    @pytest.mark.parametrize(
        ("bad", "error"),
        [
            (look("refused"), "unknown"),
            (look("slow"), "timeout"),
            (turn(call("no_such_tool", what="x")), "parsing"),
            (turn(call("look", where="x")), "parsing"),
        ],
        ids=["tool-error", "timeout", "unknown-tool", "wrong-argument"],
    )
    def test_an_error_that_the_agent_is_told_fails_nothing(
        self, tmp_path: Path, bad: Mapping[str, Any], error: str
    ) -> None:
        project = agent(tmp_path / "lab", [bad, DONE])
        found = result(project, "one")
        assert (found["state"], found["error"], found["scores"]["rate"]["value"]) == ("complete", None, 1.0)
        assert found["cost_usd"] == cost([(100, 10)] * 2)
        told = tools(project)
        assert [wrong for _, wrong in told] == [error, None]

    def test_a_tool_that_breaks_fails_the_item_and_what_it_cost_counts(self, tmp_path: Path) -> None:
        project = agent(tmp_path / "lab", [look("broken"), DONE])
        found = result(project, "one")
        assert (found["state"], found["retryable"], found["scores"]) == ("failed", True, {})
        assert found["error"] == {"type": "RuntimeError", "message": "the tool itself is broken"}
        assert found["cost_usd"] == cost([(100, 10)])
        assert attempt(project)["spent_usd"] == cost([(100, 10)])

    def test_an_agent_with_a_system_message_of_its_own_is_replayed(self, tmp_path: Path) -> None:
        project = agent(tmp_path / "lab", [look("thing"), DONE], {"task_args": {"prompt": "Be brief."}})
        assert result(project, "one")["state"] == "complete"
        assert [message.role for message in sample(project).messages][:2] == ["system", "user"]


class TestLimits:
    """A limit ends the agent; the item is scored all the same, the score counts and the limit is told."""

    @pytest.mark.parametrize(
        ("limit", "calls"), [({"message_limit": 6}, 3), ({"turn_limit": 2}, 3), ({"token_limit": 250}, 3)]
    )
    def test_a_limit_is_recorded_and_the_score_counts(
        self, tmp_path: Path, limit: Mapping[str, int], calls: int
    ) -> None:
        project = agent(tmp_path / "lab", [look(f"thing {n}") for n in range(20)], {"limits": limit})
        found = result(project, "one")
        (name,) = limit
        assert (found["state"], found["limit"]) == ("complete", name.removesuffix("_limit"))
        assert found["scores"]["rate"]["value"] == 0.0
        assert len(project.calls()) == calls
        assert found["cost_usd"] == cost([(100, 10)] * calls)
        assert project.states() == {"banked": 1}


class TestRoles:
    def graded(self, target: Path, grades: str, price: str = f"usd_per_million: {GRADER_PRICE}") -> ShapesProject:
        role = {"provider": "replay", "model": "strict", "parameters": {"recordings": "../../grades.jsonl"}}
        role["parameters"] |= {"max_tokens": 100}  # type: ignore[operator]
        changes = {"execution": {"model_roles": {"grader": role}}}
        project = lab(target, {"one": [look("thing"), DONE]}, paid=True, task=TASK, changes=changes)
        project.path(EXPERIMENT / "grades.jsonl").write_text(grades)
        models = project.path("config/models.yml")
        models.write_text(models.read_text() + f"- {{provider: replay, model: strict, {price}}}\n".replace("'", ""))
        return project

    GRADES = '{"tamesu_recording": 1, "label": "made up"}\n{"item": "one", "turns": [%s]}\n'
    GRADE = '{"text": "C", "usage": {"input": 300, "output": 20}}'

    def test_a_grader_is_asked_by_role_and_counted_at_its_price(self, tmp_path: Path) -> None:
        project = self.graded(tmp_path / "lab", self.GRADES % self.GRADE)
        assert work_off(project).error is None
        found = result(project, "one")
        assert (found["state"], found["scores"]["rate"]["value"]) == ("complete", 1.0)
        assert (found["usage"]["input"], found["usage"]["output"]) == (500, 40)
        whole = round(cost([(100, 10)] * 2) + cost([(300, 20)], GRADER_PRICE), 9)
        assert (found["cost_usd"], attempt(project)["spent_usd"], project.spent()) == (whole, whole, whole)
        assert attempt(project)["role_prices"]["grader"]["input"] == 20.0
        assert [one.get("role") for one in project.calls()] == [None, None, "grader"]
        assert project.states() == {"banked": 1}

    def test_a_changed_grade_makes_the_run_stale(self, tmp_path: Path) -> None:
        project = self.graded(tmp_path / "lab", self.GRADES % self.GRADE)
        assert work_off(project).error is None
        project.path(EXPERIMENT / "grades.jsonl").write_text(self.GRADES % self.GRADE.replace("C", "I"))
        assert project.states() == {"owed": 1}
        (found,) = project.plan()["found"]
        assert found["causes"] == ["model_role_recordings/grader changed"]

    def test_a_grader_that_states_no_usage_fails_a_paid_item(self, tmp_path: Path) -> None:
        project = self.graded(tmp_path / "lab", self.GRADES % '{"text": "C"}')
        assert work_off(project).error is None
        found = result(project, "one")
        assert (found["state"], found["error"]["type"], found["cost_usd"]) == ("failed", "MissingUsage", None)

    def test_a_free_grader_needs_to_state_none(self, tmp_path: Path) -> None:
        project = self.graded(tmp_path / "lab", self.GRADES % '{"text": "C"}', price="free: true")
        assert work_off(project).error is None
        found = result(project, "one")
        assert (found["state"], found["cost_usd"]) == ("complete", cost([(100, 10)] * 2))

    def test_a_rented_grader_blocks_the_plan(self, tmp_path: Path) -> None:
        project = self.graded(tmp_path / "lab", self.GRADES % self.GRADE, price="usd_per_hour: 5.0")
        (blocker,) = project.plan()["blockers"]
        assert blocker["kind"] == "price"
        assert "replay/strict is rented and asked by role" in blocker["message"]

    def test_a_grader_without_an_answer_for_an_item_is_a_warning(self, tmp_path: Path) -> None:
        project = self.graded(tmp_path / "lab", '{"tamesu_recording": 1, "label": "made up"}\n')
        done = project.tamesu("lint")
        assert "no answer is recorded for 1 of 1 items of role 'grader', such as 'one'" in done.out + done.err

    def test_a_rescore_takes_the_log_of_the_same_grader_only(self, tmp_path: Path) -> None:
        project = self.graded(tmp_path / "lab", self.GRADES % self.GRADE)
        assert work_off(project).error is None
        before = (the_run(project) / "run.yml").read_bytes()
        done = project.tamesu("rescore")
        assert done.code == 0, done.out + done.err
        assert (the_run(project) / "run.yml").read_bytes() == before
        (recordings,) = the_run(project).glob("inspect/recordings-grader.jsonl")
        recordings.write_text(self.GRADES % self.GRADE.replace("C", "I"))
        refused = project.tamesu("rescore")
        assert refused.code != 0
        assert "its fields yield another identity" in refused.out + refused.err

    def test_run_yml_names_the_role_and_identity_holds_it(self, tmp_path: Path) -> None:
        project = self.graded(tmp_path / "lab", self.GRADES % self.GRADE)
        assert work_off(project).error is None
        record = run_yml(project)
        assert record["execution"]["roles"]["grader"]["model_uri"] == "replay/strict"
        generation = record["identity"]["generation"]
        assert generation["model_role/grader"] == {
            "provider": "replay",
            "model": "strict",
            "parameters": {"max_tokens": 100},
        }


POLICY = {"approvers": [{"name": "careful", "tools": "look"}, {"name": "auto", "tools": "*", "decision": "approve"}]}


class TestApproval:
    def check(self, project: ShapesProject) -> None:
        found = result(project, "one")
        assert (found["state"], found["scores"]["rate"]["value"], found["rejected_calls"]) == ("complete", 1.0, 1)
        assert tools(project) == [("look", None), ("look", "approval"), ("submit", None)]
        assert "not for you" in str([message.text for message in sample(project).messages] + [sample(project).events])

    def test_a_policy_in_the_manifest(self, tmp_path: Path) -> None:
        turns = [look("thing"), look("secret"), DONE]
        self.check(agent(tmp_path / "lab", turns, {"inspect": {"approval": POLICY}}))

    def test_a_policy_in_a_declared_file_of_the_copy(self, tmp_path: Path) -> None:
        changes = {
            "execution": {
                "sources": ["../../inspect/task.py", "../../inspect/approval.json"],
                "inspect": {"approval": "../../inspect/approval.json"},
            }
        }
        project = lab(
            tmp_path / "lab", {"one": [look("thing"), look("secret"), DONE]}, paid=True, task=TASK, changes=changes
        )
        project.path(EXPERIMENT / "inspect/approval.json").write_text(json.dumps(POLICY))
        assert work_off(project).error is None
        self.check(project)
        assert "source/approval.json" in run_yml(project)["identity"]["generation"]

    def test_an_approver_that_does_not_exist_is_told_before_anything_is_asked(self, tmp_path: Path) -> None:
        policy = {"approvers": [{"name": "nobody", "tools": "*"}]}
        changes = {"execution": {"inspect": {"approval": policy}}}
        project = lab(tmp_path / "lab", {"one": [DONE]}, paid=True, task=TASK, changes=changes)
        worked = work_off(project)
        assert "execution.inspect.approval cannot be used" in str(worked.error)
        assert "nobody" in str(worked.error)
        assert project.calls() == []
