"""What lint says about models: prices that nobody knows and efforts that a model does not take."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamesu.base.canonical import Json
from tamesu.base.model.facts import ModelFacts
from tamesu.base.model.manifest import Arm, Eval, ModelEntry
from tamesu.base.model.plan import Price
from tamesu.core.lint import effort_remarks, price_remarks
from tamesu.core.matrix import Matrix, Setting
from tests.factories import make_eval, make_spec

Parameters = dict[str, Json]


def setting(**facts: ModelFacts) -> Setting:
    return Setting("0", {("openai", name): known for name, known in facts.items()})


def evaluation(defaults: Parameters, arms: dict[str, Parameters], runs: list[ModelEntry]) -> Eval:
    made = make_eval()
    return replace(
        made,
        defaults=replace(made.defaults, parameters=defaults),
        arms=tuple(Arm(name, "", None, None, parameters) for name, parameters in arms.items()),
        models=tuple(runs),
    )


def entry(model: str, parameters: Parameters | None = None, arms: tuple[str, ...] | None = None) -> ModelEntry:
    return ModelEntry("openai", model, arms, None, parameters)


KNOWN = setting(a=ModelFacts(effort_values=("low", "high")), none=ModelFacts(effort_values=()), silent=ModelFacts())
OFF: Parameters = {"effort": "middling"}


@pytest.mark.parametrize(
    ("defaults", "arms", "runs", "places"),
    [
        pytest.param(OFF, {"x": {}}, [entry("a")], [("defaults", "parameters", "effort")], id="defaults"),
        pytest.param({}, {"x": {}, "y": OFF}, [entry("a")], [("arms", 1, "parameters", "effort")], id="arm"),
        pytest.param({}, {"x": {}}, [entry("a", OFF)], [("runs", 0, "parameters", "effort")], id="run"),
        pytest.param(
            {"reasoning_effort": 3},
            {"x": {}},
            [entry("a")],
            [("defaults", "parameters", "reasoning_effort")],
            id="reasoning-effort",
        ),
        pytest.param(OFF, {"x": {}}, [entry("a", {"effort": "low"})], [], id="overridden"),
        pytest.param(OFF, {"x": {"effort": "high"}}, [entry("a")], [], id="overridden-by-the-arm"),
        pytest.param(
            OFF,
            {"x": {"effort": "high"}, "y": {}},
            [entry("a")],
            [("defaults", "parameters", "effort")],
            id="overridden-in-one-arm",
        ),
        pytest.param({}, {"x": {}, "y": OFF}, [entry("a", arms=("x",))], [], id="an-arm-that-does-not-run"),
        pytest.param(OFF, {"x": {}}, [entry("silent"), entry("unheard-of")], [], id="nobody-listed-values"),
        pytest.param({"effort": "low"}, {"x": {}}, [entry("a")], [], id="a-value-it-takes"),
        pytest.param({"effort": "provider-default"}, {"x": {}}, [entry("none")], [], id="left-out-on-purpose"),
        pytest.param(
            {"effort": "low"}, {"x": {}}, [entry("none")], [("defaults", "parameters", "effort")], id="takes-none"
        ),
        pytest.param(
            OFF, {"x": {}, "y": {}}, [entry("a"), entry("a")], [("defaults", "parameters", "effort")], id="told-once"
        ),
    ],
)
def test_an_effort_is_judged_where_it_takes_effect(
    defaults: Parameters, arms: dict[str, Parameters], runs: list[ModelEntry], places: list[object]
) -> None:
    found = effort_remarks(evaluation(defaults, arms, runs), KNOWN)
    assert [remark.path for remark in found] == places
    assert {remark.rule for remark in found} <= {"parameter/effort"}


def test_the_values_that_would_do_are_named() -> None:
    (remark,) = effort_remarks(evaluation(OFF, {"x": {}}, [entry("a")]), KNOWN)
    assert remark.message == "openai/a takes no effort 'middling'"
    assert remark.fix == "use low, high"
    (remark,) = effort_remarks(evaluation(OFF, {"x": {}}, [entry("none")]), KNOWN)
    assert remark.fix == "remove it"


def test_an_unknown_price_names_similar_models() -> None:
    known = setting(a=ModelFacts(similar=("ab", "abc")), b=ModelFacts(), c=ModelFacts(Price(1.0, 2.0)))
    runs = Matrix(
        (
            replace(make_spec(["x"], model="a"), price=None),
            replace(make_spec(["x"], model="b"), price=None),
            make_spec(["x"], model="c"),
        ),
        {},
    )
    found = price_remarks(evaluation({}, {"x": {}}, [entry("a"), entry("b"), entry("c")]), runs, known)
    assert [(remark.path, remark.rule, remark.fix) for remark in found] == [
        (("runs", 0, "model"), "price/unknown", "did you mean ab or abc? Else add it to config/models.yml"),
        (("runs", 1, "model"), "price/unknown", "add it to config/models.yml"),
    ]


def test_facts_are_found_by_every_name_of_a_provider() -> None:
    facts = ModelFacts(Price(1.0, 2.0))
    known = Setting("0", {("google", "m"): facts})
    assert known.facts("gemini", "m") == known.facts("google", "m") == facts
    assert known.facts("openai", "m") == ModelFacts()
