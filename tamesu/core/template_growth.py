"""How large a text the methods and filters of templates would make, told before they make it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from jinja2.exceptions import SecurityError

from tamesu.core.template_meter import meter, printed

LARGEST_NUMBER = 1_000_000  # of an argument that says how wide or how many
_WIDE_FORMAT = re.compile(r"%[^a-zA-Z%]*(?:\*|\d{6,})")
_WIDE_FIELD = re.compile(r"\{[^}]*:[^}]*\d{6,}")
_PERCENT = re.compile(r"%([^a-zA-Z%]*)")
_FIELD = re.compile(r"\{[^{}:]*:([^{}]*)\}")
_WIDTH = re.compile(r"\d{3,5}")
_ESCAPED = 6  # characters that one becomes in JSON, HTML or a URL, about


def check_numbers(*arguments: Any) -> None:
    """Raise SecurityError for a number that asks for too much."""
    if any(isinstance(one, int) and abs(one) > LARGEST_NUMBER for one in arguments):
        raise SecurityError(f"a number above {LARGEST_NUMBER} is too large here")


def formats_too_wide(text: Any) -> bool:
    """Return whether a text with `%` asks for a width that is too large."""
    return isinstance(text, str) and _WIDE_FORMAT.search(text) is not None


def formatted(text: str, values: Any) -> int:
    """Return the most characters that a text takes whose `%` are filled in with values."""
    size = len(text) + _widths(_PERCENT, text)
    if isinstance(values, tuple):
        return size + sum(map(printed, values))
    if isinstance(values, Mapping):
        return size + text.count("%(") * max(map(printed, values.values()), default=0)
    return size + printed(values)


def _widths(fields: re.Pattern[str], text: str) -> int:
    return sum(int(number) for field in fields.findall(text) for number in _WIDTH.findall(field))


def check_method(text: str, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Count what a method of a text would make. Raises SecurityError where that is too much."""
    if name in {"format", "format_map"} and _WIDE_FIELD.search(text):
        raise SecurityError("a width in this format is too large")
    grown = _METHODS.get(name)
    if grown is not None:
        meter().make(grown(text, *args, **kwargs))


def check_filter(name: str, value: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Count what a filter would make of a value. Raises SecurityError where that is too much."""
    if name in {"center", "indent", "batch", "slice", "format", "tojson"}:
        check_numbers(*args, *kwargs.values())
    if name == "format" and formats_too_wide(value):
        raise SecurityError("a width in this format is too large")
    grown = _FILTERS.get(name)
    if grown is not None:
        meter().make(grown(value, *args, **kwargs))


def _replaced(text: Any, old: Any = "", new: Any = "", *_: Any, **named: Any) -> int:
    old, new = named.get("old", old), named.get("new", new)
    return len(str(text)) + str(text).count(str(old)) * len(str(new))


def _joined(between: str, values: Any = (), *_: Any) -> int:
    sizes = [printed(one) for one in values] if isinstance(values, (list, tuple, set, dict, str, range)) else []
    return sum(sizes) + len(between) * len(sizes)


def _filled(text: str, *args: Any, **kwargs: Any) -> int:
    widths = _widths(_FIELD, text)
    return widths + len(text) + text.count("{") * max((printed(one) for one in (*args, *kwargs.values())), default=0)


def _with_tabs(text: str, tabsize: int = 8) -> int:
    return len(text) + text.count("\t") * max(tabsize, 0)


def _translated(text: str, table: Any = None, *_: Any) -> int:
    if isinstance(table, Mapping):
        return len(text) * max((printed(one) for one in table.values()), default=1)
    return len(text) * (max(map(printed, table), default=1) if isinstance(table, (list, tuple)) else 1)


def _indented(text: Any, width: Any = 4, *_: Any, **named: Any) -> int:
    width = named.get("width", width)
    size = len(width) if isinstance(width, str) else max(int(width), 0)
    return len(str(text)) + (len(str(text).splitlines()) + 1) * size


def _listed(value: Any, d: Any = "", *_: Any, **named: Any) -> int:
    return _joined(str(named.get("d", d)), value)


def _as_json(value: Any, indent: Any = None) -> int:
    size = printed(value)
    return size * (_ESCAPED if indent is None else _ESCAPED + int(indent))


def _escaped(value: Any, *_: Any, **__: Any) -> int:
    return printed(value) * _ESCAPED


def _linked(value: Any, *args: Any, **named: Any) -> int:
    extra = sum(printed(one) for one in (*args, *named.values()) if isinstance(one, str))
    return len(str(value)) * 2 + (len(str(value)) // 4) * (extra + 32)


def _wrapped(text: Any, *args: Any, **named: Any) -> int:
    wrapstring = named.get("wrapstring", args[2] if len(args) > 2 else None)
    return len(str(text)) * (1 + len(wrapstring or "\n"))


def _summed(values: Any, *args: Any, **named: Any) -> int:
    start = named.get("start", args[1] if len(args) > 1 else 0)
    if not isinstance(start, (list, tuple, str)) or not isinstance(values, (list, tuple)):
        return 0
    return len(values) * (printed(values) + printed(start))  # each addition copies what came before


_METHODS: Mapping[str, Callable[..., int]] = {
    "expandtabs": _with_tabs,
    "format": _filled,
    "format_map": lambda text, table: _filled(text, *(table.values() if isinstance(table, Mapping) else ())),
    "join": _joined,
    "replace": _replaced,
    "translate": _translated,
}
_FILTERS: Mapping[str, Callable[..., int]] = {
    "e": _escaped,
    "escape": _escaped,
    "forceescape": _escaped,
    "format": lambda text, *args, **kwargs: formatted(str(text), kwargs or args),
    "indent": _indented,
    "join": _listed,
    "pprint": _escaped,
    "replace": _replaced,
    "round": lambda _, precision=0, *__: abs(int(precision)) * 64,  # it raises 10 to it
    "string": lambda value: printed(value),
    "sum": _summed,
    "tojson": _as_json,
    "urlencode": _escaped,
    "urlize": _linked,
    "wordwrap": _wrapped,
    "xmlattr": _escaped,
}
