"""What a valid manifest may ask for and this version cannot do: told by lint, refused before anything is spent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tamesu.base.model.manifest import Eval


@dataclass(frozen=True, slots=True)
class MissingSupport:
    """The field that asks for it, and what cannot be done. `blocks` says that no run may start without it."""

    path: tuple[str | int, ...]
    message: str
    blocks: bool = True


def missing_support(evaluation: Eval) -> tuple[MissingSupport, ...]:
    """Return everything that the eval asks for and this version does not do."""
    return (*_backend(evaluation), *_inputs(evaluation))


def _backend(evaluation: Eval) -> Iterator[MissingSupport]:
    if evaluation.task != "artifact_bundle" and evaluation.execution.backend == "inspect":
        message = f"task '{evaluation.task}' is not available on backend 'inspect' in this version"
        yield MissingSupport(("task",), message)


def _inputs(evaluation: Eval) -> Iterator[MissingSupport]:
    if evaluation.execution.backend == "inspect" and evaluation.output_schema is not None:
        yield MissingSupport(("output_schema",), "output_schema is not acted upon on backend 'inspect'")
    if evaluation.execution.backend == "native" and any(item.assets for item in evaluation.dataset.items):
        yield MissingSupport(("dataset",), "assets of items are not sent by backend 'native' in this version")
    for number, arm in enumerate(evaluation.arms):
        if arm.references:
            yield MissingSupport(("arms", number, "references"), "references are not sent by this version")
