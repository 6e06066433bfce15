"""Prices: figures computed by hand."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamesu.base.errors import ImpossibleUsage
from tamesu.base.model.evidence import SampleEvidence, Usage
from tamesu.base.model.manifest import Limits
from tamesu.base.model.plan import Message, Price, PriceTier, RunSpec, Sample
from tamesu.core.attempts import close_attempt
from tamesu.core.pricing import (
    largest_call_usd,
    largest_prompt_bytes,
    rates_up_to,
    rent,
    sample_cost,
    samples_at_once,
    usage_cost,
)
from tamesu.core.verdict import item_verdict
from tests.factories import make_spec

PRICE = Price(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)
TIERED = Price(
    2.0, 10.0, 0.2, 2.5, tiers=(PriceTier(200_000, 4.0, 15.0, 0.4, 5.0), PriceTier(500_000, 8.0, 30.0, 0.8, 10.0))
)
RENTED = Price(0.0, 0.0, usd_per_hour=7.2)
FREE = Price(0.0, 0.0, free=True)
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
        (None, LIMITS, {"max_tokens": 10}, None),  # nobody knows
        (Price(0.0, 0.0, free=True), LIMITS, {}, 0.0),
        # 2000 bytes x 3.75 (the dearest input) + 1000 x 15 = 7500 + 15000
        (PRICE, LIMITS, {"max_tokens": 1000}, 0.0225),
        # 2000 x 5 + 1000 x 15
        (Price(5.0, 15.0), LIMITS, {"max_tokens": 1000}, 0.025),
        (PRICE, Limits(0.25, 60, token_limit=4000), {}, None),  # looked at after the call, so it bounds none
        (PRICE, Limits(0.25, 60, token_limit=4000), {"max_tokens": 100}, 0.009),
        (PRICE, LIMITS, {}, None),
        (PRICE, LIMITS, {"max_tokens": None}, None),
        (PRICE, LIMITS, {"max_tokens": True}, None),
        (PRICE, LIMITS, {"max_tokens": "many"}, None),
    ],
)
def test_the_largest_call(
    price: Price | None, limits: Limits, parameters: dict[str, object], usd: float | None
) -> None:
    assert largest_call_usd(price, limits, parameters, 2000) == usd  # type: ignore[arg-type]


@given(st.integers(0, 10**5), st.integers(1, 10**5))
def test_a_call_never_costs_more_than_its_bound(prompt_tokens: int, output: int) -> None:
    """A token is at least one byte of the prompt, whichever way the input is priced."""
    bound = largest_call_usd(PRICE, LIMITS, {"max_tokens": output}, prompt_tokens)
    assert bound is not None
    for usage in (Usage(input=prompt_tokens, output=output), Usage(cache_write=prompt_tokens, output=output)):
        assert usage_cost(usage, PRICE) <= bound + 1e-12


def evidence(usage: Usage | None = None, latency_ms: int | None = None, **fields: object) -> SampleEvidence:
    made = SampleEvidence("x", (), None, usage, "stop", True, None, latency_ms)
    return replace(made, **fields)  # type: ignore[arg-type]


# --- tiers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("usage", "usd"),
    [
        (Usage(input=200_000, output=1000), 0.41),  # at the threshold: 200000 x 2 + 1000 x 10
        (Usage(input=200_001, output=1000), 0.815004),  # above it all tokens pay more: 200001 x 4 + 1000 x 15
        (Usage(input=100, cache_read=199_900), 0.04018),  # 100 x 2 + 199900 x 0.2
        (Usage(input=100, cache_read=200_000), 0.0804),  # the cache counts as input: 100 x 4 + 200000 x 0.4
        (Usage(input=100, cache_write=200_000), 1.0004),
        (Usage(input=600_000), 4.8),
        (Usage(output=10**6), 10.0),  # output moves nothing into a tier
    ],
)
def test_a_tier_counts_from_the_whole_input(usage: Usage, usd: float) -> None:
    assert usage_cost(usage, TIERED) == usd


@pytest.mark.parametrize(
    ("most", "tier"),
    [
        (0, PriceTier(0, 2.0, 10.0, 0.2, 2.5)),
        (200_000, PriceTier(0, 2.0, 10.0, 0.2, 2.5)),
        (200_001, TIERED.tiers[0]),
        (500_001, TIERED.tiers[1]),
        (None, TIERED.tiers[1]),
    ],
)
def test_the_dearest_rates_within_reach(most: int | None, tier: PriceTier) -> None:
    assert rates_up_to(TIERED, most) == tier


def test_a_cheaper_tier_never_lowers_a_bound() -> None:
    price = Price(2.0, 10.0, 0.2, 2.5, tiers=(PriceTier(100, 1.0, 20.0, 0.1, 1.0),))
    assert rates_up_to(price, None) == PriceTier(100, 2.0, 20.0, 0.2, 2.5)


@pytest.mark.parametrize(
    ("limits", "prompt_bytes", "usd"),
    [
        (LIMITS, 2000, 0.05),  # nothing bounds the input: 2000 x 10 + 1000 x 30
        (Limits(0.25, 60, token_limit=200_000), 2000, 0.015),  # 2000 x 2.5 + 1000 x 10
        (Limits(0.25, 60, token_limit=200_001), 2000, 0.025),  # 2000 x 5 + 1000 x 15
        (Limits(0.25, 60, token_limit=1000), 300_000, 1.515),  # the prompt alone may exceed the limit
    ],
)
def test_the_largest_call_of_a_tiered_price(limits: Limits, prompt_bytes: int, usd: float) -> None:
    assert largest_call_usd(TIERED, limits, {"max_tokens": 1000}, prompt_bytes) == usd


# --- laws ------------------------------------------------------------------------------------------------------

RATE = st.floats(0, 1000).map(lambda value: round(value, 4))
TIER = st.builds(PriceTier, st.integers(1, 10**6), RATE, RATE, RATE, RATE)
TIERS = st.lists(TIER, max_size=3).map(lambda tiers: tuple(sorted(tiers, key=lambda tier: tier.above_input_tokens)))
PRICES = st.builds(Price, RATE, RATE, RATE, RATE, tiers=TIERS)
USAGES = st.builds(Usage, *[st.integers(0, 10**6)] * 4)


@given(USAGES, PRICES, st.sampled_from(["input", "output", "cache_read", "cache_write"]), st.integers(1, 10**6))
def test_more_tokens_of_any_kind_never_cost_less(usage: Usage, price: Price, kind: str, more: int) -> None:
    larger = replace(usage, **{kind: getattr(usage, kind) + more})
    assert usage_cost(larger, price) >= usage_cost(usage, price) >= 0


@given(st.lists(USAGES, min_size=1, max_size=4), PRICES)
def test_calls_priced_one_by_one_never_cost_more_than_their_sample(calls: list[Usage], price: Price) -> None:
    whole = Usage(*(sum(getattr(c, kind) for c in calls) for kind in ("input", "output", "cache_read", "cache_write")))
    assert math.fsum(usage_cost(call, price) for call in calls) <= usage_cost(whole, price) + 1e-8 * len(calls)


@given(st.none() | USAGES, st.none() | PRICES)
def test_a_cost_is_null_exactly_when_usage_or_price_is_unknown(usage: Usage | None, price: Price | None) -> None:
    cost = sample_cost(price, evidence(usage), 4)
    assert (cost is None) == (usage is None or price is None)
    assert cost is None or cost >= 0


def test_what_is_free_costs_nothing_without_usage() -> None:
    assert sample_cost(FREE, evidence(), 4) == 0.0


@pytest.mark.parametrize(
    ("usage", "price"),
    [
        (Usage(input=-1), PRICE),
        (Usage(input=1000, cache_read=-1), PRICE),  # would be hidden by what the rest costs
        (Usage(input=1), Price(math.nan, 1.0)),
        (Usage(input=1), Price(math.inf, 1.0)),
        (Usage(input=1), Price(-1.0, 1.0)),
    ],
)
def test_a_negative_or_undefined_cost_is_an_error(usage: Usage, price: Price) -> None:
    """C27."""
    with pytest.raises(ImpossibleUsage):
        usage_cost(usage, price)


# --- rented endpoints ------------------------------------------------------------------------------------------


def rented_spec(items: int, concurrency: int) -> RunSpec:
    largest = largest_call_usd(RENTED, Limits(0.25, 600), {}, 100)
    spec = make_spec([str(number) for number in range(items)])
    return replace(spec, price=RENTED, concurrency=concurrency, largest_call_usd=largest)


def test_a_sample_pays_its_share_of_the_rent() -> None:
    assert rent(7.2, 1000, 1) == 0.002
    assert rent(7.2, 1000, 4) == 0.0005
    assert rent(7.2, 1000, 0.5) == 0.004  # half of the time it waited
    assert rent(7.2, 0, 1) == 0.000002  # never nothing
    assert sample_cost(RENTED, evidence(None, 30_000), 4) == 0.015
    assert sample_cost(RENTED, evidence(Usage(input=5), None), 4) is None


@pytest.mark.parametrize(
    ("spans", "worked_ms", "average"),
    [
        ([(0, 10), (0, 10)], 20_000, 2.0),
        ([(20, 30), (0, 10)], 20_000, 1.0),  # nobody used the endpoint from 10 to 20
        ([(0, 10), (2, 4), (8, 12)], 16_000, 4 / 3),
        ([(0, 10)], 5_000, 0.5),  # it waited half of the time, and the rent ran
        ([], 1000, None),
        ([(5, 5)], 1000, None),
        ([(0, 10)], 0, None),
    ],
)
def test_how_many_samples_were_served_at_once(
    spans: list[tuple[float, float]], worked_ms: int, average: float | None
) -> None:
    assert samples_at_once(spans, worked_ms) == (None if average is None else pytest.approx(average))


@given(st.lists(st.tuples(st.integers(0, 10**5), st.integers(1, 10**5)), min_size=1, max_size=8))
def test_shares_add_up_to_the_rent_of_the_time_in_which_samples_ran(runs: list[tuple[int, int]]) -> None:
    """Milliseconds of begin and duration, at 3600 USD an hour: a dollar a second."""
    spans = [(begin / 1000, (begin + lasted) / 1000) for begin, lasted in runs]
    at_once = samples_at_once(spans, sum(lasted for _, lasted in runs))
    assert at_once is not None
    used = {moment for begin, lasted in runs for moment in (begin, begin + lasted)}
    edges = sorted(used)
    ran = sum(
        later - earlier
        for earlier, later in itertools.pairwise(edges)
        if any(begin <= earlier and later <= begin + lasted for begin, lasted in runs)
    )
    shares = math.fsum(rent(3600.0, lasted, at_once) for _, lasted in runs)
    assert shares == pytest.approx(ran / 1000, rel=1e-6)


@pytest.mark.parametrize(("items", "concurrency", "rounds"), [(1, 4, 1), (4, 4, 1), (5, 4, 2), (9, 1, 9), (0, 4, 0)])
def test_rent_is_bounded_by_rounds_of_samples(items: int, concurrency: int, rounds: int) -> None:
    spec = rented_spec(items, concurrency)
    assert spec.paid
    assert spec.largest_call_usd == 1.8  # 7.2 an hour x (600 s + half of it for scoring)
    assert spec.exposure_usd(items) == pytest.approx(rounds * 1.8)
    assert spec.exposure_per_sample == 1.8


def test_rent_is_spent_by_time_and_lost_only_where_the_time_is_unknown() -> None:
    spec = rented_spec(4, 4)
    samples = [
        evidence(None, 10_000, item="0"),
        evidence(None, 20_000, item="1", calls_without_usage=3, usage_problem="usage: cannot be"),
        evidence(None, 5_000, item="2", interrupted=True),
        evidence(None, None, item="3", in_flight=True),
    ]
    closing = close_attempt(spec, spec.items, samples, "died", in_flight_known=True, samples_at_once=2.0)
    assert closing.spent_usd == 0.035  # 35 s x 7.2 / 3600 / 2 at once
    assert (closing.calls_lost, closing.lost_usd) == (1, 1.8)
    unread = close_attempt(spec, spec.items, (), "corrupt", in_flight_known=False)
    assert unread.lost_usd == spec.exposure_usd(4) == 1.8  # no more than was reserved
    unreached = close_attempt(spec, spec.items, samples[:1], "finished", in_flight_known=True)
    assert unreached.spent_usd == 0.005  # the configured 4 at once


# --- usage that cannot be --------------------------------------------------------------------------------------


def test_impossible_usage_leaves_the_cost_unknown_and_the_item_says_so() -> None:
    spec = make_spec(["x"], policy=replace(make_spec([]).policy, mechanical=()))
    broken = evidence(None, 10, usage_problem="usage: 9 cached tokens of 1 cannot be")
    verdict = item_verdict(spec, broken)
    assert (verdict.state, verdict.retryable) == ("failed", False)
    assert str(verdict.error) == "ImpossibleUsage: usage: 9 cached tokens of 1 cannot be"
    assert sample_cost(spec.price, broken, 4) is None
    closing = close_attempt(spec, spec.items, [broken], "finished", in_flight_known=True)
    assert (closing.spent_usd, closing.calls_lost) == (0.0, 1)
    assert closing.lost_usd == spec.exposure_per_sample == 0.35
    for price in (FREE, RENTED):
        assert item_verdict(replace(spec, price=price), broken).state == "complete"
