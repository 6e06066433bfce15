"""What Inspect finds through its entry-point group: our model providers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspect_ai.model import modelapi

if TYPE_CHECKING:
    from tamesu.edge.providers.replay import ReplayAPI


@modelapi(name="replay")
def replay() -> type[ReplayAPI]:
    """Recorded answers read from a file: no network, no cost, always labelled as recorded."""
    from tamesu.edge.providers.replay import ReplayAPI

    return ReplayAPI
