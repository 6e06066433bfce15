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

# What stays text here and is something else to a parser of YAML 1.1, or to one of 1.2 that allows leading zeros.
_OTHER_WORDS = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON"), "true"),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF"), "false"),
    "=": "the default of a mapping",
    "<<": "a merge key",
}
_NUMBER_STARTS = frozenset("-+.0123456789")
_BASE_60 = re.compile(r"[-+]?[0-9]+(:[0-5]?[0-9])+(\.[0-9]*)?")
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
    r"(([Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(\.[0-9]*)?([ \t]*(Z|[-+][0-9]{1,2}(:?[0-9]{2})?))?)?"
)
_NUMBER_OF_1_2_ONLY = re.compile(r"0o[0-7]+|[-+]?[0-9]+[eE][-+]?[0-9]+|[-+]?[0-9]*\.[0-9]*[eE][0-9]+|[-+]\.[0-9].*")
_NO_DIGITS = re.compile(r"[-+]?0[bx]_+")
_OTHER_NUMBER = re.compile(r"[-+]?(0b[01]+|0o?[0-7]+|0x[0-9a-fA-F]+|(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?)")


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


def other_reading(text: str) -> str | None:
    """Say what other YAML parsers take an unquoted text for, such as `a date`; None where all agree that it is text.

    `text` is a spelling that `resolve_plain` returns as text.
    """
    if text in _OTHER_WORDS:
        return _OTHER_WORDS[text]
    if not text or text[0] not in _NUMBER_STARTS:
        return None
    digits = text.replace("_", "")
    if _OTHER_NUMBER.fullmatch(digits) or _NO_DIGITS.fullmatch(text):
        return "a number"
    if _BASE_60.fullmatch(digits):
        return "a base-60 number"
    return "a date" if _DATE.fullmatch(text) else None


def is_text_elsewhere(literal: str) -> bool:
    """Say whether parsers of YAML 1.1 take an unquoted number for text, as they do `1e5`, `0o17` and `-.5`."""
    return _NUMBER_OF_1_2_ONLY.fullmatch(literal) is not None


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
