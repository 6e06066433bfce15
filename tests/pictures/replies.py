"""Replies with pictures as the endpoints of Google and OpenAI send them, and what they send instead of one."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.pictures.drawn import BROKEN, drawn
from tests.servers.model_server import Received

HttpReply = tuple[int, Mapping[str, str], bytes]


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def http(body: Mapping[str, Any], status: int = 200) -> HttpReply:
    return status, {"content-type": "application/json"}, json.dumps(body).encode()


def gemini(parts: Sequence[Mapping[str, Any]] = (), finish: str = "STOP") -> dict[str, Any]:
    """Return a reply of generateContent; without parts it has no content."""
    candidate: dict[str, Any] = {"finishReason": finish, "index": 0}
    if parts:
        candidate["content"] = {"role": "model", "parts": list(parts)}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 1290, "totalTokenCount": 1300}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-image"}


def inline(content: bytes, media_type: str = "image/png", **more: Any) -> dict[str, Any]:
    return {"inlineData": {"mimeType": media_type, "data": encoded(content)}, **more}


def responses(*output: Mapping[str, Any], tool: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """Return a reply of Responses; `tool` is what it says of the tool that makes pictures."""
    details: dict[str, Any] = {"input_tokens_details": {"cached_tokens": 0}}
    details["output_tokens_details"] = {"reasoning_tokens": 0}
    body = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5", "status": "completed"}
    body |= {"output": list(output), "parallel_tool_calls": False, "tool_choice": "auto", "tools": []}
    body["usage"] = {"input_tokens": 20, "output_tokens": 30, "total_tokens": 50, **details}
    if tool is not None:
        body["tool_usage"] = {"image_gen": dict(tool), "web_search": {"num_requests": 0}}
    return {**body, **more}


def drawing(result: str | None, status: str = "completed") -> dict[str, Any]:
    return {"id": "ig_1", "type": "image_generation_call", "status": status, "result": result}


def message(**content: Any) -> dict[str, Any]:
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [content]}


TOOL = {
    "input_tokens": 15,
    "output_tokens": 4160,
    "total_tokens": 4175,
    "input_tokens_details": {"image_tokens": 0, "text_tokens": 15},
}
SAID = message(type="output_text", text="done", annotations=[])
GOOGLE: Mapping[str, HttpReply] = {
    "picture": http(gemini([{"text": "Here."}, inline(drawn("JPEG"), "image/png")])),
    "two": http(gemini([inline(drawn()), inline(drawn("GIF"), "image/gif")])),
    "interim": http(gemini([inline(drawn("WEBP"), "image/webp", thought=True), inline(drawn())])),
    "only interim": http(gemini([inline(drawn(), thought=True)])),
    "broken": http(gemini([inline(BROKEN)])),
    "safety": http(gemini(finish="IMAGE_SAFETY")),
    "no image": http(gemini(finish="NO_IMAGE")),
    "blocked": http({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "modelVersion": "gemini-image",
                     "usageMetadata": {"promptTokenCount": 10, "totalTokenCount": 10}}),
}  # fmt: skip
OPENAI: Mapping[str, HttpReply] = {
    "picture": http(responses(drawing(encoded(drawn("WEBP"))), SAID, tool=TOOL)),
    "unstated": http(responses(drawing(encoded(drawn())))),
    "no base64": http(responses(drawing("no picture at all"), tool=TOOL)),
    "url": http(responses(drawing("https://pictures.invalid/1.png"), tool=TOOL)),
    "failed": http(responses(drawing(None, "failed"), SAID, tool=TOOL)),
    "words": http(responses(SAID)),
    "refusal": http(responses(message(type="refusal", refusal="I will not."))),
    "moderation": http({"error": {"message": "Your request was rejected by the safety system.", "param": None,
                                  "type": "image_generation_user_error", "code": "moderation_blocked"}}, 400),
    "policy": http({"error": {"message": "not allowed", "type": "invalid_request_error", "param": None,
                              "code": "content_policy_violation"}}, 400),
    "wrong size": http({"error": {"message": "Invalid size", "type": "invalid_request_error", "param": "size",
                                  "code": "invalid_value"}}, 400),
}  # fmt: skip


def sent_pictures(received: Received) -> list[str]:
    """Return the pictures in a request as base64, in their order, whichever of both endpoints it went to."""
    body = json.loads(json.dumps(received.body))
    if "contents" in body:
        parts = [part for content in body["contents"] for part in content["parts"]]
        data = [(part.get("inlineData") or part.get("inline_data") or {}).get("data") for part in parts]
        return [one.replace("-", "+").replace("_", "/") for one in data if one]
    parts = [part for one in body["input"] if isinstance(one.get("content"), list) for part in one["content"]]
    return [part["image_url"].partition("base64,")[2] for part in parts if part["type"] == "input_image"]
