"""What a text reply holds when it has to be JSON: one value and nothing else, or why it is none."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from tamesu.base.canonical import Json

MOST_CHARACTERS = 4_000_000
MOST_DEPTH = 200
_FENCED = re.compile(r"```(?:json|JSON)?[ \t]*\r?\n(?P<body>.*?)\r?\n?```", re.DOTALL)
_OPEN, _CLOSED = "[{", "]}"


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """The JSON value of a reply; `problem` says in one line why there is none, and is None when there is one."""

    value: Json
    problem: str | None = None


def parse_reply(text: str) -> ParsedReply:
    """Return the one JSON value that a reply consists of.

    A code fence around the whole reply is no part of it. Anything else beside the value, a key that appears twice, NaN
    and infinities, and nesting beyond 200 levels make it no JSON here.
    """
    if len(text) > MOST_CHARACTERS:
        return ParsedReply(None, f"the reply is longer than {MOST_CHARACTERS:,} characters")
    body = text.strip().removeprefix("\ufeff")
    fenced = _FENCED.fullmatch(body)
    if fenced is not None:
        body = fenced["body"]
    if not body.strip():
        return ParsedReply(None, "the reply is empty")
    if _depth(body) > MOST_DEPTH:
        return ParsedReply(None, f"the reply is nested beyond {MOST_DEPTH} levels")
    try:
        return ParsedReply(json.loads(body, object_pairs_hook=_object, parse_constant=_no_constant, parse_int=_integer))
    except json.JSONDecodeError as error:
        return ParsedReply(None, f"line {error.lineno}, column {error.colno}: {error.msg}")
    except ValueError as error:
        return ParsedReply(None, str(error))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key '{twice[:80]}' appears twice")
    return found


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def _integer(digits: str) -> int | float:
    """Integers beyond what every reader of JSON keeps exactly are numbers like others."""
    return int(digits) if len(digits) <= 16 else float(digits)


def _depth(text: str) -> int:
    """Return how deep brackets nest outside of strings; the parser has a limit of its own, with another error."""
    depth = deepest = 0
    quoted = escaped = False
    for character in text:
        if quoted:
            quoted = escaped or character != '"'
            escaped = not escaped and character == "\\"
        elif character == '"':
            quoted = True
        elif character in _OPEN:
            depth += 1
            deepest = max(deepest, depth)
        elif character in _CLOSED:
            depth -= 1
    return deepest
