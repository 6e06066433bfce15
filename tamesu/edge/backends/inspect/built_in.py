"""Tamesu's own Inspect task: each item is asked once, as the native backend does."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from functools import cache

from inspect_ai import Task
from inspect_ai.dataset import Dataset, Sample, json_dataset
from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import Content, ContentImage, ContentText, ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import LimitExceededError

from tamesu.base.errors import EvidenceError, Refused
from tamesu.base.model.wire import REFUSED
from tamesu.core.identity import BUILT_IN_TASK_VERSION
from tamesu.core.tasks import IMAGES
from tamesu.edge.backends.inspect.kept import told_as_withheld
from tamesu.edge.backends.protocol import AttemptRequest
from tamesu.edge.backends.sent_pictures import sent_picture
from tamesu.edge.credentials import without_secrets
from tamesu.edge.providers.probe import error_line
from tamesu.edge.providers.reply_content import withheld_by_error


def built_in_task(request: AttemptRequest) -> Task:
    """Return the task of an attempt. Raises Refused when a picture that goes with a prompt is not as frozen."""
    return Task(dataset=_dataset(request), solver=[_asked_once(request)], version=BUILT_IN_TASK_VERSION)


def _asked_once(request: AttemptRequest) -> Solver:
    """Return the solver of an attempt; what an attempt holds is bound here, as Inspect logs the arguments of a solver.

    A reply that went beyond a limit is paid for and here, so it is kept, which Inspect does not. That a filter took a
    picture is an answer, also where the provider says so with an error.
    """
    task = request.spec.task

    @solver(name="asked_once")
    def asked_once() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            try:
                state = await generate(state)
            except LimitExceededError:
                state.output = _last_reply() or state.output
                raise
            except Exception as error:
                if task != IMAGES or not withheld_by_error(error):
                    raise
                state.output = _withheld(request, error)
            finally:
                told_as_withheld(task, state.output)
            return state

        return solve

    return asked_once()


def _last_reply() -> ModelOutput | None:
    """Return what the last call of the running sample was answered with, None when nothing came."""
    calls = [event for event in transcript().events if isinstance(event, ModelEvent)]
    return calls[-1].output if calls and calls[-1].error is None and not calls[-1].pending else None


def _withheld(request: AttemptRequest, error: Exception) -> ModelOutput:
    words = str(error) if request.access is None else error_line(error, request.access)
    text = without_secrets(words, request.secrets)
    output = ModelOutput.from_content(request.spec.model_uri, text, stop_reason="content_filter")
    output.metadata = {REFUSED: True}
    return output


def _dataset(request: AttemptRequest) -> Dataset:
    """Return the dataset of an attempt, with the pictures that go with its prompts."""
    path = request.paths.attempt_dataset(request.attempt)
    dataset = json_dataset(str(path))
    records = (json.loads(line) for line in path.read_bytes().split(b"\n") if line.strip())
    pictures: Mapping[str, list[str]] = {record["id"]: record["pictures"] for record in records if "pictures" in record}
    folder = request.paths.sent_pictures

    @cache
    def shown(sha256: str) -> ContentImage:
        try:
            part = sent_picture(folder, sha256)
        except EvidenceError as error:
            raise Refused(str(error)) from None
        return ContentImage(image=f"data:{part.media_type};base64,{b64encode(part.content).decode()}")

    for sample in dataset:
        _add(sample, [shown(sha256) for sha256 in pictures.get(str(sample.id), ())])
    return dataset


def _add(sample: Sample, pictures: list[ContentImage]) -> None:
    """Let the user's message of a sample end with pictures."""
    if pictures and not isinstance(sample.input, str):
        last = sample.input[-1]
        content: list[Content] = [ContentText(text=last.text), *pictures]
        last.content = content
