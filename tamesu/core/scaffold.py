"""What `tamesu new` writes: which template becomes which file, and what an eval is filled with."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from tamesu.base.canonical import Json
from tamesu.base.errors import UnknownName, UsageError
from tamesu.base.model.manifest import EvalRef, Item

PLACEHOLDER_LABEL = "placeholders written by tamesu new: no model was called"
RECORDED_MODEL = "recorded"


@dataclass(frozen=True, slots=True)
class Target:
    """A packaged template, and where its text goes, relative to the folder that is made."""

    template: str
    path: str


PROJECT = (
    Target("project/Snakefile", "Snakefile"),
    Target("project/config.yaml", "config/config.yaml"),
    Target("project/gitignore", ".gitignore"),
)
EXPERIMENT = (
    Target("experiment/README.md", "README.md"),
    Target("experiment/system.md", "prompts/system.md"),
    Target("experiment/direct.md.j2", "prompts/direct.md.j2"),
    Target("experiment/steps.md.j2", "prompts/steps.md.j2"),
    Target("experiment/task.py", "inspect/task.py"),
)
REVIEW = (
    Target("review/card.py", "inspect/card.py"),
    Target("review/answer.yml", "rubrics/answer.yml"),
    Target("review/answer.md", "rubrics/answer.md"),
)
EVAL = (Target("eval/eval.yml", "eval.yml"),)
SANDBOX = (
    Target("sandbox/compose.yaml", "inspect/compose.yaml"),
    Target("sandbox/task.py", "inspect/task.py"),
    Target("sandbox/program.md.j2", "prompts/program.md.j2"),
)


def case_targets(case: str) -> tuple[Target, ...]:
    """Return the files of a case; its manifest comes last, so that a torn case is none."""
    return (
        Target("case/README.md", "README.md"),
        Target("case/dataset.yml", f"datasets/{case}-v1/dataset.yml"),
        Target("case/case.yml", "case.yml"),
    )


@dataclass(frozen=True, slots=True)
class StagedRole:
    """An artifact role that a task stages, and the media type it gives, empty where that is computed."""

    role: str
    media_type: str


@dataclass(frozen=True, slots=True)
class TaskOutline:
    """What a task module declares, as read without executing it."""

    task: str
    scorers: tuple[str, ...]
    roles: tuple[StagedRole, ...]


# What the packaged task of an eval with a sandbox declares.
SANDBOX_OUTLINE = TaskOutline(
    "solve_by_program",
    ("right_output",),
    tuple(StagedRole(role, "text/plain") for role in ("response", "source", "run-log")),
)


@dataclass(frozen=True, slots=True)
class ArmFile:
    """An arm by its prompt file: the ID is the file's name up to the first dot."""

    id: str
    file: str


@dataclass(frozen=True, slots=True)
class Review:
    """What people look at, and the file name of the rubric they answer."""

    role: str
    rubric: str


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the caller of `tamesu new eval` asked for; None where nothing was said."""

    provider: str = "replay"
    model: str | None = None
    items: str = "all"
    repetitions: int = 1
    budget_usd: float = 1.0
    sandbox: bool = False


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a new eval is about: arms and task, its experiment's or its own, and its case's dataset.

    `place` leads from eval.yml to the folder that holds both.
    """

    dataset: str
    items: tuple[Item, ...]
    arms: tuple[ArmFile, ...]
    system: bool
    outline: TaskOutline
    rubrics: tuple[str, ...]
    place: str = "../../"


@dataclass(frozen=True, slots=True)
class NewEval:
    """Everything that the template of eval.yml is filled with."""

    ref: EvalRef
    question: str
    dataset: str
    outline: TaskOutline
    required: tuple[str, ...]
    review: Review | None
    items: str
    repetitions: int
    budget: str
    recordings: bool
    arms: tuple[ArmFile, ...]
    system: bool
    provider: str
    model: str
    place: str


def sandboxed(dataset: str, items: tuple[Item, ...]) -> Surroundings:
    """Return what an eval with a sandbox of its own is about: one arm that asks for a program, and its task."""
    return Surroundings(
        dataset=dataset,
        items=items,
        arms=(ArmFile("program", "program.md.j2"),),
        system=False,
        outline=SANDBOX_OUTLINE,
        rubrics=(),
        place="",
    )


def new_eval(ref: EvalRef, around: Surroundings, wishes: Wishes) -> NewEval:
    """Return what a new eval holds. Raises UsageError where a wish cannot be met, or a model is missing."""
    recorded = wishes.provider == "replay"
    if wishes.model is None and not recorded:
        raise UsageError(f"provider '{wishes.provider}' needs a model; add --model MODEL")
    return NewEval(
        ref=ref,
        question=_question(around),
        dataset=around.dataset,
        outline=around.outline,
        required=tuple(dict.fromkeys(staged.role for staged in around.outline.roles)),
        review=_review(around),
        items=_selection(wishes.items, around),
        repetitions=wishes.repetitions,
        budget=f"{wishes.budget_usd:.2f}" if wishes.budget_usd >= 0.01 else f"{wishes.budget_usd:.6f}",
        recordings=recorded,
        arms=around.arms,
        system=around.system,
        provider=wishes.provider,
        model=wishes.model or RECORDED_MODEL,
        place=around.place,
    )


def _question(around: Surroundings) -> str:
    measured = around.outline.scorers[0]
    names = [arm.id for arm in around.arms]
    if len(names) == 1:
        return f"How does {names[0]} score on {measured}?"
    return f"Which of {', '.join(names[:-1])} and {names[-1]} scores higher on {measured}?"


def _review(around: Surroundings) -> Review | None:
    """People review when the experiment holds one rubric and its task stages one picture."""
    pictures = {staged.role for staged in around.outline.roles if staged.media_type.startswith("image/")}
    if len(pictures) != 1 or len(around.rubrics) != 1:
        return None
    return Review(pictures.pop(), around.rubrics[0])


def _selection(wanted: str, around: Surroundings) -> str:
    """Return `items` of the manifest: all, the first N, or IDs joined by commas. Raises UsageError."""
    known = [item.id for item in around.items]
    if wanted == "all":
        return wanted
    if wanted.isdecimal() and wanted not in known:
        if not 1 <= int(wanted) <= len(known):
            raise UsageError(f"--items {wanted}: dataset {around.dataset} holds {len(known)} items; use 1 to that many")
        return f"{{first: {int(wanted)}}}"
    ids = [part.strip() for part in wanted.split(",")]
    for name in ids:
        if name not in known:
            raise UnknownName("item", name, known)
    return f"{{ids: {json.dumps(list(dict.fromkeys(ids)))}}}"


def placeholder_recordings(items: Iterable[Item], *, sandbox: bool = False) -> bytes:
    """Return a file of recorded answers, one per item: the expected number, and for the last item no answer.

    With a sandbox an answer is a program that prints it.

    They fit every model, arm and repetition alike, so that no difference between arms is made up.
    """
    asked = tuple(items)
    lines: list[Json] = [{"tamesu_recording": 1, "label": PLACEHOLDER_LABEL}]
    for item in asked:
        missing = len(asked) > 1 and item is asked[-1]
        text = "Placeholder without an answer." if missing else _placeholder(item.expected, sandbox)
        lines.append({"item": item.id, "turns": [{"text": text}]})
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()


def _placeholder(expected: Json, sandbox: bool) -> str:
    if isinstance(expected, bool) or not isinstance(expected, (str, int, float)):
        return "Placeholder."
    return f"```python\nprint({expected!r})\n```\n" if sandbox else f"Answer: {expected}"
