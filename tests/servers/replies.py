"""What a server is asked, what it says, and how the protocols write it down."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Usage:
    """Tokens as a server states them; `reasoning` is part of the output."""

    input: int = 10
    output: int = 5
    reasoning: int = 0


@dataclass(frozen=True)
class Asked:
    """A request for an answer: `number` counts from 1 over the server's life, `tries` those with the same prompt."""

    number: int
    tries: int
    path: str
    body: Mapping[str, Any]
    prompt: str
    model: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    """An answer. `model` None: the one that was asked. `body` replaces everything below the status.

    `silent` says that none comes as long as the server lives, `seconds` how long it takes.
    """

    text: str | None = "4"
    usage: Usage | None = Usage()
    model: str | None = None
    stop: str = "stop"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    seconds: float = 0.0
    silent: bool = False
    tool_call: tuple[str, Mapping[str, Any]] | None = None


_STOPS = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal", "tool_calls": "tool_use"}
_GEMINI_STOPS = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}


def encode(asked: Asked, reply: Reply) -> tuple[bytes, str]:
    """Return the body of a reply and its media type, in the language of the request."""
    if reply.body is not None:
        return reply.body, "application/json"
    model = reply.model or asked.model
    if asked.path.endswith("/chat/completions"):
        return _stream_or_json(asked, _chat(model, reply), _chat_events(model, reply))
    if asked.path.endswith("/responses"):
        whole = _responses(model, reply)
        created = {"type": "response.created", "sequence_number": 0, "response": {**whole, "status": "in_progress"}}
        done = {"type": "response.completed", "sequence_number": 1, "response": whole}
        return _stream_or_json(asked, whole, [created, done])
    if asked.path.endswith("/messages"):
        return _stream_or_json(asked, _message(model, reply), _message_events(model, reply))
    made = _converse(reply) if asked.path.endswith("/converse") else _gemini(model, reply)
    return json.dumps(made).encode(), "application/json"


def _converse(reply: Reply) -> dict[str, Any]:
    usage = reply.usage or Usage(0, 0)
    return {
        "output": {"message": {"role": "assistant", "content": [{"text": reply.text or ""}]}},
        "stopReason": _STOPS[reply.stop],
        "usage": {
            "inputTokens": usage.input,
            "outputTokens": usage.output,
            "totalTokens": usage.input + usage.output,
        },
        "metrics": {"latencyMs": 1},
    }


def _stream_or_json(asked: Asked, whole: dict[str, Any], events: list[dict[str, Any]]) -> tuple[bytes, str]:
    if not asked.body.get("stream"):
        return json.dumps(whole).encode(), "application/json"
    lines = []
    for event in events:
        name = f"event: {event['type']}\n" if "type" in event else ""
        lines.append(f"{name}data: {json.dumps(event)}\n\n")
    end = "data: [DONE]\n\n" if asked.path.endswith("/chat/completions") else ""
    return ("".join(lines) + end).encode(), "text/event-stream"


def _chat_usage(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def _chat_message(reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.tool_call is not None:
        name, arguments = reply.tool_call
        function = {"name": name, "arguments": json.dumps(arguments)}
        message["tool_calls"] = [{"id": "call-1", "type": "function", "function": function}]
    return message


def _chat(model: str, reply: Reply) -> dict[str, Any]:
    stop = "tool_calls" if reply.tool_call is not None else reply.stop
    whole: dict[str, Any] = {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "finish_reason": stop, "message": _chat_message(reply)}],
    }
    if reply.usage is not None:
        whole["usage"] = _chat_usage(reply.usage)
    return whole


def _chat_events(model: str, reply: Reply) -> list[dict[str, Any]]:
    head = {"id": "chat-1", "object": "chat.completion.chunk", "created": 1, "model": model}
    delta = {"role": "assistant", "content": reply.text}
    events: list[dict[str, Any]] = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reply.stop}]},
    ]
    if reply.usage is not None:
        events.append({**head, "choices": [], "usage": _chat_usage(reply.usage)})
    return events


def _responses(model: str, reply: Reply) -> dict[str, Any]:
    content = [{"type": "output_text", "text": reply.text or "", "annotations": []}]
    whole: dict[str, Any] = {
        "id": "resp-1",
        "object": "response",
        "created_at": 1,
        "model": model,
        "status": "incomplete" if reply.stop == "length" else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if reply.stop == "length" else None,
        "output": [{"type": "message", "id": "m-1", "status": "completed", "role": "assistant", "content": content}],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    if reply.usage is not None:
        usage = reply.usage
        whole["usage"] = {
            "input_tokens": usage.input,
            "output_tokens": usage.output,
            "total_tokens": usage.input + usage.output,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        }
    return whole


def _message(model: str, reply: Reply) -> dict[str, Any]:
    usage = reply.usage or Usage(0, 0)
    content: list[dict[str, Any]] = [] if reply.text is None else [{"type": "text", "text": reply.text}]
    if reply.tool_call is not None:
        name, arguments = reply.tool_call
        content.append({"type": "tool_use", "id": "call-1", "name": name, "input": dict(arguments)})
    return {
        "id": "msg-1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": "tool_use" if reply.tool_call is not None else _STOPS[reply.stop],
        "stop_sequence": None,
        "usage": {"input_tokens": usage.input, "output_tokens": usage.output},
    }


def _message_events(model: str, reply: Reply) -> list[dict[str, Any]]:
    whole = _message(model, reply)
    usage = whole["usage"]
    start = {**whole, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    block = {"type": "text", "text": ""}
    delta = {"type": "text_delta", "text": reply.text or ""}
    stop = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    return [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": stop, "usage": {"output_tokens": usage["output_tokens"]}},
        {"type": "message_stop"},
    ]


def _gemini(model: str, reply: Reply) -> dict[str, Any]:
    whole: dict[str, Any] = {
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"text": reply.text or ""}]},
                "finishReason": _GEMINI_STOPS[reply.stop],
                "index": 0,
            }
        ],
        "modelVersion": model,
    }
    if reply.usage is not None:
        usage = reply.usage
        whole["usageMetadata"] = {
            "promptTokenCount": usage.input,
            "candidatesTokenCount": usage.output,
            "totalTokenCount": usage.input + usage.output,
        }
    return whole
