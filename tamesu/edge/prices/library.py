"""Prices of genai-prices, as of its installed version; its data is code, so nothing is ever fetched.

A model has one price or several under conditions: from a date on, or at times of the day. Rates may rise with the
input of a request (`TieredPrices`; above a start the tier's rate holds for all tokens of the request). Variants
for a service tier or batches never apply here.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache

from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import (
    ConditionalPrice,
    ModelInfo,
    ModelPrice,
    Provider,
    StartDateConstraint,
    TieredPrices,
    TimeOfDateConstraint,
)

from tamesu.base.model.plan import Price, PriceTier

_Rate = Decimal | TieredPrices | None


@dataclass(frozen=True, slots=True)
class LibraryModel:
    """One model as the library lists it; `context_window` in tokens, None when it does not say."""

    model: str
    price: Price | None
    context_window: int | None
    deprecated: bool


@cache
def _providers() -> dict[str, Provider]:
    return {provider.id: provider for provider in get_snapshot().providers}


def provider_ids() -> tuple[str, ...]:
    """Return the providers that the library has."""
    return tuple(sorted(_providers()))


def provider_models(provider: str, on: date, source: str) -> tuple[LibraryModel, ...]:
    """Return all models of a provider with their prices on a day, sorted by name."""
    found = _providers().get(provider)
    models = () if found is None else found.models
    return tuple(sorted((_listed(info, on, source) for info in models), key=lambda model: model.model))


def find_model(provider: str, model: str, on: date, source: str) -> LibraryModel | None:
    """Return the model that a name means to the library, if any: by its own rules, which know dated names."""
    found = _providers().get(provider)
    info = None if found is None else found.find_model(model, all_providers=list(_providers().values()))
    return None if info is None else _listed(info, on, source)


def similar_models(provider: str, model: str, on: date) -> tuple[str, ...]:
    """Return up to three nearest names of the provider that have a price."""
    known = [listed.model for listed in provider_models(provider, on, "") if listed.price is not None]
    return tuple(difflib.get_close_matches(model, known, n=3, cutoff=0.5))


def _listed(info: ModelInfo, on: date, source: str) -> LibraryModel:
    return LibraryModel(info.id, _price(info, on, source), info.context_window, bool(info.deprecated))


def _price(info: ModelInfo, on: date, source: str) -> Price | None:
    """The dearest of what applies on that day; a request's hour is not known when it is planned."""
    priced = [_tiers(prices) for prices in applicable_prices(info.prices, on)]
    known = [tiers for tiers in priced if tiers is not None]
    if not known or len(known) < len(priced):
        return None
    starts = sorted({tier.above_input_tokens for tiers in known for tier in tiers})
    base, *tiers = (_dearest(start, [_at(tiers, start) for tiers in known]) for start in starts)
    return Price(base.input, base.output, base.cache_read, base.cache_write, tiers=tuple(tiers), source=source)


def applicable_prices(prices: ModelPrice | Sequence[ConditionalPrice], on: date) -> tuple[ModelPrice, ...]:
    """Return every price that applies at some time of that day (UTC); the library lets the last one win."""
    if isinstance(prices, ModelPrice):
        return (prices,)
    found: list[ModelPrice] = []
    for conditional in reversed(prices):
        constraint = conditional.constraint
        if isinstance(constraint, TimeOfDateConstraint):
            found.append(conditional.prices)
        elif not isinstance(constraint, StartDateConstraint) or constraint.start_date <= on:
            return (*found, conditional.prices)
    return (*found, *(conditional.prices for conditional in prices[:1]))


def _tiers(prices: ModelPrice) -> tuple[PriceTier, ...] | None:
    """The rates of one price, base first; None when tokens alone do not tell the cost, or a rate is no number."""
    stated: tuple[_Rate, ...] = (prices.input_mtok, prices.output_mtok, prices.cache_read_mtok, prices.cache_write_mtok)
    if stated[0] is None or stated[1] is None or prices.requests_kcount is not None:
        return None
    received: tuple[_Rate, ...] = (stated[1], prices.output_reasoning_mtok, prices.output_image_mtok)
    sent: tuple[_Rate, ...] = (stated[0], prices.input_image_mtok)
    rates = (*sent, *received, *stated[2:])
    starts = {tier.start for rate in rates if isinstance(rate, TieredPrices) for tier in rate.tiers}
    tiers = tuple(_tier(start, sent, received, stated[2:]) for start in sorted({0, *starts}))
    return tiers if all(_is_sound(tier) for tier in tiers) else None


def _tier(start: int, sent: tuple[_Rate, ...], received: tuple[_Rate, ...], cached: tuple[_Rate, ...]) -> PriceTier:
    """A missing cache rate is the input's; reasoning and pictures are counted with text, at the dearest rate."""
    dearest_sent, dearest_received = (_dearest_rate(rates, start) for rates in (sent, received))
    read, write = (dearest_sent if rate is None else _rate(rate, start) or 0.0 for rate in cached)
    return PriceTier(start, dearest_sent, dearest_received, read, write)


def _dearest_rate(rates: Iterable[_Rate], start: int) -> float:
    """Return the highest of the rates that are stated; no number where any of them is none or negative."""
    stated = [found for rate in rates if (found := _rate(rate, start)) is not None]
    return max(stated, default=0.0) if all(math.isfinite(rate) and rate >= 0 for rate in stated) else math.nan


def _rate(rate: _Rate, start: int) -> float | None:
    """The rate of a request just above that many input tokens."""
    if not isinstance(rate, TieredPrices):
        return None if rate is None else float(rate)
    reached = [tier.price for tier in rate.tiers if start > 0 and tier.start <= start]
    return float(reached[-1] if reached else rate.base)


def _is_sound(tier: PriceTier) -> bool:
    rates = (tier.input, tier.output, tier.cache_read, tier.cache_write)
    return all(math.isfinite(rate) and rate >= 0 for rate in rates)


def _at(tiers: Sequence[PriceTier], start: int) -> PriceTier:
    return [tier for tier in tiers if tier.above_input_tokens <= start][-1]


def _dearest(start: int, tiers: Iterable[PriceTier]) -> PriceTier:
    alternatives = list(tiers)
    return PriceTier(
        above_input_tokens=start,
        input=max(tier.input for tier in alternatives),
        output=max(tier.output for tier in alternatives),
        cache_read=max(tier.cache_read for tier in alternatives),
        cache_write=max(tier.cache_write for tier in alternatives),
    )
