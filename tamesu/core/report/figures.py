"""How figures are written, the same in every view."""

from __future__ import annotations

from tamesu.core.agreement import Agreement
from tamesu.core.metrics.definition import MetricValue, Unit
from tamesu.core.pairs import PairedDifference
from tamesu.core.stats import Interval

NOT_KNOWN = "not known"


def figure(value: float, unit: Unit) -> str:
    """Return a number in its unit's form: three decimals for scores, none for milliseconds."""
    if unit == "usd":
        return usd(value)
    text = f"{value:.0f}" if unit == "ms" else f"{value:.1f}" if unit == "tokens" else f"{value:.3f}"
    return text.removeprefix("-") if not text.strip("-0.") else text


def usd(value: float) -> str:
    """Return US dollars with four decimals, or three significant digits below a tenth of a cent."""
    return f"{value:.3g}" if 0 < abs(value) < 0.001 else f"{value:.4f}"


def spread(interval: Interval, unit: Unit) -> str:
    """Return `[0.701, 0.893]`."""
    return f"[{figure(interval.low, unit)}, {figure(interval.high, unit)}]"


def with_interval(value: float, interval: Interval | None, unit: Unit) -> str:
    """Return `0.812 [0.701, 0.893]`, or the bare figure where there is no interval."""
    text = figure(value, unit)
    return f"{text} {spread(interval, unit)}" if interval else text


def metric_text(value: MetricValue) -> str:
    """Return a metric with interval and n, or why it is not known."""
    if value.value is None:
        return f"{NOT_KNOWN}: {value.lacking}"
    mark = f"; {value.lacking}" if value.provisional else ""
    return f"{with_interval(value.value, value.interval, value.unit)} (n={value.n}{mark})"


def difference_text(difference: PairedDifference, unit: Unit) -> str:
    """Return a paired difference, signed, with its interval."""
    if difference.value is None:
        return NOT_KNOWN
    text = with_interval(difference.value, difference.interval, unit)
    return f"+{text}" if figure(difference.value, unit).strip("-0.") and difference.value > 0 else text


def p_text(value: float) -> str:
    """Return a p-value with three decimals, `<0.001` below that."""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def count(number: int, singular: str, plural: str | None = None) -> str:
    """Return `1 run` or `3 runs`."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def agreement_text(found: Agreement) -> str:
    """Return agreement in words: how many of how many, Cohen's kappa with its interval, or why there is none."""
    if found.raw is None:
        return "no item with both"
    text = f"{found.agreeing} of {found.n} ({found.raw:.0%})"
    if found.kappa is None:
        return f"{text}; kappa not known: {found.reason}"
    interval = f" {spread(found.interval, 'score')}" if found.interval else f" ({found.reason})"
    return f"{text}; kappa {found.kappa:.2f}{interval}"
