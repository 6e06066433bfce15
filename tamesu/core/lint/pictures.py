"""Wishes for pictures that cannot be carried out: several of an item, sizes that are none, fields without a way."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tamesu.base.model.manifest import Eval
from tamesu.core.lint.layers import Place, SetParameter, set_parameters
from tamesu.core.lint.parameters import parameter_places
from tamesu.core.lint.remark import Remark
from tamesu.core.picture_request import IMAGE, OPTIONS, picture_request, returns_pictures, size_problem
from tamesu.core.routes import protocol_of
from tamesu.core.tasks import IMAGES


def picture_remarks(evaluation: Eval) -> Iterator[Remark]:
    """Yield what is wrong with `parameters.image` and `parameters.provider_options`, and what of them is not sent."""
    for place, parameters in parameter_places(evaluation):
        if IMAGE in parameters:
            yield from _wish((*place, IMAGE), parameters[IMAGE])
            if evaluation.execution.backend == "native" and evaluation.task != IMAGES:
                message = f"parameter '{IMAGE}' is not allowed: task '{evaluation.task}' keeps no pictures"
                yield Remark((*place, IMAGE), "parameter/refused", message, f"remove it, or set task: {IMAGES}")
        options = parameters.get(OPTIONS, {})
        if not isinstance(options, dict):
            message = f"parameter '{OPTIONS}' is {json.dumps(options)[:60]}, not a mapping"
            yield Remark((*place, OPTIONS), "parameter/value", message, "write fields of the request's body")
    if evaluation.task == IMAGES:
        yield from _unsent(evaluation)


def _wish(place: Place, image: object) -> Iterator[Remark]:
    problem = size_problem(image)  # type: ignore[arg-type]
    if problem is not None:
        name, wanted = problem
        value = image.get(name) if isinstance(image, dict) else image
        shown = f"image.{name}" if name else IMAGE
        message = f"parameter '{shown}' is {json.dumps(value)[:60]}, not {wanted.partition(':')[0]}"
        yield Remark((*place, name) if name else place, "parameter/value", message, f"write {wanted}")


def _unsent(evaluation: Eval) -> Iterator[Remark]:
    told: set[tuple[Place, str]] = set()
    for one in set_parameters(evaluation):
        for name in _unsent_names(one):
            if (one.place, name) not in told:
                told.add((one.place, name))
                model = f"{one.entry.provider}/{one.entry.model}"
                message = f"parameter 'image.{name}' does not reach {model}, so that preflight refuses"
                fix = "remove it, or write what docs/pictures.md names for this route"
                yield Remark((*one.place, name), "parameter/not-sent", message, fix, "warning")


def _unsent_names(one: SetParameter) -> tuple[str, ...]:
    if one.name != IMAGE or not isinstance(one.value, dict) or not returns_pictures(one.entry.provider):
        return ()
    return picture_request(one.value, protocol_of(one.entry.provider)).unsent
