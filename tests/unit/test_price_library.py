"""What the kept price library says becomes our price: the dearest that can apply, or unknown."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path

import pytest
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import (
    ClauseEquals,
    ConditionalPrice,
    ModelInfo,
    ModelPrice,
    PriceVariant,
    StartDateConstraint,
    Tier,
    TieredPrices,
    TimeOfDateConstraint,
)
from genai_prices.types import Usage as LibraryUsage

from tamesu.base.model.evidence import Usage
from tamesu.base.model.facts import ModelFacts
from tamesu.base.model.plan import Price, PriceTier
from tamesu.core.pricing import usage_cost
from tamesu.edge.prices import library
from tamesu.edge.prices.book import FREE_REPLAY, PriceBook, Quote, library_source, priced
from tamesu.edge.prices.routes import library_id, priced_routes

DAY = date(2026, 5, 1)


def rate(text: str) -> Decimal:
    return Decimal(text)


def model(
    prices: ModelPrice | list[ConditionalPrice], variants: list[PriceVariant] | None = None, name: str = "m"
) -> ModelInfo:
    return ModelInfo(name, ClauseEquals(name), prices=prices, price_variants=variants, context_window=1000)


def flat(sent: str, received: str, **others: Decimal | TieredPrices) -> ModelPrice:
    return ModelPrice(input_mtok=rate(sent), output_mtok=rate(received), **others)


def from_day(day: date, prices: ModelPrice) -> ConditionalPrice:
    return ConditionalPrice(StartDateConstraint(day), prices=prices)


def between(start: int, end: int, prices: ModelPrice) -> ConditionalPrice:
    return ConditionalPrice(TimeOfDateConstraint(time(start, tzinfo=UTC), time(end, tzinfo=UTC)), prices=prices)


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> object:
    """Puts models made up for a test in the place of a provider's."""

    def put(*models: ModelInfo) -> None:
        from genai_prices.types import Provider

        made = Provider("made-up", "Made up", "x", models=list(models))
        monkeypatch.setattr(library, "_providers", lambda: {"made-up": made})

    return put


def price_of(info: ModelInfo, put: object, on: date = DAY) -> Price | None:
    put(info)  # type: ignore[operator]
    found = library.find_model("made-up", info.id, on, "said so")
    assert found is not None
    return found.price


# --- one price -------------------------------------------------------------------------------------------------


def test_a_whole_price_is_taken_over(listed: object) -> None:
    prices = flat("2", "8", cache_read_mtok=rate("0.2"), cache_write_mtok=rate("2.5"))
    assert price_of(model(prices), listed) == Price(2.0, 8.0, 0.2, 2.5, source="said so")


def test_a_missing_cache_rate_is_the_inputs_never_nothing(listed: object) -> None:
    assert price_of(model(flat("2", "8")), listed) == Price(2.0, 8.0, 2.0, 2.0, source="said so")


def test_a_stated_rate_of_nothing_stays_and_is_not_free(listed: object) -> None:
    stated = price_of(model(flat("0", "0", cache_write_mtok=rate("0"))), listed)
    assert stated == Price(0.0, 0.0, 0.0, 0.0, source="said so")
    assert not stated.free


@pytest.mark.parametrize(
    "prices",
    [
        pytest.param(ModelPrice(input_mtok=rate("2")), id="no-output"),
        pytest.param(ModelPrice(output_mtok=rate("2")), id="no-input"),
        pytest.param(ModelPrice(), id="nothing"),
        pytest.param(flat("2", "8", requests_kcount=rate("12")), id="requests-cost-too"),
        pytest.param(flat("-1", "8"), id="negative"),
        pytest.param(flat("2", "NaN"), id="no-number"),
    ],
)
def test_what_tokens_do_not_tell_is_unknown(prices: ModelPrice, listed: object) -> None:
    assert price_of(model(prices), listed) is None


