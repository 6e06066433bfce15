"""Token counts in one normal form: input without cache, cache read, cache write, output with reasoning.

Each provider counts in its own way, and Inspect brings most of them into one form; what it leaves out is put right
here. Counts that cannot be (negative, no whole number, a part larger than its whole) raise ImpossibleUsage, since a
cost computed from them would be a wrong number.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tamesu.base.errors import ImpossibleUsage
from tamesu.base.model.evidence import Usage


def from_inspect(provider: str, stated: Usage) -> Usage:
    """Return the normal form of what Inspect recorded for a model of that provider.

    Inspect subtracts the cache from the input for every provider and adds thoughts to Google's output. It does
    not add reasoning to the output of grok, nor tokens of tool results to the input of Google and Mistral; both
    show in the total.
    """
    if provider == "grok":
        return _with_reasoning_added(stated)
    if provider in {"google", "mistral"}:
        beyond = stated.total - _parts(stated)
        if stated.total and provider == "google" and beyond < 0:
            raise ImpossibleUsage(_line(stated, "its total is less than its parts"))
        return _checked(replace(stated, input=stated.input + max(beyond, 0)))
    return _with_reasoning_in_output(stated)


def total_usage(stated: Iterable[Usage]) -> Usage:
    """Return the sum over several models or calls."""
    parts = list(stated)
    return Usage(
        input=sum(usage.input for usage in parts),
        output=sum(usage.output for usage in parts),
        cache_read=sum(usage.cache_read for usage in parts),
        cache_write=sum(usage.cache_write for usage in parts),
        reasoning=sum(usage.reasoning for usage in parts),
        total=sum(usage.total for usage in parts),
    )


def _with_reasoning_in_output(usage: Usage) -> Usage:
    """Add reasoning where the counts themselves say that the output was without it."""
    apart = usage.reasoning > usage.output or usage.total == _parts(usage) + usage.reasoning
    return _checked(replace(usage, output=usage.output + usage.reasoning) if apart else usage)


def _with_reasoning_added(usage: Usage) -> Usage:
    """Add reasoning unless the total says that the output was with it."""
    within = usage.total == _parts(usage) and usage.reasoning <= usage.output
    return _checked(usage if within else replace(usage, output=usage.output + usage.reasoning))


def _parts(usage: Usage) -> int:
    return usage.input + usage.cache_read + usage.cache_write + usage.output


def _checked(usage: Usage) -> Usage:
    counts = (usage.input, usage.output, usage.cache_read, usage.cache_write, usage.reasoning, usage.total)
    if any(isinstance(count, bool) or not isinstance(count, int) or count < 0 for count in counts):
        raise ImpossibleUsage(_line(usage, "a count is negative or no whole number"))
    if usage.reasoning > usage.output:
        raise ImpossibleUsage(_line(usage, "reasoning exceeds the output it is part of"))
    return usage


def _line(usage: Usage, why: str) -> str:
    counts = (
        f"input {usage.input}, cache read {usage.cache_read}, cache write {usage.cache_write}, "
        f"output {usage.output}, reasoning {usage.reasoning}, total {usage.total}"
    )
    return f"usage: {counts}: {why}; the cost is unknown, report it to the provider"
