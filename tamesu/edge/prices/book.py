"""Looked-up prices, remembered for a day, so that reading a project does not load the library each time."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from importlib.metadata import version
from pathlib import Path

import msgspec

from tamesu import __version__
from tamesu.base.errors import StorageFull
from tamesu.base.model.facts import ModelFacts
from tamesu.base.model.plan import Price, PriceTier
from tamesu.edge.prices.routes import library_id
from tamesu.edge.store.files import write_atomic

FREE_REPLAY = Price(0.0, 0.0, free=True, source="replay")


@dataclass(frozen=True, slots=True)
class Quote:
    """What the library says about a name: its price, or the nearest names that have one."""

    price: Price | None
    similar: tuple[str, ...] = ()


class _Kept(msgspec.Struct):
    versions: str
    day: date
    quotes: dict[str, Quote]


def library_source() -> str:
    """Return how the library's prices are cited, without loading it."""
    return f"genai-prices {version('genai-prices')}"


def today() -> date:
    """Return the day for which prices are looked up (UTC)."""
    return datetime.now(UTC).date()


class PriceBook:
    """Prices of the library on one day; `save` keeps what was looked up. A broken or old memory is ignored."""

    def __init__(self, memory: Path | None, day: date) -> None:
        self._memory = memory
        self._day = day
        self._versions = f"{library_source()}, tamesu {__version__}"
        self._quotes = self._load()
        self._changed = False

    def quote(self, provider: str, model: str) -> Quote:
        """Return what the library says about a model of a route."""
        listed = library_id(provider)
        if listed is None:
            return Quote(None)
        key = f"{listed}/{model}"
        if key not in self._quotes:
            self._quotes[key] = self._look_up(listed, model)
            self._changed = True
        return self._quotes[key]

    def save(self) -> None:
        """Keep what was looked up; a memory that cannot be written is no failure."""
        if not self._changed or self._memory is None:
            return
        try:
            write_atomic(self._memory, msgspec.json.encode(_Kept(self._versions, self._day, self._quotes)))
        except (OSError, StorageFull):
            return
        self._changed = False

    def _look_up(self, listed: str, model: str) -> Quote:
        from tamesu.edge.prices import library  # loading it costs 0.2 s

        found = library.find_model(listed, model, self._day, library_source())
        if found is not None and found.price is not None:
            return Quote(found.price)
        return Quote(None, library.similar_models(listed, model, self._day))

    def _load(self) -> dict[str, Quote]:
        if self._memory is None:
            return {}
        try:
            kept = msgspec.json.decode(self._memory.read_bytes(), type=_Kept)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return {}
        fresh = kept.versions == self._versions and kept.day == self._day
        return kept.quotes if fresh and all(_is_sound(quote.price) for quote in kept.quotes.values()) else {}


def _is_sound(price: Price | None) -> bool:
    """What the library can have said: finite rates, never free, never rented."""
    if price is None:
        return True
    parts: tuple[Price | PriceTier, ...] = (price, *price.tiers)
    rates = [rate for part in parts for rate in (part.input, part.output, part.cache_read, part.cache_write)]
    return not price.free and price.usd_per_hour is None and all(math.isfinite(r) and r >= 0 for r in rates)


def priced(facts: ModelFacts, provider: str, model: str, book: PriceBook) -> ModelFacts:
    """Return the facts with the price that counts: the project's own, then replay's, then the library's."""
    if facts.price is not None:
        return facts
    if provider == "replay":
        return replace(facts, price=FREE_REPLAY)
    quote = book.quote(provider, model)
    return replace(facts, price=quote.price, similar=quote.similar)