def test_output_is_priced_at_the_dearer_of_answer_and_reasoning(listed: object) -> None:
    price = price_of(model(flat("2", "3", output_reasoning_mtok=rate("8"))), listed)
    assert price is not None
    assert price.output == 8.0
    price = price_of(model(flat("2", "8", output_reasoning_mtok=rate("3"))), listed)
    assert price is not None
    assert price.output == 8.0


def test_tokens_of_pictures_are_priced_with_text_at_the_dearer_of_both(listed: object) -> None:
    apart = flat("2", "3", input_image_mtok=rate("4"), output_image_mtok=rate("30"))
    assert price_of(model(apart), listed) == Price(4.0, 30.0, 4.0, 4.0, source="said so")
    assert price_of(model(flat("2", "3", output_image_mtok=rate("-30"))), listed) is None


def test_variants_never_apply(listed: object) -> None:
    cheaper = PriceVariant({"service_tier": "flex"}, flat("1", "4"))
    assert price_of(model(flat("2", "8"), [cheaper]), listed) == Price(2.0, 8.0, 2.0, 2.0, source="said so")


# --- tiers -----------------------------------------------------------------------------------------------------


def tiered(base: str, *tiers: tuple[int, str]) -> TieredPrices:
    return TieredPrices(rate(base), [Tier(start, rate(price)) for start, price in tiers])


def test_tiers_of_single_rates_become_tiers_of_all(listed: object) -> None:
    prices = ModelPrice(
        input_mtok=tiered("2", (200_000, "4")),
        output_mtok=tiered("10", (200_000, "15"), (500_000, "30")),
        cache_read_mtok=rate("0.2"),
    )
    assert price_of(model(prices), listed) == Price(
        2.0,
        10.0,
        0.2,
        2.0,
        tiers=(PriceTier(200_000, 4.0, 15.0, 0.2, 4.0), PriceTier(500_000, 4.0, 30.0, 0.2, 4.0)),
        source="said so",
    )


def test_unsorted_tiers_are_sorted_by_the_library() -> None:
    assert [tier.start for tier in tiered("1", (9, "3"), (5, "2")).tiers] == [5, 9]


# --- conditions ------------------------------------------------------------------------------------------------

BEFORE, AFTER = flat("2", "8"), flat("1", "4")


@pytest.mark.parametrize(
    ("on", "sent"),
    [(date(2026, 4, 30), 2.0), (date(2026, 5, 1), 1.0), (date(2027, 1, 1), 1.0), (date(1999, 1, 1), 2.0)],
)
def test_a_dated_price_is_chosen_by_the_day_of_planning(on: date, sent: float, listed: object) -> None:
    price = price_of(model([ConditionalPrice(prices=BEFORE), from_day(date(2026, 5, 1), AFTER)]), listed, on)
    assert price is not None
    assert price.input == sent


def test_of_prices_by_the_hour_the_dearest_counts(listed: object) -> None:
    night = flat("1", "9", cache_read_mtok=rate("0.1"))
    noon = flat("3", "6", cache_read_mtok=rate("0.3"))
    price = price_of(model([ConditionalPrice(prices=night), between(9, 17, noon)]), listed)
    assert price == Price(3.0, 9.0, 0.3, 3.0, source="said so")


def test_hours_that_a_later_price_replaced_do_not_count(listed: object) -> None:
    old_noon = between(9, 17, flat("50", "50"))
    prices = [ConditionalPrice(prices=flat("40", "40")), old_noon, from_day(date(2026, 1, 1), AFTER)]
    assert price_of(model(prices), listed) == Price(1.0, 4.0, 1.0, 1.0, source="said so")
    assert price_of(model(prices), listed, date(2025, 1, 1)) == Price(50.0, 50.0, 50.0, 50.0, source="said so")


def test_hours_alone_leave_the_first_price_for_the_rest_of_the_day(listed: object) -> None:
    price = price_of(model([between(0, 8, flat("5", "1")), between(9, 17, flat("3", "2"))]), listed)
    assert price == Price(5.0, 2.0, 5.0, 5.0, source="said so")


