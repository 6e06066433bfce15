"""One written scene in, one drawing program out; model, parameters and limits come from eval.yml."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from drawing import Program, Refusal, coverage, read_program, render_png
from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import TaskState, generate

from tamesu.inspect_support import first_choice, stager, stopped_on_length


@task
def draw_scene(dataset: str) -> Task:
    return Task(
        dataset=json_dataset(dataset),
        solver=[generate()],
        scorer=[valid_program(), scene_coverage()],
    )


@scorer(metrics=[mean()])
def valid_program() -> Scorer:
    """1.0 when the answer holds exactly one program that is valid and draws something; stages artifacts."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 (Inspect calls it so)
        stage = stager(state.sample_id)
        stage.add("response", "response.txt", answer_text(state), "text/plain")
        try:
            program = program_of(state)
            stage.add("drawing", "drawing.json", program.text, "application/json")
            stage.add("render", "render.png", render_png(program), "image/png")
        except Refusal as refusal:
            return refused(refusal)
        return Score(value=1.0, explanation=f"shapes drawn: {len(program.shapes)}", metadata={"reason": "none"})

    return score


@scorer(metrics=[mean()])
def scene_coverage() -> Scorer:
    """Share of the expected shapes, by kind and color, that the program draws."""

    async def score(state: TaskState, target: Target) -> Score:
        try:
            program = program_of(state)
        except Refusal as refusal:
            return refused(refusal)
        found = coverage(program, expected_shapes(target))
        if not found.missing:
            return Score(value=1.0, explanation="every expected shape is drawn", metadata={"reason": "none"})
        return Score(
            value=found.share,
            explanation=f"missing: {', '.join(found.missing)}",
            metadata={"reason": "missing_shapes"},
        )

    return score


def program_of(state: TaskState) -> Program:
    """The program in the answer; an answer that was cut off is refused whatever it holds."""
    if stopped_on_length(state):
        raise Refusal("truncated", "the answer stopped at the token limit")
    return read_program(answer_text(state))


def answer_text(state: TaskState) -> str:
    """The raw text of the first choice; nothing when there is none."""
    choice = first_choice(state)
    return "" if choice is None else choice.message.text


def expected_shapes(target: Target) -> Sequence[Mapping[str, str]]:
    """`expected.shapes` of the dataset item, which arrives as JSON text."""
    shapes: Sequence[Mapping[str, str]] = json.loads(target.text)["shapes"]
    return shapes


def refused(refusal: Refusal) -> Score:
    return Score(value=0.0, explanation=str(refusal), metadata={"reason": refusal.reason})
