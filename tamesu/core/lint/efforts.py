"""Efforts: whether a model takes the value that a run would use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from tamesu.base.canonical import Json
from tamesu.base.model.manifest import Eval
from tamesu.core.lint.remark import Remark
from tamesu.core.matrix import Setting
from tamesu.core.parameter_values import PROVIDER_DEFAULT

_Layer: TypeAlias = tuple[tuple[str | int, ...], Mapping[str, Json]]


def effort_remarks(evaluation: Eval, setting: Setting) -> tuple[Remark, ...]:
    """Return a finding where an effort that a run would use is none of the values its model takes."""
    found: dict[tuple[str | int, ...], Remark] = {}
    for number, entry in enumerate(evaluation.models):
        allowed = setting.facts(entry.provider, entry.model).effort_values
        for position, arm in enumerate(evaluation.arms):
            if allowed is None or (entry.arms is not None and arm.id not in entry.arms):
                continue
            layers: Sequence[_Layer] = (
                (("defaults", "parameters"), evaluation.defaults.parameters),
                (("arms", position, "parameters"), arm.parameters),
                (("runs", number, "parameters"), entry.parameters or {}),
            )
            for remark in _efforts(f"{entry.provider}/{entry.model}", layers, allowed):
                found.setdefault(remark.path, remark)
    return tuple(found.values())


def _efforts(model: str, layers: Sequence[_Layer], allowed: Sequence[str]) -> Iterator[Remark]:
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
