"""Which model a reply names: the field differs by protocol, and a stream names it in one of its first events."""

from __future__ import annotations

import json

from tamesu.base.canonical import Json

_NAMES = ("model", "modelVersion")
_WITHIN = ("message", "response")  # Anthropic's message_start, OpenAI's response.created


def served_model(content: bytes) -> str | None:
    """Return the model that the body of a reply names, JSON or server-sent events; None when it names none."""
    whole = _parsed(content)
    if whole is not None:
        return _named(whole)
    for line in content.split(b"\n"):
        if line.startswith(b"data:"):
            found = _named(_parsed(line.removeprefix(b"data:").strip()))
            if found is not None:
                return found
    return None


def _parsed(content: bytes) -> Json:
    try:
        found: Json = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return found


def _named(value: Json) -> str | None:
    if isinstance(value, list):
        return next((found for found in map(_named, value) if found is not None), None)
    if not isinstance(value, dict):
        return None
    for name in _NAMES:
        if isinstance(value.get(name), str) and value[name]:
            return str(value[name])
    return next((found for name in _WITHIN if (found := _named(value.get(name))) is not None), None)
