"""What the pages of a site are made of: elements and their attributes, as our templates and our Markdown write them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tamesu.core.report.evidence import META_NAME

_EVERYWHERE = frozenset(
    {"aria-current", "aria-label", "aria-labelledby", "class", "hidden", "id", "role", "tabindex", "title"}
)


def _elements(*rows: str) -> Mapping[str, frozenset[str]]:
    """Return elements by name with the attributes of their own, each row of which names both."""
    return {name: frozenset(own) for name, *own in (row.split() for row in rows)}


_HTML = _elements(
    "!doctype", "html lang", "head", "meta charset content http-equiv name", "title", "style", "script type", "body",
    "a download href rel", "article", "audio controls preload src", "blockquote", "br", "button type", "caption",
    "code", "dd", "details open", "div data-book data-pages data-pictures", "dl", "dt", "em", "figcaption", "figure",
    "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "img alt loading src",
    "input autocomplete name placeholder type", "label", "li", "main", "nav", "noscript", "ol start", "option value",
    "p", "pre", "section", "select name", "span", "strong", "summary", "table", "tbody", "td style", "th scope style",
    "thead", "tr", "ul", "video controls preload src", "wbr",
)  # fmt: skip
_DRAWING = _elements(
    "svg viewbox", "circle cx cy r", "line x1 x2 y1 y2", "polygon points transform", "text text-anchor x y", "title"
)
_VALUES: Mapping[tuple[str, str], re.Pattern[str]] = {
    ("meta", "charset"): re.compile("utf-8"),
    ("meta", "name"): re.compile(f"viewport|{META_NAME}"),
    ("input", "type"): re.compile("search"),
    ("button", "type"): re.compile("button"),
    ("td", "style"): re.compile("text-align:(?:left|center|right)"),
    ("th", "style"): re.compile("text-align:(?:left|center|right)"),
}
_DIRECTIVES = frozenset(
    {
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        "img-src data:",
        "media-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    }
)


def allowed_element(name: str, drawing: bool) -> bool:
    """Return whether our pages hold an element; in a drawing (SVG) they hold others than outside of one."""
    return name in (_DRAWING if drawing or name == "svg" else _HTML)


def allowed_attribute(element: str, name: str, value: str, drawing: bool) -> bool:
    """Return whether our pages give an element that attribute with a value of that form."""
    own = (_DRAWING if drawing or element == "svg" else _HTML).get(element, frozenset())
    pattern = _VALUES.get((element, name))
    return (name in own or name in _EVERYWHERE) and (pattern is None or pattern.fullmatch(value) is not None)


def allowed_policy(policy: str, script_sources: str) -> bool:
    """Return whether a content security policy is one of ours: nothing loads, and only `script_sources` run."""
    first, *further = (directive.strip() for directive in policy.split(";"))
    others = _DIRECTIVES | ({f"script-src {script_sources}"} if script_sources else set())
    return first == "default-src 'none'" and all(one in others for one in further if one)
