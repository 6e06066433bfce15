"""The probe: one tiny request with the declared fields, before anything of the dataset is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from tamesu.base.canonical import Json
from tamesu.base.model.plan import RunSpec
from tamesu.core.pricing import largest_call_usd
from tamesu.core.routes import Protocol, protocol_of

PROBE_PROMPT = "Reply with one random word."
_FEWEST_TOKENS = 16  # the least that OpenAI's Responses take
_CUT_SHORT = re.compile(r"(max_tokens|output limit).{0,40}reached", re.IGNORECASE)


def probe_spec(spec: RunSpec, timeout_seconds: int) -> RunSpec:
    """Return a run whose calls carry the declared fields, ask for a few tokens and are not repeated."""
    return replace(spec, parameters=_parameters(spec), retries=0, timeout_seconds=timeout_seconds, concurrency=1)


def _parameters(spec: RunSpec) -> Mapping[str, Json]:
    thinks = protocol_of(spec.provider) is Protocol.MESSAGES and "reasoning_effort" in spec.parameters
    declared = spec.parameters.get("max_tokens")
    if thinks and declared is not None:
        return spec.parameters  # thinking must fit below the bound
    budget = spec.parameters.get("reasoning_tokens")
    tokens = _FEWEST_TOKENS + (budget if isinstance(budget, int) else 0)
    if isinstance(declared, int):
        tokens = min(tokens, declared)
    return {**spec.parameters, "max_tokens": tokens}


def probe_exposure_usd(spec: RunSpec) -> float:
    """Return the most that one probe may cost, in US dollars; 0 where the price is not known, which lint refuses."""
    bound = largest_call_usd(spec.price, spec.limits, probe_spec(spec, 1).parameters, len(PROBE_PROMPT))
    return bound or 0.0


def was_cut_short(error: str | None) -> bool:
    """Return whether an error only says that so few tokens were not enough, so that the endpoint works."""
    return error is not None and _CUT_SHORT.search(error) is not None
