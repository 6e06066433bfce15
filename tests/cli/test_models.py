"""`tamesu models`: what is known about models, at which price, and who says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.calling import Caller, one_line
from tests.projects import EVAL, Done, ShapesProject

OPUS = "claude-3-opus-latest"
MODELS = """\
models:
  - provider: vllm
    model: org/large
    usd_per_hour: 2.5
    replicas: 2
    capabilities: [images]
    effort_values: [low, high]
  - {provider: openai, model: gpt-none}
  - {provider: anthropic, model: claude-3-opus-latest, usd_per_million: {input: 1, output: 3}}
  - {provider: gemini, model: gemini-2.5-pro}
"""


def views(done: Done) -> dict[str, dict[str, object]]:
    """The models of `--json` by provider and name, each told once."""
    assert (done.code, done.err) == (0, "")
    listed = json.loads(done.out)
    found = {f"{model['provider']}/{model['model']}": model for model in listed}
    assert len(found) == len(listed)
    return found


@pytest.fixture
def declared(shapes: ShapesProject) -> ShapesProject:
    (shapes.root / "config" / "models.yml").write_text(MODELS)
    return shapes


def test_the_models_of_a_project_with_the_source_of_each_price(declared: ShapesProject, call: Caller) -> None:
    found = views(call(declared, "models", "--json"))
    assert list(found) == [
        "anthropic/claude-3-opus-latest",
        "google/gemini-2.5-pro",
        "openai/gpt-none",
        "replay/sketcher-large",
        "replay/sketcher-small",
        "vllm/org/large",
    ]
    sources = {name: model["price"] and model["price"]["source"] for name, model in found.items()}
    assert sources.pop("google/gemini-2.5-pro").startswith("genai-prices ")
    assert sources == {
        "anthropic/claude-3-opus-latest": "config/models.yml",
        "openai/gpt-none": None,
        "replay/sketcher-large": "replay",
        "replay/sketcher-small": "replay",
        "vllm/org/large": "config/models.yml",
    }
    rented = found["vllm/org/large"]
    assert rented["price"]["usd_per_hour"] == 5.0
    assert (rented["capabilities"], rented["effort_values"]) == (["images"], ["low", "high"])
    assert found["anthropic/claude-3-opus-latest"]["price"]["cache_read"] == 1.0  # not the library's
    assert found["anthropic/claude-3-opus-latest"]["context_window"] == 200_000
    assert found["openai/gpt-none"]["similar"]


def test_a_table_says_what_is_unknown(declared: ShapesProject, call: Caller) -> None:
    done = call(declared, "models")
    assert (done.code, done.err) == (0, "")
    rows = {words[0]: words[1:] for words in (line.split() for line in done.out.splitlines()) if words}
    assert rows["gpt-none"] == ["unknown"] * 5
    assert rows["org/large"] == ["5/h", "unknown", "models.yml"]
    assert rows["sketcher-small"] == ["free"] * 4 + ["unknown", "replay"]
    assert rows[OPUS] == ["1", "3", "1", "1", "200k", "models.yml"]
    assert rows["gemini-2.5-pro"][:2] == ["1.25+", "10+"]
    assert "openai/gpt-none: no price is known; did you mean " in done.out


def test_all_models_of_a_provider_outside_a_project(tmp_path: Path, call: Caller) -> None:
    found = views(call(tmp_path, "models", "--provider", "anthropic", "--json"))
    assert len(found) > 10
    opus = found[f"anthropic/{OPUS}"]
    assert (opus["price"]["input"], opus["price"]["output"], opus["price"]["cache_read"]) == (15.0, 75.0, 1.5)
    assert (opus["context_window"], opus["deprecated"]) == (200_000, False)


def test_tiers_and_unknown_prices_of_a_provider(tmp_path: Path, call: Caller) -> None:
    found = views(call(tmp_path, "models", "--provider", "openai", "--json"))
    unknown = [name for name, model in found.items() if model["price"] is None]
    tiered = [model for model in found.values() if model["price"] and model["price"]["tiers"]]
    assert unknown
    assert tiered
    assert all(tier["above_input_tokens"] > 0 for model in tiered for tier in model["price"]["tiers"])
    table = call(tmp_path, "models", "--provider", "openai").out
    (row,) = [line for line in table.splitlines() if line.split()[:1] == [unknown[0].removeprefix("openai/")]]
    assert row.split()[1:5] == ["unknown"] * 4


def test_a_provider_by_its_other_name(tmp_path: Path, call: Caller) -> None:
    found = views(call(tmp_path, "models", "--provider", "gemini", "--json"))
    assert found == views(call(tmp_path, "models", "--provider", "google", "--json"))
    assert "google/gemini-2.5-pro" in found


def test_a_provider_in_a_project_begins_with_what_the_project_says(declared: ShapesProject, call: Caller) -> None:
    found = views(call(declared, "models", "--provider", "anthropic", "--json"))
    assert next(iter(found)) == f"anthropic/{OPUS}"
    assert found[f"anthropic/{OPUS}"]["price"]["output"] == 3.0
    assert len(found) == len(views(call(declared.root.parent, "models", "--provider", "anthropic", "--json")))


@pytest.mark.parametrize(
    ("name", "near"),
    [("opnai", "openai"), ("anthropics", "anthropic"), ("deepseek", "openai-api/deepseek")],
)
def test_an_unknown_provider_names_the_nearest(name: str, near: str, tmp_path: Path, call: Caller) -> None:
    line = one_line(call(tmp_path, "models", "--provider", name), 2)
    assert line.startswith(f"no provider named '{name}'; did you mean {near}")


def test_a_provider_without_list_prices_is_no_mistake(tmp_path: Path, call: Caller) -> None:
    done = call(tmp_path, "models", "--provider", "vllm")
    assert (done.code, done.err) == (0, "")
    assert done.out == "no model of vllm is known; state its price in config/models.yml\n"
    assert views(call(tmp_path, "models", "--provider", "vllm", "--json")) == {}


def test_neither_project_nor_provider(tmp_path: Path, call: Caller) -> None:
    assert "--provider" in one_line(call(tmp_path, "models"), 2)


def test_an_eval_with_errors_is_named_and_the_others_are_listed(declared: ShapesProject, call: Caller) -> None:
    declared.edit(EVAL / "eval.yml", "repetitions: 2", "repetitons: 2")
    done = call(declared, "models", "--json")
    assert done.code == 0
    assert done.err == (
        "tamesu: shape-drawing/prompt-wording/replayed: has errors, so its models are not listed; see `tamesu lint`\n"
    )
    assert len(json.loads(done.out)) == 4


def test_settings_with_errors_end_in_one_line(shapes: ShapesProject, call: Caller) -> None:
    (shapes.root / "config" / "models.yml").write_text("models:\n  - {provider: a, model: b, usd_per_hour: 0}\n")
    line = one_line(call(shapes, "models"), 1)
    assert line.startswith("config/models.yml:2:")
    assert "schema/exclusiveMinimum" in line


@pytest.mark.parametrize("columns", [80, 120])
def test_the_table_cuts_nothing_off(columns: int, declared: ShapesProject, call: Caller) -> None:
    done = call(declared, "models", columns=columns)
    assert "…" not in done.out
    assert all(len(line) <= columns for line in done.out.splitlines() if not line[:1].isalpha())


def test_an_unknown_provider_lists_every_route(tmp_path: Path, call: Caller) -> None:
    line = one_line(call(tmp_path, "models", "--provider", "nobody"), 2)
    assert line.startswith("no provider named 'nobody'; known: ")
    assert {"openai", "vllm", "bedrock", "mistral", "openrouter"} <= set(line.rpartition("known: ")[2].split(", "))
