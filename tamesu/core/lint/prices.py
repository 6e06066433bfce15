"""Prices and what is known of models: without a price a limit in dollars cannot act."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from tamesu.base.model.manifest import Eval, ModelEntry, RoleModel
from tamesu.base.model.plan import RunSpec
from tamesu.core.lint.layers import Place
from tamesu.core.lint.remark import Remark
from tamesu.core.matrix import Matrix, Setting
from tamesu.core.picture_prices import made_by_tool
from tamesu.core.roles import models_of

_OF_A_TOOL = "state rates in config/models.yml that hold for the tokens of the tool that makes its pictures as well"


def price_remarks(evaluation: Eval, runs: Matrix, setting: Setting) -> tuple[Remark, ...]:
    """Return a finding for every model whose price nobody knows, or whose calls nothing bounds.

    An unknown price is an error where `cost_limit` depends on it.
    """
    models = [model for spec in runs.runs for model in models_of(spec)]
    tools = {entry.provider for entry in evaluation.models if made_by_tool(evaluation.task, entry.provider)}
    unknown = {_name(model) for model in models if model.price is None}
    on_native = evaluation.execution.backend == "native"
    unbounded = {_name(model) for model in models if not model.bounded} - unknown
    return (*_unbounded(evaluation, unbounded), *_unknown(evaluation, setting, unknown, on_native, tools))


def _name(spec: RunSpec) -> str:
    return f"{spec.provider}/{spec.model}"


def _places(evaluation: Eval) -> Iterator[tuple[Place, ModelEntry | RoleModel]]:
    for number, entry in enumerate(evaluation.models):
        yield ("runs", number), entry
    for name, role in evaluation.execution.model_roles.items():
        yield ("execution", "model_roles", name), role


def _unbounded(evaluation: Eval, models: AbstractSet[str]) -> Iterator[Remark]:
    for place, entry in _places(evaluation):
        if f"{entry.provider}/{entry.model}" in models:
            message = f"nothing bounds what a call of {entry.provider}/{entry.model} may cost"
            yield Remark(place, "parameter/no-bound", message, "set parameters.max_tokens", "warning")


def _unknown(
    evaluation: Eval, setting: Setting, unknown: AbstractSet[str], on_native: bool, tools: AbstractSet[str]
) -> Iterator[Remark]:
    return (
        Remark(
            (*place, "model"),
            "price/unknown",
            f"{entry.provider}/{entry.model} has no registered price",
            _OF_A_TOOL if entry.provider in tools else _fix(setting.facts(entry.provider, entry.model).similar),
            "warning" if on_native else "error",
        )
        for place, entry in _places(evaluation)
        if f"{entry.provider}/{entry.model}" in unknown
    )


def _fix(similar: Sequence[str]) -> str:
    if not similar:
        return "add it to config/models.yml"
    return f"did you mean {' or '.join(similar)}? Else add it to config/models.yml"
