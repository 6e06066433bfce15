"""Prices: what a sample cost, and the most that a call may cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tamesu.base.canonical import Json
from tamesu.base.model.evidence import Usage
from tamesu.base.model.manifest import Limits
from tamesu.base.model.plan import Price, Sample

_MILLION = 1_000_000


def usage_cost(usage: Usage, price: Price) -> float:
    """Return US dollars for the tokens: input without cache, cache reads and writes, output with reasoning."""
    cost = (
        usage.input * price.input
        + usage.output * price.output
        + usage.cache_read * price.cache_read
        + usage.cache_write * price.cache_write
    ) / _MILLION
    return round(cost, 9)


def largest_prompt_bytes(samples: Iterable[Sample]) -> int:
    """Return the size of the largest rendered prompt in UTF-8 bytes (a token is at least one byte)."""
    sizes = (sum(len(message.content.encode()) for message in sample.messages) for sample in samples)
    return max(sizes, default=0)


def largest_call_usd(price: Price | None, limits: Limits, parameters: Mapping[str, Json], prompt_bytes: int) -> float:
    """Return an upper bound in US dollars for one call of a sample, the one that may overshoot the limit.

    Output is bounded by `max_tokens`, else by `token_limit`; with neither, by what `cost_limit` buys.
    """
    unbounded = limits.cost_limit or 0.0
    if price is None:
        return unbounded
    if price.free:
        return 0.0
    bound = parameters.get("max_tokens", limits.token_limit)
    if not isinstance(bound, int) or isinstance(bound, bool):
        return unbounded
    dearest_input = max(price.input, price.cache_write)
    return round((prompt_bytes * dearest_input + bound * price.output) / _MILLION, 9)
