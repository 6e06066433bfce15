"""What a valid manifest may ask for and this version cannot do: told by lint, refused before anything is spent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tamesu.base.model.manifest import Eval
from tamesu.core.tasks import BUNDLE


@dataclass(frozen=True, slots=True)
class MissingSupport:
    """The field that asks for it, and what cannot be done. `blocks` says that no run may start without it."""

    path: tuple[str | int, ...]
    message: str
    blocks: bool = True


def missing_support(evaluation: Eval) -> tuple[MissingSupport, ...]:
    """Return everything that the eval asks for and this version does not do."""
    return tuple(_inputs(evaluation))


def _inputs(evaluation: Eval) -> Iterator[MissingSupport]:
    execution = evaluation.execution
    if evaluation.task == BUNDLE and evaluation.output_schema is not None:
        yield MissingSupport(("output_schema",), "output_schema is not acted upon by task 'artifact_bundle'")
    if execution.task is None and any(item.assets for item in evaluation.dataset.items):
        message = f"assets of items are not sent by backend '{execution.backend}' in this version"
        yield MissingSupport(("dataset",), message)
    for number, arm in enumerate(evaluation.arms):
        if arm.references:
            yield MissingSupport(("arms", number, "references"), "references are not sent by this version")
