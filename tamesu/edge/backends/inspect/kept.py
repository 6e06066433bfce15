"""What is kept of an Inspect sample whose output has a meaning of Tamesu's: staged by a scorer that judges nothing."""

from __future__ import annotations

from collections.abc import Sequence

from inspect_ai._util.registry import registry_unqualified_name
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from tamesu.base.errors import Refused
from tamesu.base.model.plan import RunSpec
from tamesu.core.tasks import IMAGES, built_in_checks
from tamesu.edge.backends.outputs import Output, outputs_of
from tamesu.edge.providers.calls import Called
from tamesu.edge.providers.reply_content import is_withheld, reply_pictures, reply_words
from tamesu.inspect_support import list_as_kept, stager


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
    """Stage the final output of a sample as the native backend does; it judges nothing, so it has no score.

    It lists what it staged, possibly nothing, so that ingestion takes nothing else for the reply.
    """

    async def keep(state: TaskState, target: Target) -> Score | None:  # noqa: ARG001
        told_as_withheld(task, state.output)
        stage = stager(state.sample_id)
        for output in _outputs(task, state.output):
            stage.add(output.role, output.path, output.content, output.media_type)
        list_as_kept(stage)
        return None

    return keep


def told_as_withheld(task: str, output: ModelOutput) -> None:
    """Let an output say that a filter took its picture, whichever way its provider says so."""
    if task == IMAGES and output.choices and is_withheld(output) and not reply_pictures(output):
        output.choices[0].stop_reason = "content_filter"


def _outputs(task: str, output: ModelOutput) -> tuple[Output, ...]:
    """Return the files that a task makes of an output, none where no reply came."""
    if not output.choices:
        return ()
    return outputs_of(task, Called(reply_words(output), None, None, 0, pictures=reply_pictures(output)))
