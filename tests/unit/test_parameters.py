"""Parameters: what each may hold is what Inspect takes, and what is left to the provider is not sent."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

import pytest
from inspect_ai.model import GenerateConfig
from pydantic import ValidationError

from tamesu.core.parameter_values import KINDS, OVERRIDING, PROVIDER_DEFAULT, value_problem
from tamesu.core.parameters import REFUSED, split_parameters

VALID: dict[str, Any] = {
    "best_of": 2, "cache_prompt": "auto", "effort": "low", "extra_body": {"a": 1}, "extra_headers": {"a": "b"},
    "fail_on_refusal": True, "frequency_penalty": -0.5, "internal_tools": False, "logit_bias": {"1": 2.0},
    "logprobs": True, "max_tokens": 1, "max_tool_output": 0, "modalities": ["image"], "parallel_tool_calls": False,
    "presence_penalty": 1, "prompt_logprobs": 20, "reasoning_effort": "minimal", "reasoning_history": "last",
    "reasoning_mode": "pro", "reasoning_summary": "auto", "reasoning_tokens": 0,
    "response_schema": {"name": "x", "json_schema": {"type": "object"}}, "seed": -7, "stop_seqs": ["a"],
    "stream_idle_timeout": 1, "temperature": 0, "top_k": -1, "top_logprobs": 0, "top_p": 1, "verbosity": "high",
}  # fmt: skip
WRONG: dict[str, list[Any]] = {
    "max_tokens": [0, -5, 800.5, "800", True, None],
    "temperature": [-0.1, "hot", True, None],
    "top_p": [1.5, -1],
    "effort": ["hgih", 3],
    "logprobs": [1, "yes"],
    "stop_seqs": ["a"],
    "extra_body": ["a", 1],
    "seed": [1.5, "7"],
    "prompt_logprobs": [0, 21],
}


def literals(annotation: Any) -> set[str]:
    if get_origin(annotation) is Literal:
        return set(get_args(annotation))
    return {value for part in get_args(annotation) for value in literals(part)}


def test_every_kind_has_an_example() -> None:
    assert set(VALID) == set(KINDS)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_what_is_right_here_is_right_for_inspect(name: str) -> None:
    assert value_problem(name, VALID[name]) is None
    assert getattr(GenerateConfig(**{name: VALID[name]}), name) is not None


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_what_is_wrong_is_told(name: str, value: Any) -> None:
    assert value_problem(name, value) == KINDS[name].words


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.choices])
def test_choices_are_those_of_inspect(name: str) -> None:
    assert set(KINDS[name].choices) == literals(GenerateConfig.model_fields[name].annotation)
    with pytest.raises(ValidationError):
        GenerateConfig(**{name: "no such choice"})


def test_no_name_is_both_sent_and_refused() -> None:
    assert not set(KINDS) & {*REFUSED, *OVERRIDING}


def test_what_is_left_to_the_provider_is_not_sent() -> None:
    split = split_parameters({"temperature": PROVIDER_DEFAULT, "max_tokens": 5, "min_p": PROVIDER_DEFAULT, "x": 1})
    assert (dict(split.config), dict(split.extra_body)) == ({"max_tokens": 5}, {"x": 1})