def test_tiers_of_different_hours_meet(listed: object) -> None:
    night = ModelPrice(input_mtok=tiered("1", (100, "6")), output_mtok=rate("1"))
    noon = ModelPrice(input_mtok=tiered("3", (200, "5")), output_mtok=rate("1"))
    price = price_of(model([ConditionalPrice(prices=night), between(9, 17, noon)]), listed)
    assert price is not None
    assert [(t.above_input_tokens, t.input) for t in price.tiers] == [(100, 6.0), (200, 6.0)]
    assert price.input == 3.0


def test_one_unknown_hour_leaves_the_price_unknown(listed: object) -> None:
    assert price_of(model([ConditionalPrice(prices=BEFORE), between(9, 17, ModelPrice())]), listed) is None


def test_a_model_without_any_price_is_unknown(listed: object) -> None:
    assert price_of(model([]), listed) is None


# --- the installed data ----------------------------------------------------------------------------------------


def prices_pictures_apart(info: ModelInfo) -> bool:
    return any(
        rate is not None
        for price in library.applicable_prices(info.prices, DAY)
        for rate in (price.input_image_mtok, price.output_image_mtok)
    )


@pytest.mark.parametrize("tokens", [1000, 199_999, 300_000, 600_000])
def test_no_price_is_below_what_the_library_computes_itself(tokens: int) -> None:
    """Over all providers of the routes, at four hours of a day; equal where nothing is dearer at another hour."""
    compared = 0
    for name in ("anthropic", "openai", "google", "x-ai", "aws", "mistral", "meta", "openrouter", "deepseek"):
        provider = next(found for found in get_snapshot().providers if found.id == name)
        prices = {listed.model: listed.price for listed in library.provider_models(name, DAY, "")}
        for info in provider.models:
            price = prices[info.id]
            if price is None:
                continue
            compared += 1
            usage = LibraryUsage(input_tokens=tokens, cache_read_tokens=tokens // 2, output_tokens=500)
            hours = [datetime(2026, 5, 1, hour, tzinfo=UTC) for hour in (0, 2, 8, 20)]
            made = [info.calc_price(usage, provider, genai_request_timestamp=hour) for hour in hours]
            theirs = [float(price.total_price) for price in made]
            ours = usage_cost(Usage(input=tokens - tokens // 2, cache_read=tokens // 2, output=500), price)
            assert ours >= max(theirs) - 2e-9, info.id
            if len(set(theirs)) == 1 and not price.tiers and not prices_pictures_apart(info):
                assert ours == pytest.approx(theirs[0], rel=1e-9, abs=2e-9), info.id
    assert compared > 500


def test_models_are_listed_by_name_with_what_is_known() -> None:
    models = library.provider_models("anthropic", DAY, "said so")
    names = [found.model for found in models]
    assert names == sorted(names)
    (opus,) = [found for found in models if found.model == "claude-3-opus-latest"]
    assert opus.price == Price(15.0, 75.0, 1.5, 18.75, source="said so")
    assert opus.context_window == 200_000
    assert library.provider_models("nobody", DAY, "") == ()


# --- routes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("provider", "name"),
    [
        ("meta", "meta"),
        ("openai", "openai"),
        ("anthropic", "anthropic"),
        ("google", "google"),
        ("gemini", "google"),
        ("grok", "x-ai"),
        ("bedrock", "aws"),
        ("mistral", "mistral"),
        ("openrouter", "openrouter"),
        ("openai-api/deepseek", "deepseek"),
        ("openai-api/", None),
        ("vllm", None),
        ("replay", None),
        ("nobody", None),
    ],
)
def test_the_library_behind_a_route(provider: str, name: str | None) -> None:
    assert library_id(provider) == name


def test_every_route_with_list_prices_has_some() -> None:
    known = {route: library_id(route) for route in priced_routes()}
    assert {route for route, name in known.items() if name is None} == {"replay", "vllm"}
    for name in known.values():
        assert name is None or any(found.price for found in library.provider_models(name, DAY, ""))


# --- the book --------------------------------------------------------------------------------------------------

OPUS = ("anthropic", "claude-3-opus-20240229")


def test_a_quote_is_a_price_or_similar_names() -> None:
    book = PriceBook(None, DAY)
    assert book.quote(*OPUS) == Quote(Price(15.0, 75.0, 1.5, 18.75, source=library_source()))
    unknown = book.quote("anthropic", "claude-3-opal")
    assert unknown.price is None
    assert "claude-3-opus-latest" in unknown.similar
    assert book.quote("openai-api/nobody", "m") == Quote(None)
    assert book.quote("openai-api/my-anthropic", OPUS[1]) == Quote(None)  # a name that holds a name is another one
    assert book.quote("vllm", OPUS[1]) == Quote(None)


def test_quotes_are_remembered_for_the_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = tmp_path / "cache" / "prices.json"
    book = PriceBook(memory, DAY)
    first = (book.quote(*OPUS), book.quote("anthropic", "claude-3-opal"))
    book.save()
    monkeypatch.setattr(library, "find_model", None)  # not callable: a look-up would fail
    again = PriceBook(memory, DAY)
    assert (again.quote(*OPUS), again.quote("anthropic", "claude-3-opal")) == first
    with pytest.raises(TypeError):
        PriceBook(memory, date(2026, 5, 2)).quote(*OPUS)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda kept: kept | {"versions": "genai-prices 0.0.1"}, id="another-version"),
        pytest.param(lambda kept: [], id="another-shape"),
        pytest.param(lambda kept: kept | {"quotes": {KEY: None}}, id="no-quote"),
        pytest.param(lambda kept: altered(kept, input=-1.0), id="negative"),
        pytest.param(lambda kept: altered(kept, free=True), id="free"),
        pytest.param(lambda kept: altered(kept, usd_per_hour=1.0), id="rented"),
        pytest.param(lambda kept: altered(kept, tiers=[{"above_input_tokens": 1}]), id="half-a-tier"),
    ],
)
def test_a_broken_memory_is_ignored(change: object, tmp_path: Path) -> None:
    memory = tmp_path / "prices.json"
    book = PriceBook(memory, DAY)
    expected = book.quote(*OPUS)
    book.save()
    memory.write_text(json.dumps(change(json.loads(memory.read_text()))))  # type: ignore[operator]
    assert PriceBook(memory, DAY).quote(*OPUS) == expected


