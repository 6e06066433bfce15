"""Parameters of the model calls: names that are refused, and what a provider needs."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from tamesu.base.canonical import Json
from tamesu.base.model.manifest import Eval
from tamesu.core.lint.remark import Remark
from tamesu.core.parameter_values import OVERRIDING, PROVIDER_DEFAULT, value_problem
from tamesu.core.parameters import CONFIG_FIELDS, REFUSED

Place: TypeAlias = tuple[str | int, ...]
_BODIES = frozenset({"extra_body", "provider_options"})
_FURTHER = ("image", "provider_options", "recordings")  # read by tasks and by replay
_NEAR = 0.8


def parameter_remarks(evaluation: Eval) -> Iterator[Remark]:
    """Yield names that are refused, values that cannot be, and recorded models without recordings."""
    for place, parameters in parameter_places(evaluation):
        for name, value in parameters.items():
            yield from _parameter((*place, name), name, value)
    yield from _recordings(evaluation)


def _parameter(place: Place, name: str, value: Json) -> Iterator[Remark]:
    reason = REFUSED.get(name) or OVERRIDING.get(name)
    if reason is not None:
        yield Remark(place, "parameter/refused", f"parameter '{name}' is not allowed", reason)
        return
    wanted = value_problem(name, value)
    if wanted is not None:
        fix = f"write {wanted}, or {PROVIDER_DEFAULT} to leave it out on purpose"
        yield Remark(place, "parameter/value", f"parameter '{name}' is {_shown(value)}, not {wanted}", fix)
    elif name in _BODIES and isinstance(value, dict):
        yield from _body(place, value)
    elif name not in CONFIG_FIELDS:
        near = difflib.get_close_matches(name, (*CONFIG_FIELDS, *_FURTHER), n=1, cutoff=_NEAR)
        if near and name not in _FURTHER:
            message = f"parameter '{name}' is none of Inspect's and travels in the request's body as it is"
            yield Remark(place, "parameter/unknown", message, f"did you mean {near[0]}?", "warning")


def _body(place: Place, body: Mapping[str, Json]) -> Iterator[Remark]:
    """What travels beside the known parameters may not replace them."""
    for name in body:
        reason = REFUSED.get(name) or OVERRIDING.get(name)
        if name in CONFIG_FIELDS:
            reason = "set it as a parameter of its own, so that the plan knows it"
        if reason is not None:
            yield Remark((*place, name), "parameter/refused", f"'{name}' is not allowed here", reason)


def _shown(value: Json) -> str:
    return f"'{value}'" if isinstance(value, str) else json.dumps(value)[:60]


def parameter_places(evaluation: Eval) -> Iterator[tuple[Place, Mapping[str, Json]]]:
    """Yield each place where parameters stand, with what stands there."""
    yield ("defaults", "parameters"), evaluation.defaults.parameters
    for number, arm in enumerate(evaluation.arms):
        yield ("arms", number, "parameters"), arm.parameters
    for number, entry in enumerate(evaluation.models):
        yield ("runs", number, "parameters"), entry.parameters or {}
    for name, role in evaluation.execution.model_roles.items():
        yield ("execution", "model_roles", name, "parameters"), role.parameters
    for number, judge in enumerate(evaluation.policy.judges):
        yield ("evaluation", "model_judges", number, "parameters"), judge.parameters


def _recordings(evaluation: Eval) -> Iterator[Remark]:
    shared = [evaluation.defaults.parameters, *(arm.parameters for arm in evaluation.arms)]
    for number, entry in enumerate(evaluation.models):
        places = [*shared, entry.parameters or {}]
        if entry.provider == "replay" and not any("recordings" in place for place in places):
            message = "provider replay needs recorded answers"
            fix = "name their file in `parameters.recordings`"
            yield Remark(("runs", number), "replay/no-recordings", message, fix)
