"""How an eval measures: the matrix, what every run is given, what counts as good, and what the model is shown first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tamesu.base.canonical import Json
from tamesu.base.model.manifest import Eval, Rubric
from tamesu.base.model.plan import Message, RunSpec
from tamesu.core.freeze import shown_pictures
from tamesu.core.matrix import Matrix
from tamesu.core.report.checks import named
from tamesu.core.report.figures import count, usd
from tamesu.core.report.study.items import excerpt, json_text

MOST_PROMPT = 20_000  # characters of one message
_LONG = 600  # a message above that is folded
_MOST_RATIONALE = 4_000


@dataclass(frozen=True, slots=True)
class Fact:
    """A labelled value."""

    label: str
    value: str


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One model x arm of the plan; `parameters` are those that not all runs share."""

    model: str
    arm: str
    repetitions: int
    parameters: str


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message, or the files that go with the last one; `label` says which."""

    label: str
    text: str
    folded: bool


@dataclass(frozen=True, slots=True)
class PromptView:
    """What the model sees of one arm with the first item, and how the author describes the arm."""

    arm: str
    description: str
    item: str
    messages: tuple[ShownMessage, ...]


@dataclass(frozen=True, slots=True)
class RubricView:
    """A rubric and who answers it; questions are (id, question, reason codes)."""

    asked: str
    name: str
    questions: tuple[tuple[str, str, str], ...]
    rationale: str


@dataclass(frozen=True, slots=True)
class Design:
    """The design of an eval, ready to be shown."""

    matrix: tuple[MatrixRow, ...]
    facts: tuple[Fact, ...]
    parameters: tuple[Fact, ...]
    policy: tuple[Fact, ...]
    rubrics: tuple[RubricView, ...]
    prompts: tuple[PromptView, ...]


def make_design(evaluation: Eval, runs: Matrix) -> Design:
    """Return the design of an eval from its manifest and planned runs."""
    shared = _shared([spec.parameters for spec in runs.runs])
    return Design(
        matrix=tuple(_matrix(runs.runs, shared)),
        facts=tuple(_facts(evaluation, runs)),
        parameters=tuple(Fact(name, json_text(value)) for name, value in shared.items()),
        policy=tuple(_policy(evaluation)),
        rubrics=tuple(_rubrics(evaluation)),
        prompts=tuple(_prompts(evaluation, runs)),
    )


def _shared(parameters: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    """Return the parameters that every run has with the same value."""
    if not parameters:
        return {}
    first, *others = parameters
    return {
        name: value
        for name, value in sorted(first.items())
        if all(name in other and json_text(other[name]) == json_text(value) for other in others)
    }


def _matrix(runs: Sequence[RunSpec], shared: Mapping[str, Json]) -> Iterator[MatrixRow]:
    cells: dict[tuple[str, str], list[RunSpec]] = {}
    for spec in runs:
        cells.setdefault((f"{spec.provider}/{spec.model}", spec.arm), []).append(spec)
    for (model, arm), own in cells.items():
        special = {name: value for name, value in sorted(own[0].parameters.items()) if name not in shared}
        yield MatrixRow(
            model, arm, len(own), ", ".join(f"{name} {json_text(value)}" for name, value in special.items())
        )


def _facts(evaluation: Eval, runs: Matrix) -> Iterator[Fact]:
    execution, defaults, chosen = evaluation.execution, evaluation.defaults, evaluation.defaults.items
    asked = max((len(spec.items) for spec in runs.runs), default=0)
    picked = {"all": "all", "ids": "named one by one", "first": f"the first {chosen.count}"}
    how = picked.get(chosen.kind, f"{chosen.count} at random, seed {chosen.seed}")
    yield Fact("Items", f"{asked} of {len(evaluation.dataset.items)} in {evaluation.dataset.file}, {how}")
    yield Fact("Runs", f"{len(runs.runs)}: {_repetitions(runs.runs)}")
    yield Fact("Task", _task(evaluation))
    limits = {
        "US dollars": execution.limits.cost_limit,
        "seconds": execution.limits.time_limit,
        "tokens": execution.limits.token_limit,
        "messages": execution.limits.message_limit,
        "turns": execution.limits.turn_limit,
        "seconds of work": execution.limits.working_limit,
    }
    told = ", ".join(f"{value:g} {name}" for name, value in limits.items() if value is not None)
    yield Fact("Limits of one item", told or "none")
    yield Fact(
        "A call",
        f"{defaults.timeout_seconds} s at most, {count(defaults.retries, 'retry', 'retries')}, {defaults.concurrency} "
        f"at once; an item may use {count(defaults.max_attempts, 'attempt')}",
    )
    artifacts = execution.artifacts
    if artifacts.roles:
        review = f"; reviewed: {', '.join(artifacts.review_roles)}" if artifacts.review_roles else ""
        yield Fact("Artifacts", f"required: {', '.join(artifacts.required) or 'none'}{review}")
    for name, role in sorted(execution.model_roles.items()):
        yield Fact(f"Role {name}", f"{role.provider}/{role.model}")


def _repetitions(runs: Sequence[RunSpec]) -> str:
    asked = {(spec.provider, spec.model, spec.arm) for spec in runs}
    most = max((spec.repetition for spec in runs), default=0)
    each = "each" if most * len(asked) == len(runs) else "at most"
    return f"{len(asked)} of model x arm, {count(most, 'repetition')} {each}"


def _task(evaluation: Eval) -> str:
    execution = evaluation.execution
    where = f", {execution.task} in {execution.file}" if execution.file else ""
    return f"{evaluation.task} on {execution.backend}{where}"


def _policy(evaluation: Eval) -> Iterator[Fact]:
    policy = evaluation.policy
    yield Fact("Primary metric", policy.primary_metric)
    if policy.mechanical:
        checks = "; ".join(f"{named(check)} passes at {check.pass_at:g}" for check in policy.mechanical)
        yield Fact("Scorers", f"{checks}; the mechanical verdict needs all of them")
    for judge in policy.judges:
        decides = "decides" if judge.role == "gate" else "screens, does not decide"
        asked = count(judge.repetitions, "judgment")
        yield Fact(f"Judge {judge.id}", f"{judge.provider}/{judge.model}, {asked} an output; {decides}")
    acceptance = policy.acceptance
    if policy.human_rubric is not None:
        reviews = count(acceptance.required_reviews_per_item, "review")
        yield Fact("Human review", f"{reviews} an output; disagreement: {acceptance.on_disagreement}")
    yield Fact("Accepted when", f"{' and '.join(acceptance.requires) or 'nothing is'} passed, each kind by itself")
    if policy.tolerate_failed:
        told = f"up to {policy.tolerate_failed:.0%} of a run's items may fail for good; they count as 0"
        yield Fact("Tolerated", told)
    defaults = evaluation.defaults
    yield Fact("Budget", f"{usd(defaults.budget_usd)} USD; judges {usd(defaults.judge_budget_usd)} USD")


def _rubrics(evaluation: Eval) -> Iterator[RubricView]:
    policy = evaluation.policy
    if policy.human_rubric is not None:
        yield _rubric("People answer", policy.human_rubric)
    for judge in policy.judges:
        if judge.rubric is not None:
            yield _rubric(f"Judge {judge.id} answers", judge.rubric)


def _rubric(asked: str, rubric: Rubric) -> RubricView:
    questions = tuple((one.id, one.question, ", ".join(one.reason_codes)) for one in rubric.dimensions)
    return RubricView(asked, rubric.name, questions, excerpt(rubric.rationale.strip(), _MOST_RATIONALE, rubric.path))


def _prompts(evaluation: Eval, runs: Matrix) -> Iterator[PromptView]:
    for arm in evaluation.arms:
        samples = runs.datasets[arm.id].samples
        if samples:
            messages = tuple(map(_message, samples[0].messages))
            files = shown_pictures(evaluation.dataset, arm, samples[0])
            beside = "\n".join(f"{file.path} (sha256 {file.sha256[:12]})" for file in files)
            sent = (*messages, ShownMessage("files that go with it", beside, folded=False)) if files else messages
            yield PromptView(arm.id, arm.description, samples[0].item, sent)


def _message(message: Message) -> ShownMessage:
    text = excerpt(message.content, MOST_PROMPT, "the frozen dataset")
    return ShownMessage(f"{message.role} message", text, len(text) > _LONG)
