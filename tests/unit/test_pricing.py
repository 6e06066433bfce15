"""Prices: figures computed by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamesu.base.model.evidence import Usage
from tamesu.base.model.manifest import Limits
from tamesu.base.model.plan import Message, Price, Sample
from tamesu.core.pricing import largest_call_usd, largest_prompt_bytes, usage_cost

PRICE = Price(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)
LIMITS = Limits(cost_limit=0.25, time_limit=60)


def sample(*texts: str) -> Sample:
    return Sample("x", tuple(Message("user", text) for text in texts), "", {}, (), "")


@pytest.mark.parametrize(
    ("usage", "usd"),
    [
        (Usage(), 0.0),
        (Usage(input=1_000_000), 3.0),
        (Usage(output=1_000_000), 15.0),
        (Usage(cache_read=1_000_000), 0.3),
        (Usage(cache_write=1_000_000), 3.75),
        # 1200 x 3 + 800 x 15 + 5000 x 0.3 + 400 x 3.75 = 3600 + 12000 + 1500 + 1500
        (Usage(input=1200, output=800, cache_read=5000, cache_write=400, reasoning=600, total=7400), 0.0186),
        (Usage(input=1), 0.000003),
        (Usage(reasoning=1_000_000, total=1_000_000), 0.0),  # reasoning is part of output already
    ],
)
def test_what_tokens_cost(usage: Usage, usd: float) -> None:
    assert usage_cost(usage, PRICE) == usd


@given(
    st.builds(Usage, *[st.integers(0, 10**7)] * 4),
    st.builds(Price, *[st.floats(0, 1000).map(lambda value: round(value, 4))] * 4),
)
def test_a_cost_is_finite_not_negative_and_the_exact_sum(usage: Usage, price: Price) -> None:
    cost = usage_cost(usage, price)
    parts = [
        usage.input * price.input,
        usage.output * price.output,
        usage.cache_read * price.cache_read,
        usage.cache_write * price.cache_write,
    ]
    assert cost >= 0
    assert cost == pytest.approx(math.fsum(parts) / 1e6, abs=1e-8, rel=1e-12)


def test_the_largest_prompt_in_bytes() -> None:
    assert largest_prompt_bytes([]) == 0
    assert largest_prompt_bytes([sample("abc", "de"), sample("é€")]) == 5
    assert largest_prompt_bytes([sample("abc"), sample("é€\U0001f600")]) == 9


@pytest.mark.parametrize(
    ("price", "limits", "parameters", "usd"),
    [
        (None, LIMITS, {"max_tokens": 10}, 0.25),  # nobody knows: what the limit buys
        (Price(0.0, 0.0, free=True), LIMITS, {}, 0.0),
        # 2000 bytes x 3.75 (the dearest input) + 1000 x 15 = 7500 + 15000
        (PRICE, LIMITS, {"max_tokens": 1000}, 0.0225),
        # 2000 x 5 + 1000 x 15
        (Price(5.0, 15.0), LIMITS, {"max_tokens": 1000}, 0.025),
        # 2000 x 3.75 + 4000 x 15
        (PRICE, Limits(0.25, 60, token_limit=4000), {}, 0.0675),
        (PRICE, Limits(0.25, 60, token_limit=4000), {"max_tokens": 100}, 0.009),
        (PRICE, LIMITS, {}, 0.25),
        (PRICE, LIMITS, {"max_tokens": None}, 0.25),
        (PRICE, LIMITS, {"max_tokens": True}, 0.25),
        (PRICE, LIMITS, {"max_tokens": "many"}, 0.25),
    ],
)
def test_the_largest_call(price: Price | None, limits: Limits, parameters: dict[str, object], usd: float) -> None:
    assert largest_call_usd(price, limits, parameters, 2000) == usd  # type: ignore[arg-type]


@given(st.integers(0, 10**5), st.integers(1, 10**5))
def test_a_call_never_costs_more_than_its_bound(prompt_tokens: int, output: int) -> None:
    """A token is at least one byte of the prompt, whichever way the input is priced."""
    bound = largest_call_usd(PRICE, LIMITS, {"max_tokens": output}, prompt_tokens)
    for usage in (Usage(input=prompt_tokens, output=output), Usage(cache_write=prompt_tokens, output=output)):
        assert usage_cost(usage, PRICE) <= bound + 1e-12
