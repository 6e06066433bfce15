"""Bytes by their classes: a mark for each, in which long runs are found without trying a pattern at every byte."""

from __future__ import annotations

import re
from collections.abc import Mapping

_PRINTABLE = b"\t" + bytes(range(32, 127))


def table(classes: Mapping[bytes, bytes]) -> bytes:
    """Return the table that turns each byte of a class, the values, into its mark, the key; any other byte into `-`."""
    marks = bytearray(b"-" * 256)
    for mark, members in classes.items():
        for member in members:
            marks[member] = mark[0]
    return bytes(marks)


def run_of(unit: bytes, least: int) -> re.Pattern[bytes]:
    """Return the pattern of a run of marks; it begins with a literal, which the engine finds fast."""
    return re.compile(unit * least + b"(?:" + unit + b")*")


READABLE = table({b"p": _PRINTABLE, b"0": b"\0"})
# What is written with one, two or four bytes a character, in both orders.
WIDTHS = (b"p", b"p0", b"0p", b"p000", b"000p")
