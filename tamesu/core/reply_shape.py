"""What is wrong with a reply of status 200 before any client reads it: no JSON, an error in disguise, no answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tamesu.base.canonical import Json

# By the end of the path: what holds the answers, and what else may stand there when a filter took them.
_ANSWERS = re.compile(r"/(chat/completions|messages|responses)$|:generateContent$")
_HOLDER = {"chat/completions": "choices", "messages": "content", "responses": "output", None: "candidates"}
_FILTERS = ("prompt_filter_results", "content_filter_results", "promptFeedback")
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class ReplyProblem:
    """Why a reply is no answer, as a class name and in one line."""

    name: Literal["NoJson", "ErrorReply", "NoChoice"]
    text: str


def reply_problem(path: str, content: bytes) -> ReplyProblem | None:
    """Return why the body of a reply with status 200 is no answer; None for an answer or another kind of request."""
    found = _ANSWERS.search(path)
    if found is None or _is_stream(content):
        return None
    body = _parsed(content)
    if not isinstance(body, Mapping):
        return ReplyProblem("NoJson", "the endpoint answered with status 200 and something that is no JSON object")
    if body.get("error"):
        return ReplyProblem(
            "ErrorReply", f"the endpoint answered with status 200 and an error: {_error(body['error'])}"
        )
    if _has_answer(found[1], body):
        return None
    kept = {name: body[name] for name in _FILTERS if body.get(name)}
    details = f": {_short(json.dumps(kept))}" if kept else ""
    return ReplyProblem("NoChoice", f"the provider returned no choice{details}")


def lacks_content(path: str, content: bytes) -> bool:
    """Return whether a chat reply has a message without content, null or absent, which clients make an empty text."""
    found = _ANSWERS.search(path)
    if found is None or found[1] != "chat/completions" or _is_stream(content):
        return False
    body = _parsed(content)
    try:
        message = body["choices"][0]["message"]  # type: ignore[index, call-overload]
        return message.get("content") is None and not message.get("tool_calls")  # type: ignore[union-attr]
    except (LookupError, TypeError, AttributeError):
        return False


def _has_answer(ending: str | None, body: Mapping[str, Any]) -> bool:
    holder = body.get(_HOLDER[ending])
    if ending == "messages" or ending == "responses":
        # an empty list is an empty answer, which its stop reason explains
        return isinstance(holder, list)
    blocked = ending is None and isinstance(body.get("promptFeedback"), Mapping)
    return blocked or (isinstance(holder, list) and bool(holder))


def _is_stream(content: bytes) -> bool:
    return any(line.startswith((b"data:", b"event:")) for line in content[:_LONGEST].split(b"\n"))


def _parsed(content: bytes) -> Json:
    try:
        found: Json = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return found


def _error(error: Any) -> str:
    message, code = (error.get("message"), error.get("code")) if isinstance(error, Mapping) else (error, None)
    if not isinstance(message, str):
        return _short(json.dumps(error))
    return _short(f"{message} ({code})" if isinstance(code, str) and code not in message else message)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
