"""Bytes of a text file to characters: strict UTF-8, without a byte-order mark, lines ended by LF."""

from __future__ import annotations

import codecs
import re

from tamesu.edge.documents.document import Position, fault

# What an escape can bring into a text that no file can carry.
UNCARRIED_CHARACTER = re.compile("[\x00\ud800-\udfff]")


def decode_text(label: str, family: str, content: bytes) -> str:
    """Return the text of a file, its BOM removed and CRLF turned into LF.

    Raises DocumentFault `<family>/encoding`, at the first byte that is not UTF-8 or at the first NUL.
    """
    content = content.removeprefix(codecs.BOM_UTF8)
    try:
        text = content.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8").replace("\r\n", "\n")
        raise fault(
            label,
            position_at(before, len(before)),
            f"{family}/encoding",
            f"the byte 0x{content[error.start]:02x} is not UTF-8",
            "save the file as UTF-8",
        ) from None
    if "\x00" in text:
        raise fault(
            label,
            position_at(text, text.index("\x00")),
            f"{family}/encoding",
            "the file holds a NUL character",
            "remove it; text files hold no NUL",
        )
    return text


def position_at(text: str, offset: int) -> Position:
    """Return the place of a character, given as an offset from 0 into text with LF line ends."""
    line_start = text.rfind("\n", 0, offset) + 1
    return Position(text.count("\n", 0, offset) + 1, offset - line_start + 1)


def shortened(text: str, limit: int = 60) -> str:
    """Return text that fits into a message: one line, at most `limit` characters and a mark."""
    shown = text if len(text) <= limit else text[:limit] + "…"
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in shown)
