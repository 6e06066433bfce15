"""Prices: what a sample cost, and the most that a call may cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from tamesu.base.canonical import Json
from tamesu.base.errors import ImpossibleUsage
from tamesu.base.model.evidence import ModelShare, SampleEvidence, Usage
from tamesu.base.model.manifest import Limits
from tamesu.base.model.plan import Price, PriceTier, RunSpec, Sample

_MILLION = 1_000_000
_HOUR_SECONDS = 3600
_HOUR_MS = 3_600_000
_DAY_SECONDS = 86_400  # what a sample without any limit in time is taken for
# Inspect gives scoring half of time_limit again, and the endpoint is rented meanwhile.
_WITH_SCORING = 1.5


def rates_up_to(price: Price, input_tokens: int | None) -> PriceTier:
    """Return the dearest of each rate that a request of at most so many input tokens may pay; None: of any size."""
    tiers = [tier for tier in price.tiers if input_tokens is None or tier.above_input_tokens < input_tokens]
    base = PriceTier(0, price.input, price.output, price.cache_read, price.cache_write)
    reached = [base, *tiers]
    return PriceTier(
        above_input_tokens=max(tier.above_input_tokens for tier in reached),
        input=max(tier.input for tier in reached),
        output=max(tier.output for tier in reached),
        cache_read=max(tier.cache_read for tier in reached),
        cache_write=max(tier.cache_write for tier in reached),
    )


def usage_cost(usage: Usage, price: Price) -> float:
    """Return US dollars for the tokens: input without cache, cache reads and writes, output with reasoning.

    Exact while the whole input of all calls together is at or below the first tier, since then every call was.
    Above it the rates of the tier are taken for everything: an upper bound, as single calls may have been smaller.
    Raises ImpossibleUsage for a cost that is negative or no number.
    """
    rates = rates_up_to(price, usage.input + usage.cache_read + usage.cache_write)
    cost = (
        usage.input * rates.input
        + usage.output * rates.output
        + usage.cache_read * rates.cache_read
        + usage.cache_write * rates.cache_write
    ) / _MILLION
    smallest = min(usage.input, usage.output, usage.cache_read, usage.cache_write)
    if not math.isfinite(cost) or cost < 0 or smallest < 0:
        raise ImpossibleUsage(f"usage: {usage} would cost {cost} USD; correct the price, or report the provider")
    return round(cost, 9)


def rent(usd_per_hour: float, latency_ms: int, at_once: float) -> float:
    """Return a sample's share of an endpoint's rent in US dollars: its time x rate / samples served at once.

    With the average of the run as `at_once` the shares add up to the rent of the time in which samples ran.
    """
    return round(usd_per_hour * max(1, latency_ms) / _HOUR_MS / at_once, 9)


def samples_at_once(spans: Iterable[tuple[float, float]], worked_ms: int) -> float | None:
    """Return how many samples were served at once on average; None when nothing was measured.

    That is their working time together, in milliseconds, over the time in which any of them ran; `spans` are
    begin and end of each in seconds.
    """
    busy, until = 0.0, -math.inf
    for start, end in sorted(spans):
        busy += max(0.0, end - max(start, until))
        until = max(until, end)
    return worked_ms / 1000 / busy if busy > 0 and worked_ms > 0 else None


def sample_cost(price: Price | None, sample: SampleEvidence, at_once: float) -> float | None:
    """Return what a sample cost in US dollars; None when tokens, time or price are unknown."""
    if price is None:
        return None
    if price.free:
        return 0.0
    if price.usd_per_hour is not None:
        return None if sample.latency_ms is None else rent(price.usd_per_hour, sample.latency_ms, at_once)
    return None if sample.usage is None else usage_cost(sample.usage, price)


def run_sample_cost(spec: RunSpec, sample: SampleEvidence, at_once: float) -> float | None:
    """Return what a sample cost in US dollars over all models of its run; None when any part of it is unknown.

    Tokens of a model that the plan does not name count at the price of the run's own.
    """
    if not spec.roles:
        return sample_cost(spec.price, sample, at_once)
    costs = _costs_by_model(spec, sample, at_once)
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs) or sample.usage_problem is not None or None in token_prices(spec).values():
        return None
    return round(math.fsum(known), 9)


def known_sample_cost(spec: RunSpec, sample: SampleEvidence, at_once: float) -> float:
    """Return what is known of a sample's cost in US dollars: a model that stated no usage hides no other one's.

    Nothing of a sample whose usage cannot be, as all of it is charged at its exposure.
    """
    if not spec.roles:
        return sample_cost(spec.price, sample, at_once) or 0.0
    if sample.usage_problem is not None:
        return 0.0
    return round(math.fsum(cost or 0.0 for cost in _costs_by_model(spec, sample, at_once)), 9)


def _costs_by_model(spec: RunSpec, sample: SampleEvidence, at_once: float) -> list[float | None]:
    prices = token_prices(spec)
    costs = [_share_cost(prices.get(model, spec.price), share) for model, share in sample.shares.items()]
    return [*costs, sample_cost(spec.price, sample, at_once)] if spec.rented else costs


def token_prices(spec: RunSpec) -> Mapping[str, Price | None]:
    """Return the price of each model that a run names, by what Inspect calls it."""
    return {**{role.model_uri: role.price for role in spec.roles}, spec.model_uri: spec.price}


def _share_cost(price: Price | None, share: ModelShare) -> float | None:
    if price is None:
        return None
    if price.free or price.usd_per_hour is not None:
        return 0.0
    return None if share.usage is None else usage_cost(share.usage, price)


def unstated_calls(spec: RunSpec, sample: SampleEvidence) -> int:
    """Return the replies without usage of those models of a run that are paid by the token."""
    if not spec.roles:
        return sample.calls_without_usage if spec.own_tokens_paid else 0
    unpaid = {role.model_uri for role in spec.roles if not role.priced_by_tokens}
    unpaid |= set() if spec.own_tokens_paid else {spec.model_uri}
    return sum(share.calls_without_usage for model, share in sample.shares.items() if model not in unpaid)


def largest_prompt_bytes(samples: Iterable[Sample]) -> int:
    """Return the size of the largest rendered prompt in UTF-8 bytes (a token is at least one byte)."""
    sizes = (sum(len(message.content.encode()) for message in sample.messages) for sample in samples)
    return max(sizes, default=0)


def largest_call_usd(
    price: Price | None, limits: Limits, parameters: Mapping[str, Json], prompt_bytes: int
) -> float | None:
    """Return an upper bound in US dollars for one call of a sample, the one that may overshoot the limit.

    None when nothing bounds it: no price, or no `max_tokens` (limits of a sample are looked at after a call, so they
    bound none). Input is the largest first prompt; a task of several turns may send more, see docs/prices.md. Rates
    are the dearest that a call may reach: without `token_limit` those of the highest tier. On a rented endpoint
    one call may last as long as its sample: `time_limit`, and half of it again for scoring.
    """
    if price is None:
        return None
    if price.free:
        return 0.0
    if price.usd_per_hour is not None:
        return round(price.usd_per_hour * (limits.time_limit or _DAY_SECONDS) * _WITH_SCORING / _HOUR_SECONDS, 9)
    bound = parameters.get("max_tokens")
    if not isinstance(bound, int) or isinstance(bound, bool):
        return None
    rates = rates_up_to(price, None if limits.token_limit is None else max(limits.token_limit, prompt_bytes))
    dearest_input = max(rates.input, rates.cache_write)
    return round((prompt_bytes * dearest_input + bound * rates.output) / _MILLION, 9)
