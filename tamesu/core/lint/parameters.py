"""Parameters of the model calls: names that are refused, and what a provider needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tamesu.base.canonical import Json
from tamesu.base.model.manifest import Eval
from tamesu.core.lint.remark import Remark
from tamesu.core.parameters import REFUSED


def parameter_remarks(evaluation: Eval) -> Iterator[Remark]:
    """Yield refused names, recorded models without recordings, and calls whose price nothing bounds."""
    for place, parameters in parameter_places(evaluation):
        for name in parameters:
            if name in REFUSED:
                yield Remark((*place, name), "parameter/refused", f"parameter '{name}' is not allowed", REFUSED[name])
    yield from _recordings(evaluation)
    yield from _bounds(evaluation)


def parameter_places(evaluation: Eval) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, Json]]]:
    """Yield each place where parameters stand, with what stands there."""
    yield ("defaults", "parameters"), evaluation.defaults.parameters
    for number, arm in enumerate(evaluation.arms):
        yield ("arms", number, "parameters"), arm.parameters
    for number, entry in enumerate(evaluation.models):
        yield ("runs", number, "parameters"), entry.parameters or {}


def _recordings(evaluation: Eval) -> Iterator[Remark]:
    shared = [evaluation.defaults.parameters, *(arm.parameters for arm in evaluation.arms)]
    for number, entry in enumerate(evaluation.models):
        places = [*shared, entry.parameters or {}]
        if entry.provider == "replay" and not any("recordings" in place for place in places):
            message = "provider replay needs recorded answers"
            fix = "name their file in `parameters.recordings`"
            yield Remark(("runs", number), "replay/no-recordings", message, fix)


def _bounds(evaluation: Eval) -> Iterator[Remark]:
    """One call per item has no limit in dollars, so `max_tokens` is all that bounds its price."""
    if evaluation.execution.backend != "native" or evaluation.task == "image_generation":
        return
    if not any("max_tokens" in parameters for _, parameters in parameter_places(evaluation)):
        message = "nothing bounds what a call may cost"
        yield Remark(("defaults",), "parameter/no-bound", message, "set parameters.max_tokens", "warning")
