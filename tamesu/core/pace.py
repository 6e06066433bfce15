"""Pace: what earlier runs say about the price and the time of one item, and what that makes of the items owed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import fsum

from tamesu.base.model.evidence import RunRecord
from tamesu.base.model.plan import Price, RunSpec, Slot
from tamesu.base.model.sizing import Forecast, Pace

_HOUR_SECONDS = 3600
KNOWN_SPREAD = 3  # runs from which a lowest and a highest say something


def forecasts(slots: Sequence[Slot], records: Sequence[RunRecord]) -> tuple[Forecast, ...]:
    """Return a forecast for each model of the plan, in plan order."""
    models = dict.fromkeys((slot.spec.provider, slot.spec.model) for slot in slots)
    return tuple(
        _forecast(
            [slot for slot in slots if (slot.spec.provider, slot.spec.model) == model],
            [record for record in records if (record.provider, record.model) == model],
        )
        for model in models
    )


def measure_pace(records: Sequence[RunRecord], price: Price | None) -> Pace | None:
    """Return what the runs of one model say per item; None without a run that completed an item.

    A run in which every item failed tells how an endpoint refuses, not what an answer takes. What a run cost counts
    only while it was paid at the price of now.
    """
    asked = [record for record in records if record.items and record.complete]
    if not asked:
        return None
    items = sum(len(record.items) for record in asked)
    priced = [record for record in asked if _same_price(record, price)]
    means = [record.spent_usd / len(record.items) for record in priced]
    timed = [record for record in asked if record.execution.busy_seconds is not None]
    busy = fsum(record.execution.busy_seconds or 0.0 for record in timed)
    return Pace(
        pilots=len(asked),
        items=items,
        usd=fsum(record.spent_usd for record in priced) / sum(len(record.items) for record in priced)
        if priced
        else None,
        lowest_usd=min(means, default=None),
        highest_usd=max(means, default=None),
        seconds=busy / sum(len(record.items) for record in timed) if timed else None,
        concurrency=_concurrency(timed),
    )


def _same_price(record: RunRecord, price: Price | None) -> bool:
    then = record.execution.price
    return then is not None and price is not None and replace(then, source="") == replace(price, source="")


def _concurrency(records: Iterable[RunRecord]) -> float | None:
    """Busy time over wall time, from the runs that know both; never below one item after the other."""
    timed = [record.execution for record in records if record.execution.wall_seconds]
    wall = fsum(execution.wall_seconds or 0.0 for execution in timed)
    return max(1.0, fsum(execution.busy_seconds or 0.0 for execution in timed) / wall) if timed else None


def _forecast(slots: Sequence[Slot], records: Sequence[RunRecord]) -> Forecast:
    spec = slots[0].spec
    pace = measure_pace(records, spec.price)
    pending = sum(len(slot.pending) for slot in slots)
    single = None if pace is None or pace.seconds is None else pending * pace.seconds
    measured = None if single is None or pace is None or pace.concurrency is None else single / pace.concurrency
    rent = None if spec.price is None else spec.price.usd_per_hour
    return Forecast(
        provider=spec.provider,
        model=spec.model,
        pending=pending,
        exposure_usd=sum(slot.exposure_usd for slot in slots) if spec.bounded else None,
        concurrency=spec.concurrency,
        pace=pace,
        usd=_expected_usd(spec, pending, pace, measured),
        seconds=measured,
        single_stream_seconds=single,
        usd_per_hour=rent,
    )


def _expected_usd(spec: RunSpec, pending: int, pace: Pace | None, seconds: float | None) -> float | None:
    """By the clock where the endpoint is rented, else by what an item cost on average."""
    if not spec.paid:
        return 0.0
    if spec.price is not None and spec.price.usd_per_hour is not None:
        return None if seconds is None else spec.price.usd_per_hour * seconds / _HOUR_SECONDS
    return None if pace is None or pace.usd is None else pending * pace.usd
