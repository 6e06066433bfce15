"""An agent with a shell looks at a log and names the service that broke first; a second model grades it."""

from __future__ import annotations

from collections.abc import Sequence

from inspect_ai import Task, task
from inspect_ai.agent import react
from inspect_ai.approval import Approval, Approver, approver
from inspect_ai.dataset import json_dataset
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool
from inspect_ai.scorer import Score, Scorer, Target, mean, model_graded_qa, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool, ToolCall, ToolCallView, ToolError, bash, tool
from inspect_ai.util import sandbox

from tamesu.inspect_support import stager

RUNBOOK = {
    "cache": "keeps sessions; every web request needs a connection of its pool",
    "database": "writes to the data volume; the queue persists through it",
    "proxy": "ends TLS before the web service",
    "scheduler": "starts jobs on the worker; holds a lock while it does",
    "web": "serves requests through cache and database",
    "worker": "runs what the scheduler starts",
}
CHANGES = ("rm ", "mv ", "tee ", "chmod ", ">")


@task
def triage(dataset: str) -> Task:
    return Task(
        dataset=json_dataset(dataset),
        setup=log_file(),
        solver=react(prompt=None, tools=[bash(timeout=20), runbook()]),
        scorer=[first_failure(), model_graded_qa()],
        sandbox=("docker", "compose.yaml"),
    )


@solver
def log_file() -> Solver:
    """Puts the item's log into the sandbox."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 (Inspect calls it so)
        await sandbox().write_file("log.txt", state.metadata["log"])
        return state

    return solve


@tool
def runbook() -> Tool:
    """What a service is for."""

    async def execute(service: str) -> str:
        """Look up what a service is for and what needs it.

        Args:
            service: Name of the service as the log spells it.
        """
        if service not in RUNBOOK:
            raise ToolError(f"the runbook knows no service '{service}'; it knows {', '.join(RUNBOOK)}")
        return RUNBOOK[service]

    return execute


@approver
def read_only() -> Approver:
    """Rejects shell commands that would change files."""

    async def approve(
        message: str,  # noqa: ARG001 (Inspect calls it so)
        call: ToolCall,
        view: ToolCallView,  # noqa: ARG001
        history: list[ChatMessage],  # noqa: ARG001
    ) -> Approval:
        if any(change in str(call.arguments.get("command", "")) for change in CHANGES):
            return Approval(decision="reject", explanation="triage only reads; use a command that changes nothing")
        return Approval(decision="approve")

    return approve


@scorer(metrics=[mean()])
def first_failure() -> Scorer:
    """1.0 when the answer begins with the right service; stages the answer and what was done for it."""

    async def score(state: TaskState, target: Target) -> Score:
        stage = stager(state.sample_id)
        answer = state.output.completion
        stage.add("answer", "answer.txt", answer or "(none)", "text/plain")
        stage.add("commands", "commands.txt", told(state.messages), "text/plain")
        named = answer.split(maxsplit=1)[0].strip(".,:;").lower() if answer.strip() else ""
        return Score(value=1.0 if named == target.text else 0.0, answer=named, explanation=f"expected {target.text}")

    return score


def told(messages: Sequence[ChatMessage]) -> str:
    """Every tool call with what came back, in order."""
    lines: list[str] = []
    for message in messages:
        if isinstance(message, ChatMessageAssistant):
            lines += [f"> {call.function} {call.arguments}" for call in message.tool_calls or ()]
        elif isinstance(message, ChatMessageTool):
            lines.append(message.error.message if message.error else message.text.strip())
    return "\n".join(lines) + "\n"
