"""Styles that load nothing: only functions and rules that are known to load nothing, and nothing spelled otherwise."""

from __future__ import annotations

import re

# What the styles of our pages need. A style loads by url(), image-set(), src() and whatever is invented next, or by
# @import and @font-face: none of them is here.
_FUNCTIONS = frozenset({"", "calc", "clamp", "max", "min", "minmax", "not", "repeat", "rotate", "translate", "var"})
_RULES = frozenset({"media"})
_FUNCTION = re.compile(r"([-\w]*)\(")
_RULE = re.compile(r"@([-\w]*)")


def style_loads(style: str) -> bool:
    """Return whether a style may load something; a backslash may hide that it does."""
    functions = {found.lower() for found in _FUNCTION.findall(style)}
    rules = {found.lower() for found in _RULE.findall(style)}
    return "\\" in style or bool(functions - _FUNCTIONS or rules - _RULES)
