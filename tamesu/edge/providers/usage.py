"""Tokens as Inspect's provider layer states them, in the normal form."""

from __future__ import annotations

from inspect_ai.model import ModelUsage

from tamesu.base.model.evidence import Usage
from tamesu.core.usage import from_inspect


def model_usage(model: str, usage: ModelUsage) -> Usage:
    """Return what Inspect recorded for one model, `<provider>/<model>`, in the normal form.

    Raises ImpossibleUsage.
    """
    stated = Usage(
        input=usage.input_tokens,
        output=usage.output_tokens,
        cache_read=usage.input_tokens_cache_read or 0,
        cache_write=usage.input_tokens_cache_write or 0,
        reasoning=usage.reasoning_tokens or 0,
        total=usage.total_tokens,
    )
    return from_inspect(model.partition("/")[0], stated)
