"""What a provider's own reply says of its pictures and Inspect's form of it does not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tamesu.base.canonical import Json

# Gemini's reasons for a picture that a filter took; Inspect calls each of them unknown.
_FILTERED = frozenset({"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"})
# Codes of OpenAI's errors that say so.
_REFUSED = re.compile(r"\b(moderation_blocked|(image_)?content_policy_violation)\b")


@dataclass(frozen=True, slots=True)
class PictureFacts:
    """`interim` are the places, from 0, of pictures that are part of a model's thinking; `withheld`: a filter's work.

    `by_tool` says that a tool of the provider's made or tried pictures, and `tool_tokens` how many tokens went into it
    and came out, which the usage of the reply does not hold; None when the reply does not say.
    """

    interim: tuple[int, ...] = ()
    withheld: bool = False
    by_tool: bool = False
    tool_tokens: tuple[int, int] | None = None


def picture_facts(response: Json) -> PictureFacts:
    """Return what a reply of Gemini or OpenAI's Responses, as its client writes it, says of its pictures."""
    if not isinstance(response, Mapping):
        return PictureFacts()
    if isinstance(output := response.get("output"), list):
        by_tool = any(isinstance(one, Mapping) and one.get("type") == "image_generation_call" for one in output)
        return PictureFacts(by_tool=by_tool, tool_tokens=_tool_tokens(response) if by_tool else None)
    return _gemini(response.get("candidates"))


def _tool_tokens(response: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return what Responses says beside the usage of a reply about the tool that makes pictures."""
    usage = response.get("tool_usage")
    stated = usage.get("image_gen") if isinstance(usage, Mapping) else None
    counts = [stated.get(name) for name in ("input_tokens", "output_tokens")] if isinstance(stated, Mapping) else []
    known = [count for count in counts if isinstance(count, int) and count >= 0]
    return (known[0], known[1]) if len(known) == len(("input", "output")) else None


def _gemini(candidates: Any) -> PictureFacts:
    first = candidates[0] if isinstance(candidates, list) and candidates else None
    if not isinstance(first, Mapping):
        return PictureFacts()
    thoughts = [part.get("thought") is True for part in _picture_parts(first)]
    interim = tuple(place for place, thought in enumerate(thoughts) if thought)
    return PictureFacts(interim, first.get("finishReason") in _FILTERED)


def _picture_parts(candidate: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    content = candidate.get("content")
    parts = content.get("parts") if isinstance(content, Mapping) else None
    for part in parts if isinstance(parts, list) else ():
        data = part.get("inlineData") if isinstance(part, Mapping) else None
        if isinstance(data, Mapping) and str(data.get("mimeType")).startswith("image/") and data.get("data"):
            yield part


def says_withheld(error: str) -> bool:
    """Return whether the text of a provider's error names a filter as its cause."""
    return _REFUSED.search(error) is not None
