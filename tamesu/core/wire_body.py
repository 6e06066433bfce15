"""From the body of a request to what may be kept of it: parameters in clear, everything else as digests."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tamesu.base.canonical import Json, digest_bytes

# What people wrote, and what can only be understood as a whole.
_CONTENTS = frozenset(
    {
        "contents", "input", "instructions", "messages", "prompt", "system", "systemInstruction", "system_instruction",
        "toolConfig", "tools", "tools.image_generation",
    }
)  # fmt: skip
_SCHEMAS = frozenset(
    {
        "generationConfig.responseJsonSchema", "generationConfig.responseSchema", "output_config.format",
        "output_format", "response_format", "text.format",
    }
)  # fmt: skip

# Texts at these names are words of the protocol, or the name of the model.
_WORDS = frozenset(
    {
        "cache_control.ttl", "cache_control.type", "effort", "generationConfig.imageConfig.aspectRatio",
        "generationConfig.imageConfig.imageSize", "generationConfig.mediaResolution",
        "generationConfig.responseMimeType", "generationConfig.thinkingConfig.thinkingLevel", "model", "modelId",
        "output_config.effort", "prompt_cache_retention", "prompt_mode", "reasoning.effort", "reasoning.mode",
        "reasoning.summary", "reasoning_effort", "reasoning_format", "service_tier", "text.verbosity",
        "thinking.display", "thinking.type", "tool_choice", "tool_choice.type", "truncation", "verbosity",
    }
)  # fmt: skip
_DIGEST = "sha256:"
# The tool of a provider's own that makes pictures, which is kept apart where a task has tools beside it.
PICTURE_TOOL = "tools.image_generation"


@dataclass(frozen=True, slots=True)
class ReducedBody:
    """`parameters` by dotted name: numbers, truth values and words in clear, other leaves as `sha256:<hex>`."""

    model: str | None
    parameters: Mapping[str, Json]
    contents: Mapping[str, str]


def reduce_body(content: bytes) -> ReducedBody:
    """Return what may be kept of a request's body; one that is no JSON object is a digest as a whole."""
    try:
        body = json.loads(content) if content else {}
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        return ReducedBody(None, {}, {"body": digest_bytes(content)})
    return reduce_fields(body)


def reduce_fields(body: Mapping[str, Json]) -> ReducedBody:
    """Return what may be kept of a request that is at hand as values."""
    parameters: dict[str, Json] = {}
    contents: dict[str, str] = {}
    for name, value in leaves("", body):
        if name in _CONTENTS or name in _SCHEMAS:
            contents[name] = value_digest(value)
        else:
            parameters[name] = reduced_value(name, value)
    model = parameters.pop("model", parameters.pop("modelId", None))
    return ReducedBody(model if isinstance(model, str) else None, parameters, contents)


def reduced_value(name: str, value: Json) -> Json:
    """Return a leaf as it is kept: in clear when it is no text, or a word of the protocol."""
    if value is None or isinstance(value, (bool, int, float)) or (isinstance(value, str) and name in _WORDS):
        return value
    return _DIGEST + value_digest(value)


def flat(name: str, value: Json) -> dict[str, Json]:
    """Return a declared value under its name as it would be kept of a request."""
    return {leaf: reduced_value(leaf, found) for leaf, found in leaves(name, value)}


def value_digest(value: Json) -> str:
    """Return the SHA-256 of a value, the same for every order of keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return digest_bytes(text.encode("utf-8", "surrogatepass"))


def leaves(name: str, value: Json | Mapping[str, Json]) -> Iterator[tuple[str, Any]]:
    """Yield what is kept of a body by dotted name, below `name`; contents and schemas are whole."""
    if name == "tools" and isinstance(value, list):
        pictures = [one for one in value if _makes_pictures(one)]
        if 0 < len(pictures) < len(value):
            yield PICTURE_TOOL, pictures
            value = [one for one in value if not _makes_pictures(one)]
    whole = name in _CONTENTS or name in _SCHEMAS
    if isinstance(value, Mapping) and value and not whole:
        for key, below in value.items():
            yield from leaves(f"{name}.{key}" if name else str(key), below)
    elif name:
        yield name, value


def _makes_pictures(tool: Json) -> bool:
    return isinstance(tool, dict) and tool.get("type") == "image_generation"