KEY = "/".join(OPUS)


def altered(kept: dict[str, dict[str, dict[str, object]]], **fields: object) -> object:
    kept["quotes"][KEY]["price"] |= fields  # type: ignore[operator]
    return kept


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"null"])
def test_what_is_no_memory_is_ignored(content: bytes, tmp_path: Path) -> None:
    memory = tmp_path / "prices.json"
    memory.write_bytes(content)
    assert PriceBook(memory, DAY).quote(*OPUS).price is not None


def test_a_memory_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    book = PriceBook(tmp_path / "file" / "prices.json", DAY)
    book.quote(*OPUS)
    book.save()
    assert (tmp_path / "file").read_text() == ""


def test_the_project_is_asked_before_replay_and_the_library() -> None:
    book = PriceBook(None, DAY)
    own = ModelFacts(Price(1.0, 2.0), ("images",), ("low",))
    assert priced(own, *OPUS, book) == own
    assert priced(own, "replay", "m", book) == own
    assert priced(ModelFacts(None, ("images",)), "replay", "m", book) == ModelFacts(FREE_REPLAY, ("images",))
    found = priced(ModelFacts(None, ("images",), ("low",)), *OPUS, book)
    assert found == ModelFacts(book.quote(*OPUS).price, ("images",), ("low",))
    assert priced(ModelFacts(), "vllm", "m", book) == ModelFacts()


def test_reading_settings_does_not_load_the_library() -> None:
    code = "import sys, tamesu.edge.documents.eval_reader, tamesu.cli.planning; print('genai_prices' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "False\n"
