"""One described picture in, one C program out, compiled and run in a sandbox; model and limits come from eval.yml."""

from __future__ import annotations

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import TaskState, generate
from picture import NoPicture, Wanted, check_size, decode, differences, png, read_wanted
from workshop import IMAGE_BYTES, LOG_BYTES, TIMED_OUT, Stopped, compile_source, copied, run_program, write_source

from tamesu.extract import ExtractionFailed, pick_program
from tamesu.inspect_support import Stager, first_choice, stager, stopped_on_length

EXTRACTED, COMPILES, RUNS, DECODES, RIGHT = 0.2, 0.4, 0.6, 0.8, 1.0


@task
def render_picture(dataset: str) -> Task:
    return Task(
        dataset=json_dataset(dataset),
        solver=[generate()],
        scorer=[steps_reached()],
        sandbox=("docker", "compose.yaml"),
    )


@scorer(metrics=[mean()])
def steps_reached() -> Scorer:
    """0.2 one program is there, 0.4 it compiles, 0.6 it exits with 0, 0.8 its image has the size, 1.0 the content.

    What a step leaves is staged as soon as it is there, while the sandbox lives.
    """

    async def score(state: TaskState, target: Target) -> Score:
        stage = stager(state.sample_id)
        text = answer_text(state)
        stage.add("response", "response.txt", text, "text/plain")
        found = pick_program(text, languages=("c",), entry=r"\bmain\s*\(", truncated=stopped_on_length(state))
        if isinstance(found, ExtractionFailed):
            return scored(0.0, found.reason, str(found))
        stage.add("source", "main.c", found.code, "text/x-c")
        try:
            await write_source(found.code)
        except Stopped as stopped:
            # No answer can cause this. No number is no score: the item fails, and is not paid for again.
            return scored(float("nan"), stopped.reason, str(stopped))
        return await compiled(stage, read_wanted(target.text))

    return score


async def compiled(stage: Stager, wanted: Wanted) -> Score:
    try:
        code = await compile_source()
        log = await copied("compiler.log", LOG_BYTES)
    except Stopped as stopped:
        return scored(EXTRACTED, stopped.reason, str(stopped))
    stage.add("compiler-log", "compiler.log", ended(code, log), "text/plain")
    if code != 0:
        return scored(EXTRACTED, "compile_error", f"the compiler ended with {code}")
    return await executed(stage, wanted)


async def executed(stage: Stager, wanted: Wanted) -> Score:
    reached = COMPILES
    try:
        code = await run_program()
        reached = RUNS if code == 0 else COMPILES
        stage.add("run-log", "run.log", ended(code, await copied("run.log", LOG_BYTES)), "text/plain")
        content = await copied("image.ppm", IMAGE_BYTES)
    except Stopped as stopped:
        return scored(reached, stopped.reason, str(stopped))
    if code != 0:
        return scored(COMPILES, "run_timeout" if code == TIMED_OUT else "run_failed", f"the program ended with {code}")
    return rendered(stage, content, wanted)


def rendered(stage: Stager, content: bytes, wanted: Wanted) -> Score:
    try:
        image = decode(content)
        stage.add("render", "render.png", png(image), "image/png")
        check_size(image, wanted)
    except NoPicture as none:
        return scored(RUNS, none.reason, str(none))
    wrong = differences(image, wanted)
    if wrong:
        return scored(DECODES, "wrong_content", f"{len(wrong)} of {len(wanted.points)} points: {wrong[0]}")
    return scored(RIGHT, "none", "every point has its color")


def ended(code: int, log: bytes) -> bytes:
    return log + f"[ended with {code}]\n".encode()


def scored(value: float, reason: str, explanation: str) -> Score:
    return Score(value=value, explanation=explanation, metadata={"reason": reason})


def answer_text(state: TaskState) -> str:
    """The text of the first choice; nothing when there is none."""
    choice = first_choice(state)
    return "" if choice is None else choice.message.text
