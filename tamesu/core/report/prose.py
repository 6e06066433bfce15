"""Markdown that people wrote, as HTML that is harmless whatever it says: no HTML in it, no pictures, safe links."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from markupsafe import Markup

from tamesu.core.report.text import clean_lines

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MOST_PROSE = 60_000  # characters of one document
_COMMENT = re.compile(r"^\s*<!--.*?-->[ \t]*\n?", re.DOTALL)


def prose(text: str, level: int, source: str) -> Markup:
    """Return Markdown as HTML whose highest heading is `h<level>` and whose headings skip no level.

    A title that opens the document is left out, since the page has one. What is too long is cut and `source` named.
    Links lead to http, https and mailto addresses alone; other links and pictures become their words.
    """
    shown = clean_lines(text.removeprefix("\ufeff")[:MOST_PROSE])
    left = len(text) - MOST_PROSE
    if left > 0:
        shown += f"\n\n*{left:,} more characters in {source}*"
    parser = _parser()
    tokens = parser.parse(_COMMENT.sub("", shown, count=1))
    tokens = _without_title(tokens)
    _nest_headings(tokens, level)
    for token in tokens:
        if token.children:
            token.children = _harmless(token.children)
    # the tokens hold escaped text alone: raw HTML is off, links and pictures were looked at
    return Markup(parser.renderer.render(tokens, parser.options, {}))


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "typographer": False}).enable("table")
    renderer: Any = parser.renderer
    rules = renderer.rules
    rules["table_open"] = lambda *_: '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>\n'
    rules["table_close"] = lambda *_: "</table></div>\n"
    return parser


def _without_title(tokens: Sequence[Token]) -> list[Token]:
    if tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        return list(tokens[3:])
    return list(tokens)


def _nest_headings(tokens: Sequence[Token], level: int) -> None:
    """Give headings the levels of an outline that begins at `level`; below h6 there is none."""
    above: list[int] = []
    for index, token in enumerate(tokens):
        if token.type != "heading_open":
            continue
        own = int(token.tag[1:])
        while above and above[-1] >= own:
            above.pop()
        above.append(own)
        tag = f"h{min(6, level + len(above) - 1)}"
        token.tag = tokens[index + 2].tag = tag


def _harmless(tokens: Sequence[Token]) -> list[Token]:
    """Return inline tokens in which pictures are words and only safe addresses are links."""
    kept: list[Token] = []
    open_links: list[bool] = []
    for token in tokens:
        if token.type == "image":
            kept.append(_words(token))
        elif token.type == "link_open":
            safe = _is_safe(str(token.attrs.get("href", "")))
            open_links.append(safe)
            if safe:
                token.attrs["rel"] = "noopener noreferrer"
                kept.append(token)
        elif token.type == "link_close":
            if open_links.pop():
                kept.append(token)
        else:
            kept.append(token)
    return kept


def _words(token: Token) -> Token:
    from markdown_it.token import Token as Made

    return Made("text", "", 0, content=f"[picture: {token.content or 'without a description'}]")


def _is_safe(address: str) -> bool:
    try:
        return urlsplit(address).scheme in {"http", "https", "mailto"}
    except ValueError:
        return False
