"""How pictures are asked for, what lint says of wishes that cannot be carried out, and what a call may cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tamesu.base.canonical import Json
from tamesu.base.model.plan import Price, RunSpec
from tamesu.base.model.wire import WireRequest
from tamesu.core.parameters import split_parameters
from tamesu.core.picture_prices import picture_price, sent_picture_tokens, with_tool
from tamesu.core.picture_request import aspect_ratio, picture_request, returns_pictures, sent_modalities
from tamesu.core.routes import Protocol
from tamesu.core.wire import check_wire
from tamesu.core.wire_body import reduce_fields
from tamesu.edge.documents.eval_reader import read_eval
from tamesu.edge.store.paths import Project
from tests.pictures.project import EVAL, pictures

LIBRARY = Price(1.0, 4.0, source="genai-prices 0.0.66")
OWN = replace(LIBRARY, source="config/models.yml")
TOOL = {"type": "image_generation", "size": "1024x1024"}


@pytest.mark.parametrize(
    ("size", "ratio"),
    [("1024x1024", "1:1"), ("1536x1024", "3:2"), ("2100x900", "21:9"), ("1000x700", "10:7"), ("big", None), (3, None)],
)
def test_a_size_is_a_ratio(size: Json, ratio: str | None) -> None:
    assert aspect_ratio(size) == ratio


def test_google_has_no_way_for_some_wishes_and_other_routes_for_none() -> None:
    wish: dict[str, Json] = {"size": "1000x700", "quality": "high", "output_format": "png", "count": 1}
    assert picture_request(wish, Protocol.GEMINI).unsent == ("size", "quality")
    assert picture_request({"size": "auto"}, Protocol.GEMINI).body == {}
    assert picture_request({"size": "1x1"}, Protocol.MESSAGES).unsent == ("size",)
    assert {
        name for name in ("google", "gemini", "openai", "replay", "grok", "anthropic") if returns_pictures(name)
    } == {
        "google",
        "gemini",
        "openai",
        "replay",
    }


def test_options_of_a_provider_and_the_shape_of_a_picture_are_merged_into_the_body() -> None:
    options: dict[str, Json] = {
        "generationConfig": {"seed": 3, "imageConfig": {"imageSize": "1K"}},
        "labels": {"a": "b"},
    }
    image: dict[str, Json] = {"size": "1024x1024"}
    split = split_parameters({"image": image, "provider_options": options, "max_tokens": 9}, Protocol.GEMINI)
    shape = {"imageSize": "1K", "aspectRatio": "1:1"}
    assert split.extra_body == {"generationConfig": {"seed": 3, "imageConfig": shape}, "labels": {"a": "b"}}
    assert split.config == {"modalities": ["image"], "max_tokens": 9}


def spec_of(tmp_path: Path) -> RunSpec:
    project = Project(pictures(tmp_path / "p").root)
    read = read_eval(project, project.refs()[0])
    assert read.matrix is not None
    return replace(read.matrix.runs[0], provider="openai", model="gpt-5", parameters={"image": {"size": "1024x1024"}})


def request(body: dict[str, Json]) -> WireRequest:
    kept = reduce_fields({"model": "gpt-5", "input": [], **body})
    return WireRequest(1, 1, "", "http", "/v1/responses", "mug", 1, kept.model, kept.parameters, kept.contents)


def test_a_tool_that_left_otherwise_or_not_at_all_is_drift(tmp_path: Path) -> None:
    spec = spec_of(tmp_path)

    def told(**body: Json) -> list[tuple[str, str]]:
        return [(one.kind, one.name) for one in check_wire(spec, [request(body)], [], None).differences]

    assert told(tools=[TOOL]) == []
    assert told(tools=[{**TOOL, "size": "auto"}]) == [("sent otherwise", "modalities")]
    assert told(tools=[TOOL, {"type": "web_search"}]) == [("sent otherwise", "modalities")]
    assert told() == [("not sent", "modalities")]


def test_a_shape_that_left_otherwise_is_drift(tmp_path: Path) -> None:
    spec = replace(spec_of(tmp_path), provider="google", model="gpt-5")

    def told(**config: Json) -> list[tuple[str, str]]:
        kept = reduce_fields({"contents": [], "generationConfig": config})
        asked = replace(request({}), path="/v1beta/models/gpt-5:generateContent", model=None)
        asked = replace(asked, parameters=kept.parameters, contents=kept.contents)
        return [(one.kind, one.name) for one in check_wire(spec, [asked], [], None).differences]

    wish: list[Json] = ["TEXT", "IMAGE"]
    name = "generationConfig.imageConfig.aspectRatio"
    assert told(responseModalities=wish, imageConfig={"aspectRatio": "1:1"}) == []
    assert told(responseModalities=wish, imageConfig={"aspectRatio": "3:2"}) == [("sent otherwise", name)]
    assert told(responseModalities=wish) == [("not sent", name)]
    assert told(responseModalities=["IMAGE"], imageConfig={"aspectRatio": "1:1"}) == [("sent otherwise", "modalities")]
    assert sent_modalities(Protocol.RESPONSES, ["image"]) == [{"type": "image_generation"}]


def test_the_library_has_no_rates_for_the_tool_of_openai() -> None:
    assert picture_price("image_generation", "openai", LIBRARY) is None
    assert picture_price("image_generation", "openai", OWN) == OWN
    assert picture_price("image_generation", "google", LIBRARY) == LIBRARY
    assert picture_price("structured_text", "openai", LIBRARY) == LIBRARY
    free = Price(0.0, 0.0, free=True, source="genai-prices")
    assert picture_price("image_generation", "openai", free) == free


def test_a_call_is_bounded_with_its_pictures_and_its_tool() -> None:
    assert with_tool("image_generation", "openai", {"max_tokens": 100}, 50) == ({"max_tokens": 20_100}, 200)
    assert with_tool("image_generation", "google", {"max_tokens": 100}, 50) == ({"max_tokens": 100}, 50)
    assert with_tool("image_generation", "openai", {}, 50) == ({}, 50)
    assert (sent_picture_tokens("openai", 2), sent_picture_tokens("google", 2)) == (96_338, 49_152)


@pytest.mark.parametrize(
    ("wish", "rule", "said"),
    [
        (
            "{count: 2}",
            "parameter/value",
            "'image.count' is 2, not 1 (write 1: one picture of an item is judged; for more",
        ),
        ("{size: big}", "parameter/value", "'image.size' is \"big\", not <width>x<height> in pixels, or auto"),
        ("large", "parameter/value", "'image' is \"large\", not a mapping"),
    ],
)
def test_a_wish_that_nobody_could_carry_out_is_an_error(tmp_path: Path, wish: str, rule: str, said: str) -> None:
    project = pictures(tmp_path / "p")
    project.edit(EVAL / "eval.yml", "{size: 32x24, output_format: png}", wish)
    read = read_eval(Project(project.root), Project(project.root).refs()[0])
    (found,) = [one for one in read.findings if one.severity == "error"]
    assert found.rule == rule
    assert said in f"{found.message} ({found.fix})"


def test_routes_without_pictures_and_wishes_without_a_way_are_warnings(tmp_path: Path) -> None:
    project = pictures(tmp_path / "p")
    more = (
        "  - {provider: grok, model: grok-4}\n  - {provider: google, model: g, parameters: {image: {quality: high}}}\n"
    )
    project.edit(EVAL / "eval.yml", "model: painter}\n", f"model: painter}}\n{more}")
    read = read_eval(Project(project.root), Project(project.root).refs()[0])
    told = {(one.rule, one.message) for one in read.findings if one.rule in {"support/missing", "parameter/not-sent"}}
    assert told == {
        ("support/missing", "no pictures come back over the route of 'grok', but of google, openai and replay"),
        ("parameter/not-sent", "parameter 'image.quality' does not reach google/g, so that preflight refuses"),
    }
