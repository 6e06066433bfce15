"""How a declared parameter travels: under which name on the wire, by protocol. Measured with Inspect 0.3.285.

A parameter that a protocol has no name for is not sent, which lint warns of and preflight refuses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tamesu.base.canonical import Json
from tamesu.core.routes import Protocol


@dataclass(frozen=True, slots=True)
class Travel:
    """The way of one parameter.

    `names` are the dotted names on the wire, any of which may carry it; none: it is not sent. `by_body` says that
    Inspect drops it, so that it rides in the request's body as it is. `config` is the field of GenerateConfig that
    carries it when that has another name. `as_whole` says that only its presence can be compared. `local` parameters
    are acted upon by Inspect itself and travel in no body.
    """

    names: tuple[str, ...] = ()
    by_body: bool = False
    config: str | None = None
    as_whole: bool = False
    only_with_tools: bool = False
    local: bool = False


NOT_SENT = Travel()
_LOCAL = Travel(local=True)


def _as(*names: str) -> Travel:
    return Travel(names)


def _body(name: str) -> Travel:
    return Travel((name,), by_body=True)


def _whole(*names: str) -> Travel:
    return Travel(names, as_whole=True)


_EVERYWHERE: Mapping[str, Travel] = {
    "cache_prompt": _LOCAL,
    "extra_headers": _LOCAL,
    "fail_on_refusal": _LOCAL,
    "internal_tools": _LOCAL,
    "max_tool_output": _LOCAL,
    "reasoning_history": _LOCAL,
    "stream_idle_timeout": _LOCAL,
}
_CHAT_EFFORT = ("reasoning_effort", "reasoning.effort")
_CHAT: Mapping[str, Travel] = {
    **_EVERYWHERE,
    "best_of": _body("best_of"),
    "effort": Travel(_CHAT_EFFORT, config="reasoning_effort"),
    "frequency_penalty": _as("frequency_penalty"),
    "logit_bias": _as("logit_bias"),
    "logprobs": _as("logprobs"),
    "max_tokens": _as("max_tokens", "max_completion_tokens"),
    "modalities": _as("modalities"),
    "parallel_tool_calls": Travel(("parallel_tool_calls",), only_with_tools=True),
    "presence_penalty": _as("presence_penalty"),
    "prompt_logprobs": _as("prompt_logprobs"),
    "reasoning_effort": _as(*_CHAT_EFFORT),
    "reasoning_summary": _LOCAL,
    "reasoning_tokens": _as("reasoning.max_tokens"),
    "response_schema": _whole("response_format"),
    "seed": _as("seed"),
    "stop_seqs": _as("stop"),
    "temperature": _as("temperature"),
    "top_k": _body("top_k"),
    "top_logprobs": _as("top_logprobs"),
    "top_p": _as("top_p"),
    "verbosity": _as("verbosity"),
}
_RESPONSES: Mapping[str, Travel] = {
    **_EVERYWHERE,
    "best_of": _body("best_of"),
    "effort": Travel(("reasoning.effort",), config="reasoning_effort"),
    # logprobs would be one of several words in `include`, which is there anyway and tells nothing
    "max_tokens": _as("max_output_tokens"),
    # pictures are made by a tool of the provider's; tools of a task beside it are told apart in the body
    "modalities": _as("tools"),
    "parallel_tool_calls": Travel(("parallel_tool_calls",), only_with_tools=True),
    "reasoning_effort": _as("reasoning.effort"),
    "reasoning_mode": _as("reasoning.mode"),
    "reasoning_summary": _as("reasoning.summary"),
    "response_schema": _whole("text.format"),
    "temperature": _as("temperature"),
    "top_k": _body("top_k"),
    "top_logprobs": _as("top_logprobs"),
    "top_p": _as("top_p"),
    "verbosity": _as("text.verbosity"),
}
_MESSAGES: Mapping[str, Travel] = {
    **_EVERYWHERE,
    "effort": _as("output_config.effort"),
    "max_tokens": _as("max_tokens"),
    "parallel_tool_calls": Travel(("tool_choice.disable_parallel_tool_use",), as_whole=True, only_with_tools=True),
    # which of both carries it depends on the generation of the model
    "reasoning_effort": _whole("output_config.effort", "thinking"),
    "reasoning_summary": _LOCAL,
    "reasoning_tokens": _as("thinking.budget_tokens"),
    "response_schema": _whole("output_format", "output_config.format"),
    "stop_seqs": _as("stop_sequences"),
    "temperature": _body("temperature"),
    "top_k": _body("top_k"),
    "top_p": _body("top_p"),
}

_MISTRAL: Mapping[str, Travel] = {
    **_EVERYWHERE,
    "effort": Travel(("reasoning_effort",), config="reasoning_effort", as_whole=True),
    "max_tokens": _as("max_tokens"),
    "reasoning_effort": _whole("reasoning_effort"),
    "reasoning_summary": _LOCAL,
    "response_schema": _whole("response_format"),
    "seed": _as("random_seed"),
    "temperature": _as("temperature"),
    "top_p": _as("top_p"),
}
_CONFIG = "generationConfig"
_THINKING_CONFIG = f"{_CONFIG}.thinkingConfig"
_GEMINI: Mapping[str, Travel] = {
    **_EVERYWHERE,
    "effort": Travel((_THINKING_CONFIG,), config="reasoning_effort", as_whole=True),
    "frequency_penalty": _as(f"{_CONFIG}.frequencyPenalty"),
    "logprobs": _as(f"{_CONFIG}.responseLogprobs"),
    "max_tokens": _as(f"{_CONFIG}.maxOutputTokens"),
    "modalities": _as(f"{_CONFIG}.responseModalities"),
    "presence_penalty": _as(f"{_CONFIG}.presencePenalty"),
    "reasoning_effort": _whole(_THINKING_CONFIG),
    "reasoning_summary": _LOCAL,
    "reasoning_tokens": _as(f"{_THINKING_CONFIG}.thinkingBudget", f"{_THINKING_CONFIG}.thinking_budget"),
    "response_schema": _whole(f"{_CONFIG}.responseJsonSchema", f"{_CONFIG}.responseSchema"),
    "stop_seqs": _as(f"{_CONFIG}.stopSequences"),
    "temperature": _as(f"{_CONFIG}.temperature"),
    "top_k": _as(f"{_CONFIG}.topK"),
    "top_logprobs": _as(f"{_CONFIG}.logprobs"),
    "top_p": _as(f"{_CONFIG}.topP"),
}

_CONVERSE: Mapping[str, Travel] = {
    **_EVERYWHERE,
    "effort": _whole("additionalModelRequestFields.output_config.effort"),
    "max_tokens": _as("inferenceConfig.maxTokens"),
    "reasoning_summary": _LOCAL,
    "response_schema": _whole("additionalModelRequestFields.output_config"),
    "stop_seqs": _as("inferenceConfig.stopSequences"),
    "temperature": _as("inferenceConfig.temperature"),
    "top_k": _as("additionalModelRequestFields.top_k", "additionalModelRequestFields.inferenceConfig.topK"),
    "top_p": _as("inferenceConfig.topP"),
}
# The call that xAI's client returns; effort has its own words there, and a schema travels beside it.
_GRPC: Mapping[str, Travel] = {
    **_EVERYWHERE,
    "effort": Travel(("reasoning_effort",), config="reasoning_effort", as_whole=True),
    "frequency_penalty": _as("frequency_penalty"),
    "logprobs": _as("logprobs"),
    "max_tokens": _as("max_tokens"),
    "parallel_tool_calls": _as("parallel_tool_calls"),
    "presence_penalty": _as("presence_penalty"),
    "reasoning_effort": _whole("reasoning_effort"),
    "reasoning_summary": _LOCAL,
    "response_schema": _whole("response_format"),
    "seed": _as("seed"),
    "stop_seqs": _as("stop"),
    "temperature": _as("temperature"),
    "top_logprobs": _as("top_logprobs"),
    "top_p": _as("top_p"),
}

WIRE_NAMES: Mapping[Protocol, Mapping[str, Travel]] = {
    Protocol.CHAT: _CHAT,
    Protocol.RESPONSES: _RESPONSES,
    Protocol.MESSAGES: _MESSAGES,
    Protocol.MISTRAL: _MISTRAL,
    Protocol.GEMINI: _GEMINI,
    Protocol.CONVERSE: _CONVERSE,
    Protocol.GRPC: _GRPC,
}

# What the clients add by themselves; a name covers what is below it.
_ADDED: Mapping[Protocol, tuple[str, ...]] = {
    Protocol.CHAT: ("messages", "prompt_cache_key", "stream", "stream_options", "tool_choice", "tools"),
    Protocol.RESPONSES: (
        "include", "input", "instructions", "prompt_cache_key", "store", "stream", "tool_choice", "tools",
    ),
    Protocol.MESSAGES: ("cache_control", "messages", "stream", "system", "tool_choice", "tools"),
    Protocol.CONVERSE: ("additionalModelResponseFieldPaths", "messages", "system", "toolConfig"),
    Protocol.GRPC: ("messages", "metadata", "tool_choice", "tools", "use_encrypted_content"),
    Protocol.MISTRAL: ("messages", "prompt_cache_key", "stream", "tool_choice", "tools"),
    Protocol.GEMINI: (
        "contents", f"{_CONFIG}.responseMimeType", f"{_THINKING_CONFIG}.includeThoughts",
        f"{_THINKING_CONFIG}.include_thoughts", "safetySettings", "systemInstruction", "toolConfig", "tools",
    ),
}  # fmt: skip
_THINKING = ("effort", "reasoning_effort", "reasoning_tokens")


def travel(protocol: Protocol, parameter: str) -> Travel:
    """Return how a field of GenerateConfig travels over a protocol; unlisted ones are not sent."""
    return WIRE_NAMES.get(protocol, {}).get(parameter, NOT_SENT)


def added_by_client(protocol: Protocol, name: str, parameters: Mapping[str, Json]) -> bool:
    """Return whether a provider's client adds a name by itself, given what was declared."""
    if any(name == added or name.startswith(f"{added}.") for added in _ADDED.get(protocol, ())):
        return True
    if protocol is Protocol.CONVERSE:
        # Bedrock wants a bound and Inspect states one; an empty mapping says nothing
        return name == "additionalModelRequestFields" or (
            name == "inferenceConfig.maxTokens" and "max_tokens" not in parameters
        )
    if protocol is not Protocol.MESSAGES:
        return False
    # Anthropic wants a bound and Inspect states one; thinking is how an effort is carried out
    undeclared_bound = name == "max_tokens" and "max_tokens" not in parameters
    return undeclared_bound or (name.startswith("thinking.") and any(field in parameters for field in _THINKING))
