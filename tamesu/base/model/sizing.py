"""What a plan will tell and cost, judged from its size and from earlier runs. Money in US dollars, times in seconds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """What the earlier runs of one model say about one item, pooled; None where they say nothing.

    `seconds` is the working time of an item alone, `concurrency` the mean number of items in flight. `lowest_usd`
    and `highest_usd` are the cheapest and the dearest run's mean.
    """

    pilots: int
    items: int
    usd: float | None
    lowest_usd: float | None
    highest_usd: float | None
    seconds: float | None
    concurrency: float | None


@dataclass(frozen=True, slots=True)
class Forecast:
    """What the items that one model still owes will probably cost and take; None where no earlier run says it.

    `seconds` is at the concurrency measured in earlier runs, `single_stream_seconds` one item after the other.
    `usd_per_hour` is the rent of an endpoint that is paid by time.
    """

    provider: str
    model: str
    pending: int
    exposure_usd: float
    concurrency: int
    pace: Pace | None
    usd: float | None
    seconds: float | None
    single_stream_seconds: float | None
    usd_per_hour: float | None = None


@dataclass(frozen=True, slots=True)
class Precision:
    """How precisely the plan can tell the primary metric of one model x arm.

    `half_width` is half of the 95 % interval that `items` give, None when the metric has no bounds and nothing was
    measured; `basis` says what it was computed from.
    """

    metric: str
    items: int
    repetitions: int
    available: int
    half_width: float | None
    basis: str


@dataclass(frozen=True, slots=True)
class Sizing:
    """Precision, forecasts by model, and what to change first, in plain sentences."""

    precision: Precision
    forecasts: tuple[Forecast, ...]
    advice: tuple[str, ...]
