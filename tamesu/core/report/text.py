"""Foreign text (item IDs, error messages, model names) made harmless for Markdown and pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# control characters and line ends of every kind; what turns the order of reading, or cannot be written at all
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_HARMFUL = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
# line ends stay: what is told to people may have several lines
_OBEYED = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_MARKUP = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")
_LINE_START = re.compile(r"^(#{1,6}|[-+=]+|\d+[.)])(?=\s|$)")
LONGEST = 400


def clean(text: str) -> str:
    """Return text on one line that can be written as UTF-8 and is shown in reading order.

    Control characters and line ends become spaces; surrogates and direction overrides U+FFFD.
    """
    return _HARMFUL.sub("\ufffd", _CONTROLS.sub(" ", text))


def visible(text: str) -> str:
    """Return text of several lines for a terminal, which obeys no character of it: those are shown as `\\uXXXX`."""
    return _OBEYED.sub(lambda match: f"\\u{ord(match.group()):04x}", text.expandtabs(4))


def clean_lines(text: str) -> str:
    """Return text of several lines, each as `clean` leaves it, tabs expanded."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(clean(line.expandtabs(4)) for line in lines)


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
