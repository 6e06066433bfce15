"""Tamesu's own part of an Inspect evaluation: a task of one call per item, and the scorer that keeps what it said."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from inspect_ai import Task
from inspect_ai._util.registry import registry_unqualified_name
from inspect_ai.dataset import json_dataset
from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import LimitExceededError

from tamesu.base.errors import Refused
from tamesu.base.model.plan import RunSpec
from tamesu.core.identity import BUILT_IN_TASK_VERSION
from tamesu.core.tasks import built_in_checks
from tamesu.edge.backends.outputs import Output, outputs_of
from tamesu.edge.providers.calls import Called
from tamesu.edge.providers.reply_content import reply_pictures
from tamesu.inspect_support import stager


def built_in_task(dataset: Path) -> Task:
    """Return the task that asks each item of a frozen dataset once, as the native backend does."""
    return Task(dataset=json_dataset(str(dataset)), solver=[asked_once()], version=BUILT_IN_TASK_VERSION)


@solver
def asked_once() -> Solver:
    """Make one call. A reply that went beyond a limit is paid for and here, so it is kept; Inspect would drop it."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        try:
            return await generate(state)
        except LimitExceededError:
            state.output = _last_reply() or state.output
            raise

    return solve


def _last_reply() -> ModelOutput | None:
    """Return what the last call of the running sample was answered with, None when nothing came."""
    calls = [event for event in transcript().events if isinstance(event, ModelEvent)]
    return calls[-1].output if calls and calls[-1].error is None and not calls[-1].pending else None


def keeping_scorers(spec: RunSpec, scorers: Sequence[Scorer]) -> list[Scorer]:
    """Return what scores a run: the task's own scorers, after the one that keeps an output which has a meaning here.

    It goes first, so that nothing which they stage or change stands in the place of what the model said. Raises Refused
    for a scorer that is called like a check of Tamesu's.
    """
    checks = built_in_checks(spec.task)
    if not checks:
        return list(scorers)
    taken = [name for name in map(registry_unqualified_name, scorers) if name in checks]
    if taken:
        raise Refused(f"{spec.task_file}: the scorer '{taken[0]}' is called like a check that Tamesu makes; rename it")
    return [kept_output(spec.task), *scorers]


@scorer(metrics=[])
def kept_output(task: str) -> Scorer:
    """Stage the final output of a sample as the native backend does; it judges nothing, so it has no score."""

    async def keep(state: TaskState, target: Target) -> Score | None:  # noqa: ARG001
        stage = stager(state.sample_id)
        for output in _outputs(task, state.output):
            stage.add(output.role, output.path, output.content, output.media_type)
        return None

    return keep


def _outputs(task: str, output: ModelOutput) -> tuple[Output, ...]:
    """Return the files that a task makes of an output, none where no reply came."""
    if not output.choices:
        return ()
    return outputs_of(task, Called(output.completion, None, None, 0, pictures=reply_pictures(output)))
