"""What a plain YAML scalar means: the YAML 1.2 core schema, with the spellings of YAML 1.1 kept as text."""

from __future__ import annotations

import math
import re
from typing import TypeAlias

from tamesu.edge.documents.decoding import shortened
from tamesu.edge.documents.document import LARGEST_INTEGER

Scalar: TypeAlias = bool | int | float | str | None

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_DECIMAL = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_OCTAL = re.compile(r"0o[0-7]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
# A leading zero is octal to YAML 1.1 and decimal to 1.2, so such a number stays text.
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_LONGEST_EXACT = 20


class UncarriedNumber(ValueError):
    """A number that JSON cannot carry exactly."""


def resolve_plain(text: str) -> Scalar:
    """Return the value of an unquoted scalar.

    Raises UncarriedNumber for integers of 2**53 and beyond, for infinities and for NaN.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "-+.0123456789":
        return text
    if _DECIMAL.fullmatch(text):
        return _exact(text, 10)
    if _OCTAL.fullmatch(text):
        return _exact(text, 8)
    if _HEXADECIMAL.fullmatch(text):
        return _exact(text, 16)
    if _NOT_FINITE.fullmatch(text):
        raise UncarriedNumber(f"{text} is not a finite number")
    return _finite(text) if _FLOAT.fullmatch(text) else text


def _exact(text: str, base: int) -> int:
    if len(text) <= _LONGEST_EXACT:
        number = int(text, base)
        if abs(number) <= LARGEST_INTEGER:
            return number
    raise UncarriedNumber(f"the integer {shortened(text)} is beyond 2**53")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise UncarriedNumber(f"the number {shortened(text)} is too large")
    return number
