"""What a task adds to the parameters that a manifest states."""

from __future__ import annotations

from collections.abc import Mapping

from tamesu.base.canonical import Json
from tamesu.base.model.manifest import OutputSchema
from tamesu.core.picture_request import IMAGE
from tamesu.core.response_schema import with_schema
from tamesu.core.tasks import IMAGES, built_in_checks


def task_parameters(
    task: str, provider: str, parameters: Mapping[str, Json], schema: OutputSchema | None
) -> dict[str, Json]:
    """Return the parameters that are sent: the form of an answer and a wish for a picture among them where due."""
    sent = dict(parameters)
    if built_in_checks(task):
        sent = with_schema(provider, sent, "output", schema)
    return {IMAGE: {}, **sent} if task == IMAGES else sent
