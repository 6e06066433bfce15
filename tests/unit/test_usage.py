"""Token counts of every provider in the one normal form, from its own block and from what Inspect makes of it."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import inspect_ai
import pytest
from anthropic.types import Message
from inspect_ai.model import ModelUsage
from inspect_ai.model._openai import model_output_from_openai
from inspect_ai.model._openai_responses import model_usage_from_response_usage
from inspect_ai.model._providers.anthropic import model_output_from_message
from inspect_ai.model._providers.bedrock import ConverseResponse, model_output_from_response
from openai.types.chat import ChatCompletion
from openai.types.responses import ResponseUsage

from tamesu.base.errors import ImpossibleUsage
from tamesu.base.model.evidence import Usage
from tamesu.base.model.plan import Price
from tamesu.core.pricing import usage_cost
from tamesu.core.usage import total_usage
from tamesu.edge.providers.usage import model_usage
from tests.usage_conventions import (
    anthropic,
    bedrock_converse,
    google,
    mistral,
    openai_chat,
    openai_responses,
    xai,
)

PROVIDERS = Path(inspect_ai.__file__).parent / "model" / "_providers"
PRICE = Price(input=2.00, output=8.00, cache_read=0.20, cache_write=2.00)

CHAT = {
    "prompt_tokens": 10000,
    "completion_tokens": 500,
    "total_tokens": 10500,
    "prompt_tokens_details": {"cached_tokens": 8000, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 300},
}
CHAT_WRITE = {**CHAT, "prompt_tokens_details": {"cached_tokens": 7000, "cache_write_tokens": 1000}}
CHAT_APART = {**CHAT, "completion_tokens": 200}
PLAIN = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
RESPONSES = {
    "input_tokens": 10000,
    "output_tokens": 500,
    "total_tokens": 10500,
    "input_tokens_details": {"cached_tokens": 8000, "cache_write_tokens": 0},
    "output_tokens_details": {"reasoning_tokens": 300},
}
MESSAGES = {
    "input_tokens": 2000,
    "cache_read_input_tokens": 8000,
    "cache_creation_input_tokens": 400,
    "output_tokens": 500,
}
CONVERSE = {
    "inputTokens": 2000,
    "outputTokens": 500,
    "totalTokens": 10900,
    "cacheReadInputTokens": 8000,
    "cacheWriteInputTokens": 400,
}
GEMINI = {
    "promptTokenCount": 10000,
    "cachedContentTokenCount": 8000,
    "candidatesTokenCount": 200,
    "thoughtsTokenCount": 300,
    "toolUsePromptTokenCount": 50,
    "totalTokenCount": 10550,
}
GROK = {
    "prompt_tokens": 10000,
    "cached_prompt_text_tokens": 8000,
    "completion_tokens": 200,
    "reasoning_tokens": 300,
    "total_tokens": 10500,
}
MISTRAL = {"prompt_tokens": 2000, "completion_tokens": 500, "total_tokens": 2600, "connector_tokens": 100}

NORMAL = Usage(input=2000, output=500, cache_read=8000, reasoning=300, total=10500)


class TestC27:
    """Cached input is charged once, and never taken from a count that does not contain it."""

    def test_both_conventions_cost_the_same(self) -> None:
        inclusive = openai_chat(CHAT)
        exclusive = anthropic({"input_tokens": 2000, "cache_read_input_tokens": 8000, "output_tokens": 500})
        assert usage_cost(inclusive, PRICE) == 0.0096
        assert usage_cost(exclusive, PRICE) == 0.0096

    def test_both_cost_the_same_through_inspect(self) -> None:
        inclusive = model_usage("openai/m", inspect_chat(CHAT))
        exclusive = model_usage("anthropic/m", ModelUsage(input_tokens=2000, output_tokens=500, total_tokens=10500,
                                                          input_tokens_cache_read=8000))  # fmt: skip
        assert usage_cost(inclusive, PRICE) == 0.0096
        assert usage_cost(exclusive, PRICE) == 0.0096


@pytest.mark.parametrize(
    ("convention", "block", "usage"),
    [
        pytest.param(openai_chat, CHAT, NORMAL, id="chat"),
        pytest.param(openai_chat, CHAT_WRITE, Usage(2000, 500, 7000, 1000, 300, 10500), id="chat-cache-write"),
        pytest.param(openai_chat, CHAT_APART, NORMAL, id="chat-with-reasoning-apart"),
        pytest.param(openai_chat, {"prompt_tokens": 7, "completion_tokens": 3}, Usage(7, 3), id="chat-bare"),
        pytest.param(
            openai_chat,
            {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": None},
            Usage(7, 3),
            id="chat-null-details",
        ),
        pytest.param(openai_responses, RESPONSES, NORMAL, id="responses"),
        pytest.param(anthropic, MESSAGES, Usage(2000, 500, 8000, 400, 0, 10900), id="messages"),
        pytest.param(
            anthropic,
            {**MESSAGES, "cache_read_input_tokens": None, "output_tokens_details": {"thinking_tokens": 80}},
            Usage(2000, 500, 0, 400, 80, 2900),
            id="messages-thinking",
        ),
        pytest.param(bedrock_converse, CONVERSE, Usage(2000, 500, 8000, 400, 0, 10900), id="converse"),
        pytest.param(google, GEMINI, Usage(2050, 500, 8000, 0, 300, 10550), id="gemini"),
        pytest.param(google, {"promptTokenCount": 9, "totalTokenCount": 9}, Usage(9, total=9), id="gemini-blocked"),
        pytest.param(mistral, MISTRAL, Usage(2100, 500, total=2600), id="mistral"),
        pytest.param(xai, GROK, NORMAL, id="grok-grpc"),
        pytest.param(xai, CHAT_APART, NORMAL, id="grok-http"),
        pytest.param(xai, CHAT, NORMAL, id="grok-total-says-reasoning-is-in"),
    ],
)
def test_a_recorded_block_in_normal_form(convention: Any, block: dict[str, Any], usage: Usage) -> None:
    assert convention(block) == usage


# --- Inspect's own conversion, then ours -----------------------------------------------------------------------


def inspect_chat(block: dict[str, Any]) -> ModelUsage:
    message = {"role": "assistant", "content": "x"}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    completion = ChatCompletion.model_validate(
        {"id": "1", "created": 0, "model": "m", "object": "chat.completion", "choices": [choice], "usage": block}
    )
    usage = model_output_from_openai(completion, []).usage
    assert usage is not None
    return usage


def inspect_responses(block: dict[str, Any]) -> ModelUsage:
    usage = model_usage_from_response_usage(ResponseUsage.model_validate(block))
    assert usage is not None
    return usage


def inspect_messages(block: dict[str, Any]) -> ModelUsage:
    message = Message.model_validate(
        {
            "id": "1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": "x"}], "usage": block,
        }
    )  # fmt: skip
    output, _ = asyncio.run(model_output_from_message(None, "m", message, []))
    assert output.usage is not None
    return output.usage


def inspect_converse(block: dict[str, Any]) -> ModelUsage:
    message = {"role": "assistant", "content": [{"text": "x"}]}
    response = ConverseResponse.model_validate(
        {"output": {"message": message}, "stopReason": "end_turn", "usage": block, "metrics": {"latencyMs": 1}}
    )
    usage = model_output_from_response("m", response, []).usage
    assert usage is not None
    return usage


def inspect_function(module: str, name: str) -> Callable[..., ModelUsage]:
    """One function of a provider whose SDK is not installed, taken out of its module."""
    tree = ast.parse((PROVIDERS / f"{module}.py").read_text())
    (found,) = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name]
    found.returns = None
    for argument in found.args.args:
        argument.annotation = None
    names: dict[str, Any] = {"ModelUsage": ModelUsage}
    exec(compile(ast.Module([found], []), module, "exec"), names)
    function: Callable[..., ModelUsage] = names[name]
    return function


def inspect_gemini(block: dict[str, Any]) -> ModelUsage:
    metadata = SimpleNamespace(
        prompt_token_count=block["promptTokenCount"],
        cached_content_token_count=block["cachedContentTokenCount"],
        candidates_token_count=block["candidatesTokenCount"],
        thoughts_token_count=block["thoughtsTokenCount"],
        tool_use_prompt_token_count=block["toolUsePromptTokenCount"],
        total_token_count=block["totalTokenCount"],
    )
    return inspect_function("google", "usage_metadata_to_model_usage")(metadata)


def inspect_grok(block: dict[str, Any]) -> ModelUsage:
    return inspect_function("grok", "_model_usage_from_sampling_usage")(SimpleNamespace(**block))


def inspect_mistral(block: dict[str, Any]) -> ModelUsage:
    """The one expression of the provider that builds its usage."""
    tree = ast.parse((PROVIDERS / "mistral.py").read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    (call,) = [node for node in calls if isinstance(node.func, ast.Name) and node.func.id == "ModelUsage"]
    completion = SimpleNamespace(usage=SimpleNamespace(**block))
    made: ModelUsage = eval(
        compile(ast.Expression(call), "mistral", "eval"), {"ModelUsage": ModelUsage, "completion": completion}
    )
    return made


@pytest.mark.parametrize(
    ("model", "through", "convention", "block"),
    [
        pytest.param("openai/m", inspect_chat, openai_chat, CHAT, id="openai-chat"),
        pytest.param("openai-api/service/m", inspect_chat, openai_chat, CHAT_APART, id="compatible-apart"),
        pytest.param("openrouter/a/m", inspect_chat, openai_chat, CHAT_WRITE, id="openrouter"),
        pytest.param("vllm/a/m", inspect_chat, openai_chat, PLAIN, id="vllm"),
        pytest.param("meta/m", inspect_responses, openai_responses, RESPONSES, id="meta"),
        pytest.param("openai/m", inspect_responses, openai_responses, RESPONSES, id="openai-responses"),
        pytest.param("anthropic/m", inspect_messages, anthropic, MESSAGES, id="anthropic"),
        pytest.param("bedrock/m", inspect_converse, bedrock_converse, CONVERSE, id="bedrock"),
        pytest.param("google/m", inspect_gemini, google, GEMINI, id="google"),
        pytest.param("grok/m", inspect_grok, xai, GROK, id="grok"),
        pytest.param("mistral/m", inspect_mistral, mistral, MISTRAL, id="mistral"),
    ],
)
def test_what_inspect_records_is_the_same_as_the_block(
    model: str, through: Any, convention: Any, block: dict[str, Any]
) -> None:
    assert model_usage(model, through(block)) == convention(block)


def test_what_inspect_leaves_out() -> None:
    """The corrections of `from_inspect` rest on these; when one turns, it has become wrong or needless."""
    assert inspect_grok(GROK).output_tokens == 200  # without 300 of reasoning
    assert inspect_gemini(GEMINI).output_tokens == 500  # with thoughts
    assert inspect_gemini(GEMINI).input_tokens == 2000  # without 50 of tool results
    assert inspect_mistral(MISTRAL).input_tokens == 2000  # without 100 of connectors
    assert inspect_chat(CHAT_APART).output_tokens == 200  # as the service said
    assert inspect_messages(MESSAGES).input_tokens == 2000
    assert inspect_responses(RESPONSES).input_tokens == 2000


# --- what cannot be --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "usage"),
    [
        # 100 prompt tokens, 300 cached: Inspect subtracts
        ("openai/m", ModelUsage(input_tokens=-200, output_tokens=5, total_tokens=105, input_tokens_cache_read=300)),
        # Inspect holds Google's at 0; the total tells
        ("google/m", ModelUsage(input_tokens=0, output_tokens=5, total_tokens=105, input_tokens_cache_read=300)),
        ("grok/m", ModelUsage(input_tokens=5, output_tokens=-5, total_tokens=0)),
        ("anthropic/m", ModelUsage(input_tokens=5, output_tokens=5, input_tokens_cache_write=-1)),
    ],
)
def test_impossible_counts_in_a_log_are_refused(model: str, usage: ModelUsage) -> None:
    with pytest.raises(ImpossibleUsage):
        model_usage(model, usage)


def test_usage_of_several_models_is_summed() -> None:
    assert total_usage([]) == Usage()
    assert total_usage([Usage(1, 2, 3, 4, 1, 10), Usage(10, 20, 30, 40, 5, 100)]) == Usage(11, 22, 33, 44, 6, 110)
