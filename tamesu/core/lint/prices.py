"""Prices and what is known of models: without a price a limit in dollars cannot act."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from tamesu.base.model.manifest import Eval
from tamesu.base.model.plan import RunSpec
from tamesu.core.lint.remark import Remark
from tamesu.core.matrix import Matrix, Setting


def price_remarks(evaluation: Eval, runs: Matrix, setting: Setting) -> tuple[Remark, ...]:
    """Return a finding for every model whose price nobody knows, or whose calls nothing bounds.

    An unknown price is an error where `cost_limit` depends on it.
    """
    unknown = {_name(spec) for spec in runs.runs if spec.price is None}
    on_native = evaluation.execution.backend == "native"
    unbounded = {_name(spec) for spec in runs.runs if not spec.bounded} - unknown
    return (*_unbounded(evaluation, unbounded), *(_unknown(evaluation, setting, unknown, on_native)))


def _name(spec: RunSpec) -> str:
    return f"{spec.provider}/{spec.model}"


def _unbounded(evaluation: Eval, models: AbstractSet[str]) -> Iterator[Remark]:
    for number, entry in enumerate(evaluation.models):
        if f"{entry.provider}/{entry.model}" in models:
            message = f"nothing bounds what a call of {entry.provider}/{entry.model} may cost"
            yield Remark(("runs", number), "parameter/no-bound", message, "set parameters.max_tokens", "warning")


def _unknown(evaluation: Eval, setting: Setting, unknown: AbstractSet[str], on_native: bool) -> Iterator[Remark]:
    return (
        Remark(
            ("runs", number, "model"),
            "price/unknown",
            f"{entry.provider}/{entry.model} has no registered price",
            _fix(setting.facts(entry.provider, entry.model).similar),
            "warning" if on_native else "error",
        )
        for number, entry in enumerate(evaluation.models)
        if f"{entry.provider}/{entry.model}" in unknown
    )


def _fix(similar: Sequence[str]) -> str:
    if not similar:
        return "add it to config/models.yml"
    return f"did you mean {' or '.join(similar)}? Else add it to config/models.yml"
