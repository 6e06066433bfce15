"""The sandbox that prompt templates run in: nothing of Python, no unbounded texts, no null printed as a word."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from jinja2 import StrictUndefined
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

LARGEST_REPEAT = 1_000_000  # elements of one text or list that an operator or a method makes
_LARGEST_POWER_BITS = 10_000
_WIDE_FORMAT = re.compile(r"%[^a-zA-Z%]*(?:\*|\d{6,})")
_WIDE_FIELD = re.compile(r"\{[^}]*:[^}]*\d{6,}")


class NullPrinted(ValueError):
    """A template prints a value that is null."""


class TemplateSandbox(ImmutableSandboxedEnvironment):
    """Jinja2's immutable sandbox, where operators and methods make nothing that is larger than a prompt may be."""

    intercepted_binops = frozenset({"*", "**", "%"})

    def __init__(self) -> None:
        super().__init__(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True, finalize=_printable)
        for name in ("center", "indent"):
            self.filters[name] = _bounded(self.filters[name])

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Apply an operator. Raises SecurityError where the result would be too large."""
        too_large = {"*": _repeats_too_often, "**": _is_too_high, "%": _formats_too_wide}[operator]
        if too_large(left, right):
            raise SecurityError(f"the result of '{operator}' is too large")
        return super().call_binop(context, operator, left, right)

    def call(self, context: Context, obj: Any, *args: Any, **kwargs: Any) -> Any:
        """Call what a template may call. Raises SecurityError for arguments that ask for too large a result."""
        _check_arguments(*args, *kwargs.values())
        text = getattr(obj, "__self__", None)
        if isinstance(text, str) and _WIDE_FIELD.search(text) and obj.__name__.startswith("format"):
            raise SecurityError("a width in this format is too large")
        return super().call(context, obj, *args, **kwargs)


def _printable(value: Any) -> Any:
    if value is None:
        raise NullPrinted("a value that is printed is null")
    return value


def _check_arguments(*arguments: Any) -> None:
    if any(isinstance(one, int) and abs(one) > LARGEST_REPEAT for one in arguments):
        raise SecurityError(f"a number above {LARGEST_REPEAT} is too large here")


def _bounded(make: Callable[..., Any]) -> Callable[..., Any]:
    def filtered(value: Any, *args: Any, **kwargs: Any) -> Any:
        _check_arguments(*args, *kwargs.values())
        return make(value, *args, **kwargs)

    return filtered


def _repeats_too_often(left: Any, right: Any) -> bool:
    pairs = ((left, right), (right, left))
    return any(
        isinstance(many, str | list | tuple) and isinstance(times, int) and len(many) * times > LARGEST_REPEAT
        for many, times in pairs
    )


def _is_too_high(left: Any, right: Any) -> bool:
    return isinstance(left, int) and isinstance(right, int) and left.bit_length() * right > _LARGEST_POWER_BITS


def _formats_too_wide(left: Any, _: Any) -> bool:
    return isinstance(left, str) and _WIDE_FORMAT.search(left) is not None
