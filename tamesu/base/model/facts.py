"""What is known about a model beside the evals that name it."""

from __future__ import annotations

from dataclasses import dataclass

from tamesu.base.model.plan import Price


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Price, capabilities and values of effort of one model; `effort_values` None says that nobody listed them.

    `similar` are the nearest names of its provider that do have a price, for a model that has none.
    """

    price: Price | None = None
    capabilities: tuple[str, ...] = ()
    effort_values: tuple[str, ...] | None = None
    similar: tuple[str, ...] = ()
