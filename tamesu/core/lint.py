"""What a schema cannot say about an eval: names that must agree, and settings that cannot work together."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tamesu.base.canonical import Json
from tamesu.base.model.manifest import Eval
from tamesu.core.artifacts import RESERVED_STEM
from tamesu.core.matrix import Matrix, Setting
from tamesu.core.metrics.catalogue import known_metric_names
from tamesu.core.parameters import REFUSED

TASKS = {"artifact_bundle": frozenset({"inspect"})}
ROUTES = frozenset({"replay"})
PROVIDER_DEFAULT = "provider-default"  # says that a field is left out on purpose


@dataclass(frozen=True, slots=True)
class Remark:
    """A finding by its place in the manifest instead of its line."""

    path: tuple[str | int, ...]
    rule: str
    message: str
    fix: str


def remarks(evaluation: Eval) -> tuple[Remark, ...]:
    """Return everything that is wrong with an eval whose shape is right."""
    return tuple(
        remark
        for check in (_task, _unsupported, _names, _runs, _parameters, _evaluation, _metrics)
        for remark in check(evaluation)
    )


def _task(evaluation: Eval) -> Iterator[Remark]:
    backends = TASKS.get(evaluation.task)
    if backends is None:
        known = ", ".join(sorted(TASKS))
        yield Remark(("task",), "task/unknown", f"there is no task '{evaluation.task}'", f"use {known}")
    elif evaluation.execution.backend not in backends:
        yield Remark(
            ("execution", "backend"),
            "task/backend",
            f"task '{evaluation.task}' cannot run on backend '{evaluation.execution.backend}'",
            f"use {', '.join(sorted(backends))}",
        )


def _unsupported(evaluation: Eval) -> Iterator[Remark]:
    for name in evaluation.execution.unsupported:
        place = tuple(part for part in name.split(".") if part != "arms[]") if "[]" not in name else ("arms",)
        yield Remark(place, "field/not-supported", f"'{name}' is not supported yet", "remove it")
    if "dataset" in evaluation.execution.task_args:
        yield Remark(
            ("execution", "task_args", "dataset"),
            "task/args",
            "'dataset' names the frozen dataset, which is passed to every task",
            "remove it or rename the parameter",
        )


def _names(evaluation: Eval) -> Iterator[Remark]:
    folded = Counter(arm.id.casefold() for arm in evaluation.arms)
    for number, arm in enumerate(evaluation.arms):
        if folded[arm.id.casefold()] > 1:
            yield Remark(("arms", number, "id"), "id/repeated", f"arm '{arm.id}' repeats", "rename one arm")
        if RESERVED_STEM.fullmatch(arm.id):
            message = f"'{arm.id}' is a device's name on some systems"
            yield Remark(("arms", number, "id"), "id/reserved", message, "choose another ID")
    if evaluation.name != evaluation.ref.eval:
        yield Remark(
            ("name",),
            "name/folder",
            f"name '{evaluation.name}' is not the folder's name '{evaluation.ref.eval}'",
            "use the folder's name",
        )


def _runs(evaluation: Eval) -> Iterator[Remark]:
    arms = {arm.id for arm in evaluation.arms}
    seen: set[tuple[str, str, str]] = set()
    for number, entry in enumerate(evaluation.models):
        if entry.provider not in ROUTES:
            yield Remark(
                ("runs", number, "provider"),
                "provider/no-route",
                f"provider '{entry.provider}' has no Inspect route",
                f"use {', '.join(sorted(ROUTES))}",
            )
        for position, arm in enumerate(entry.arms or ()):
            if arm not in arms:
                known = ", ".join(sorted(arms))
                yield Remark(
                    ("runs", number, "arms", position),
                    "run/unknown-arm",
                    f"arm '{arm}' is not declared",
                    f"declare it below `arms` or use one of {known}",
                )
        for arm in entry.arms or sorted(arms):
            cell = (entry.provider, entry.model, arm)
            if cell in seen:
                yield Remark(
                    ("runs", number),
                    "run/repeated",
                    f"{entry.provider}/{entry.model} x {arm} is planned twice",
                    "use `repetitions` for more draws",
                )
            seen.add(cell)


def _parameter_places(evaluation: Eval) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, Json]]]:
    yield ("defaults", "parameters"), evaluation.defaults.parameters
    for number, arm in enumerate(evaluation.arms):
        yield ("arms", number, "parameters"), arm.parameters
    for number, entry in enumerate(evaluation.models):
        yield ("runs", number, "parameters"), entry.parameters or {}


def _parameters(evaluation: Eval) -> Iterator[Remark]:
    for place, parameters in _parameter_places(evaluation):
        for name in parameters:
            if name in REFUSED:
                yield Remark((*place, name), "parameter/refused", f"parameter '{name}' is not allowed", REFUSED[name])
    for number, entry in enumerate(evaluation.models):
        places = [evaluation.defaults.parameters, entry.parameters or {}]
        places += [arm.parameters for arm in evaluation.arms]
        if entry.provider == "replay" and not any("recordings" in place for place in places):
            yield Remark(
                ("runs", number),
                "replay/no-recordings",
                "provider replay needs recorded answers",
                "name their file in `parameters.recordings`",
            )


def _evaluation(evaluation: Eval) -> Iterator[Remark]:
    policy, artifacts = evaluation.policy, evaluation.execution.artifacts
    scorers = Counter(check.scorer for check in policy.mechanical)
    for name, count in scorers.items():
        if count > 1:
            yield Remark(("evaluation", "mechanical"), "scorer/repeated", f"scorer '{name}' repeats", "list it once")
    unknown = sorted(set(policy.acceptance.requires) - {"mechanical", "human"})
    if unknown:
        yield Remark(
            ("evaluation", "acceptance", "requires"),
            "acceptance/no-evidence",
            f"acceptance requires '{unknown[0]}', which nothing here produces",
            "require mechanical or human",
        )
    wants_human = "human" in policy.acceptance.requires
    if wants_human and policy.human_rubric is None:
        yield Remark(
            ("evaluation", "acceptance", "requires"),
            "acceptance/no-review",
            "acceptance requires 'human' but human_review is not declared",
            "declare evaluation.human_review.rubric or drop 'human'",
        )
    if policy.human_rubric is not None and not wants_human:
        yield Remark(
            ("evaluation", "acceptance"),
            "acceptance/ignores-review",
            "human_review is declared but acceptance does not require 'human'",
            "add 'human' to acceptance.requires or drop human_review",
        )
    if policy.human_rubric is not None and artifacts.review is None:
        yield Remark(
            ("evaluation", "human_review"),
            "review/no-role",
            "human_review needs an artifact that people look at",
            "name its role in execution.artifacts.review",
        )


def _metrics(evaluation: Eval) -> Iterator[Remark]:
    has_review = evaluation.execution.artifacts.review is not None
    known = known_metric_names(evaluation.policy, has_review)
    primary = [(("metrics", "primary"), evaluation.policy.primary_metric)]
    others = [(("metrics", "secondary", n), m) for n, m in enumerate(evaluation.policy.secondary_metrics)]
    for place, name in [*primary, *others]:
        if name not in known:
            yield Remark(
                place, "metric/not-produced", f"metric '{name}' is not produced by this eval",
                _nearest(name, known),
            )  # fmt: skip


def _nearest(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=2)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"use one of {', '.join(dict.fromkeys(known))}"


def price_remarks(evaluation: Eval, runs: Matrix, setting: Setting) -> tuple[Remark, ...]:
    """Return a finding for every model whose price nobody knows; the cost limit could not act."""
    unknown = {spec.model_uri for spec in runs.runs if spec.price is None}
    return tuple(
        Remark(
            ("runs", number, "model"),
            "price/unknown",
            f"{entry.provider}/{entry.model} has no registered price",
            _price_fix(setting.facts(entry.provider, entry.model).similar),
        )
        for number, entry in enumerate(evaluation.models)
        if f"{entry.provider}/{entry.model}" in unknown
    )


def _price_fix(similar: Sequence[str]) -> str:
    if not similar:
        return "add it to config/models.yml"
    return f"did you mean {' or '.join(similar)}? Else add it to config/models.yml"


def effort_remarks(evaluation: Eval, setting: Setting) -> tuple[Remark, ...]:
    """Return a finding where an effort that a run would use is none of the values its model takes."""
    found: dict[tuple[str | int, ...], Remark] = {}
    for number, entry in enumerate(evaluation.models):
        allowed = setting.facts(entry.provider, entry.model).effort_values
        for position, arm in enumerate(evaluation.arms):
            if allowed is None or (entry.arms is not None and arm.id not in entry.arms):
                continue
            layers = (
                (("defaults", "parameters"), evaluation.defaults.parameters),
                (("arms", position, "parameters"), arm.parameters),
                (("runs", number, "parameters"), entry.parameters or {}),
            )
            for remark in _efforts(f"{entry.provider}/{entry.model}", layers, allowed):
                found.setdefault(remark.path, remark)
    return tuple(found.values())


def _efforts(
    model: str, layers: Sequence[tuple[tuple[str | int, ...], Mapping[str, Json]]], allowed: Sequence[str]
) -> Iterator[Remark]:
    """Only the last layer that sets a parameter counts; the others are never sent."""
    for name in ("effort", "reasoning_effort"):
        setting = [(place, layer[name]) for place, layer in layers if name in layer]
        if not setting or setting[-1][1] in (*allowed, PROVIDER_DEFAULT):
            continue
        place, value = setting[-1]
        yield Remark(
            (*place, name),
            "parameter/effort",
            f"{model} takes no {name} '{value}'",
            f"use {', '.join(allowed)}" if allowed else "remove it",
        )
