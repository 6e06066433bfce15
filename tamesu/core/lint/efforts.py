"""Efforts: whether a model takes the value that a run would use."""

from __future__ import annotations

from tamesu.base.model.manifest import Eval
from tamesu.core.lint.layers import Place, set_parameters
from tamesu.core.lint.remark import Remark
from tamesu.core.matrix import Setting
from tamesu.core.parameter_values import PROVIDER_DEFAULT

_EFFORTS = ("effort", "reasoning_effort")


def effort_remarks(evaluation: Eval, setting: Setting) -> tuple[Remark, ...]:
    """Return a finding where an effort that a run would use is none of the values its model takes."""
    found: dict[Place, Remark] = {}
    for one in set_parameters(evaluation):
        allowed = setting.facts(one.entry.provider, one.entry.model).effort_values
        if one.name not in _EFFORTS or allowed is None or one.value in (*allowed, PROVIDER_DEFAULT):
            continue
        message = f"{one.entry.provider}/{one.entry.model} takes no {one.name} '{one.value}'"
        fix = f"use {', '.join(allowed)}" if allowed else "remove it"
        found.setdefault(one.place, Remark(one.place, "parameter/effort", message, fix))
    return tuple(found.values())
