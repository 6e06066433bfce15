"""Foreign text (item IDs, error messages, model names) made harmless for Markdown and pages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_MARKUP = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")
_LINE_START = re.compile(r"^(#{1,6}|[-+=]+|\d+[.)])(?=\s|$)")
LONGEST = 400


def clean(text: str) -> str:
    """Return text on one line that can be written as UTF-8 and is shown in reading order.

    Control characters and line ends become spaces; surrogates and direction overrides U+FFFD.
    """
    return "".join(map(_clean_character, text))


def markdown(text: str) -> str:
    """Return foreign text as one line of literal Markdown, also inside a table."""
    line = " ".join(clean(text).split())
    if len(line) > LONGEST:
        line = f"{line[:LONGEST]}…"
    line = _MARKUP.sub(lambda match: f"\\{match.group()}", line)
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _LINE_START.sub(lambda match: f"{match.group()[:-1]}\\{match.group()[-1]}", line)


def table(header: Sequence[str], rows: Iterable[Sequence[str]], numeric: Iterable[int] = ()) -> str:
    """Return a Markdown table of foreign text; `numeric` are the columns that align right."""
    right = set(numeric)
    rule = ["---:" if index in right else "---" for index in range(len(header))]
    lines = [[markdown(text) for text in header], rule, *([markdown(text) for text in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _clean_character(character: str) -> str:
    if character in _BIDI or unicodedata.category(character) == "Cs":
        return "\ufffd"
    return " " if unicodedata.category(character) in {"Cc", "Zl", "Zp"} else character
