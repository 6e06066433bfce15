"""Where a parameter of a run stands: the last layer that sets it counts, the others are never sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tamesu.base.canonical import Json
from tamesu.base.model.manifest import Eval, ModelEntry, RoleModel

Place: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class SetParameter:
    """A parameter that a model of a run would use, its value, and where it stands."""

    entry: ModelEntry | RoleModel
    name: str
    value: Json
    place: Place


def set_parameters(evaluation: Eval) -> Iterator[SetParameter]:
    """Yield the parameters of every model x arm, each at the place that counts, and those of roles."""
    for number, entry in enumerate(evaluation.models):
        for position, arm in enumerate(evaluation.arms):
            if entry.arms is not None and arm.id not in entry.arms:
                continue
            layers: Sequence[tuple[Place, Mapping[str, Json]]] = (
                (("defaults", "parameters"), evaluation.defaults.parameters),
                (("arms", position, "parameters"), arm.parameters),
                (("runs", number, "parameters"), entry.parameters or {}),
            )
            counting = {name: (place, value) for place, layer in layers for name, value in layer.items()}
            for name, (place, value) in counting.items():
                yield SetParameter(entry, name, value, (*place, name))
    for role, model in evaluation.execution.model_roles.items():
        for name, value in model.parameters.items():
            yield SetParameter(model, name, value, ("execution", "model_roles", role, "parameters", name))
    for number, judge in enumerate(evaluation.policy.judges):
        for name, value in judge.parameters.items():
            place = ("evaluation", "model_judges", number, "parameters", name)
            yield SetParameter(RoleModel(judge.provider, judge.model, judge.parameters), name, value, place)
