"""What a call of a judge cost, and what it may have cost beyond that."""

from __future__ import annotations

from dataclasses import dataclass

from tamesu.base.errors import ImpossibleUsage
from tamesu.base.model.evidence import Usage
from tamesu.base.model.plan import Price
from tamesu.core.pricing import usage_cost


@dataclass(frozen=True, slots=True)
class CallCost:
    """US dollars: `known` from usage, None when it is not known; `lost` an upper bound for what nothing tells."""

    known: float | None
    lost: float


def call_cost(price: Price | None, usage: Usage | None, unaccounted: int, bound_usd: float) -> CallCost:
    """Return the cost of a call whose tries include so many that nothing accounts for.

    A reply that states no usage is one of those, and costs at most `bound_usd`, as any try does.
    """
    if price is not None and price.free:
        return CallCost(0.0, 0.0)
    lost = round(unaccounted * bound_usd, 9)
    if price is None:
        return CallCost(None, lost)
    if usage is None:
        return CallCost(None if unaccounted else 0.0, lost)
    try:
        return CallCost(usage_cost(usage, price), lost)
    except ImpossibleUsage:
        return CallCost(None, round(lost + bound_usd, 9))
