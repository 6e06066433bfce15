"""What a valid manifest may ask for and this version cannot do: told by lint, refused before anything is spent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tamesu.base.model.manifest import Eval
from tamesu.core.picture_request import picture_providers, returns_pictures
from tamesu.core.signatures import PICTURES
from tamesu.core.tasks import BUNDLE, IMAGES


@dataclass(frozen=True, slots=True)
class MissingSupport:
    """The field that asks for it, and what cannot be done. `blocks` says that no run may start without it."""

    path: tuple[str | int, ...]
    message: str
    blocks: bool = True


def missing_support(evaluation: Eval) -> tuple[MissingSupport, ...]:
    """Return everything that the eval asks for and this version does not do."""
    sent = _given_to_code if evaluation.execution.task is not None else _unsendable
    return (*_outputs(evaluation), *sent(evaluation))


def _outputs(evaluation: Eval) -> Iterator[MissingSupport]:
    if evaluation.task == BUNDLE and evaluation.output_schema is not None:
        yield MissingSupport(("output_schema",), "output_schema is not acted upon by task 'artifact_bundle'")
    if evaluation.task == IMAGES and evaluation.execution.task is None:
        for number, entry in enumerate(evaluation.models):
            if not returns_pictures(entry.provider):
                message = f"no pictures come back over the route of '{entry.provider}', but of {picture_providers()}"
                yield MissingSupport(("runs", number, "provider"), message)


def _given_to_code(evaluation: Eval) -> Iterator[MissingSupport]:
    for number, arm in enumerate(evaluation.arms):
        if arm.references:
            message = "references are not sent where a task file asks the model"
            yield MissingSupport(("arms", number, "references"), message)


def _unsendable(evaluation: Eval) -> Iterator[MissingSupport]:
    """Yield what no model could be shown: assets and references that are no pictures."""
    sent = f"backend '{evaluation.execution.backend}' sends pictures alone, as {PICTURES}"
    files = (asset for item in evaluation.dataset.items for asset in item.assets)
    for path in dict.fromkeys(file.path for file in files if file.path not in evaluation.pictures):
        yield MissingSupport(("dataset",), f"asset '{path}' cannot be sent: {sent}")
    for number, arm in enumerate(evaluation.arms):
        for place, reference in enumerate(arm.references):
            if reference.file.path not in evaluation.pictures:
                message = f"reference '{reference.file.path}' cannot be sent: {sent}"
                yield MissingSupport(("arms", number, "references", place), message)
