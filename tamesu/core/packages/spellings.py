"""Other spellings of bytes: escapes, Base64, hexadecimal digits and dumps; all in time linear in the content."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass

from tamesu.core.packages.marks import READABLE, WIDTHS, table

_ENCODED = re.compile(rb"(?:[A-Za-z0-9+/]{60,80}\r?\n)+[A-Za-z0-9+/]*={0,2}|[A-Za-z0-9+/_-]{32,}={0,2}")
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_DIGITS64 = table({b"d": _LETTERS + b"0123456789+/_-"})
_RUN64 = re.compile(b"d" * 32)

_HEX = table({b"h": b"0123456789abcdefABCDEF", b"s": b" :,\t", b"n": b"\r\n", b"x": b"x"})
_DIGITS = re.compile(b"h" * 32 + b"h*(?:n{1,2}hhh*)*")  # folded to lines, perhaps
_DUMPS = (
    re.compile(b"hhshhshhshh(?!h)(?:[sn]{1,3}hh(?!h))*"),
    re.compile(b"hh-hh-hh-hh(?!h)(?:-hh(?!h))*"),
    re.compile(b"hhhhshhhhshhhhshhhh(?!h)(?:s(?:hh){1,2}(?!h))*"),
    re.compile(b"hxhh(?:[sn]{0,3}hxhh){7,}"),
)
_NO_DIGIT = bytes(set(range(256)) - set(b"0123456789abcdefABCDEF"))
_ASIDE = 100  # bytes between two lines of a dump: what they say beside the digits
_FEWEST = 16  # bytes; no key is shorter

_PRINTABLE = bytes(range(32, 127)) + b"\t\r\n"
_READABLE = tuple(unit * _FEWEST for unit in WIDTHS)
_ESCAPED = re.compile(rb"\\u00([2-7][0-9a-fA-F])|\\([/\"'\\])")


@dataclass(frozen=True, slots=True)
class _Escapes:
    """One way to escape bytes by number; `pattern` matches a run and begins with a literal, which is found fast."""

    pattern: re.Pattern[bytes]
    between: bytes
    base: int

    def meant(self, run: re.Match[bytes]) -> bytes:
        """Return what a run means; what would end a line counts as a blank, so that lines stay."""
        numbers = (int(one, self.base) for one in run[0].translate(None, b"xX;").split(self.between)[1:])
        return bytes(32 if number == 10 else min(number, 255) for number in numbers)


def _escapes(one: bytes, between: bytes, base: int) -> _Escapes:
    return _Escapes(re.compile(one + b"(?:" + one + b")*"), between, base)


_FOREIGN = (
    _escapes(rb"\\x[0-9a-fA-F]{2}", b"\\", 16),
    _escapes(rb"%[0-9a-fA-F]{2}", b"%", 16),
    _escapes(rb"\\[0-3][0-7]{2}", b"\\", 8),
    _escapes(rb"&#[xX]0{0,4}[0-9a-fA-F]{1,2};", b"&#", 16),
    _escapes(rb"&#0{0,4}[0-9]{1,3};", b"&#", 10),
)


@dataclass(frozen=True, slots=True)
class Spelt:
    """Bytes that a part of a content spells, how, and where it begins."""

    how: str
    start: int
    content: bytes


def spelt_parts(content: bytes) -> Iterator[Spelt]:
    """Yield what is spelt in Base64 or in hexadecimal digits and can be read; most runs of digits are noise."""
    for how, found in (("Base64", _base64_parts(content)), ("hexadecimal", _hexadecimal_parts(content))):
        yield from (Spelt(how, start, inner) for start, inner in found if is_text(inner) or tells(inner))


def is_text(content: bytes) -> bool:
    """Return whether bytes look like a text, in ASCII or in UTF-16 of it."""
    plain = content.replace(b"\0", b"")
    return len(plain) > 0 and len(plain.translate(None, _PRINTABLE)) * 20 < len(plain)


def tells(content: bytes) -> bool:
    """Return whether bytes hold a run of characters that is long enough for a key, or begin as a container does."""
    marks = content.translate(READABLE)
    return any(run in marks for run in _READABLE) or holds_more(content)


def holds_more(content: bytes) -> bool:
    """Return whether bytes begin as a picture or a container does."""
    begins = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"PK\x03\x04", b"\x1f\x8b", b"RIFF", b"%PDF-", b"BZh", b"\xfd7zXZ")
    return content.startswith(begins) or content[257:262] == b"ustar" or zlib_like(content)


def zlib_like(content: bytes) -> bool:
    """Return whether bytes begin as a zlib stream does."""
    return len(content) > 8 and content[0] == 0x78 and int.from_bytes(content[:2], "big") % 31 == 0


def unescapings(content: bytes) -> Iterator[bytes]:
    """Yield a content as it is, and freed of escapes where that makes another.

    Those of JSON once and twice, and from each of these, once, those of C, of URLs and of HTML.
    """
    plain, known = content, None
    for _ in range(3):
        yield plain
        yield from _foreign(plain)
        known, plain = plain, _ESCAPED.sub(_unescaped, plain) if b"\\" in plain else plain
        if plain == known:
            return


def _foreign(content: bytes) -> Iterator[bytes]:
    plain = content
    for escapes in _FOREIGN:
        plain = escapes.pattern.sub(escapes.meant, plain)
    if plain != content:
        yield plain


def _unescaped(match: re.Match[bytes]) -> bytes:
    return bytes([int(match[1], 16)]) if match[1] else match[2]


def _base64_parts(content: bytes) -> Iterator[tuple[int, bytes]]:
    marks = content.translate(_DIGITS64)
    run = _RUN64.search(marks)
    while run is not None:
        match = _ENCODED.match(content, run.start())
        if match is None:
            return
        digits = match.group().translate(bytes.maketrans(b"-_", b"+/"), b"\r\n=")
        digits = digits[: len(digits) - (len(digits) % 4 == 1)]
        yield match.start(), b64decode(digits + b"=" * (-len(digits) % 4))
        run = _RUN64.search(marks, match.end())


def _hexadecimal_parts(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield what digits mean in pairs, from the first and from the second of each run, and what dumps show."""
    marks = content.translate(_HEX)
    for match in _DIGITS.finditer(marks):
        digits = content[match.start() : match.end()].translate(None, _NO_DIGIT)
        for first in range(2):
            yield match.start(), _pairs(digits[first:])
    for pattern in _DUMPS:
        yield from _dumped(content, marks, pattern)


def _dumped(content: bytes, marks: bytes, pattern: re.Pattern[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the bytes of dumps, whose lines may say the place before the digits and the characters behind them."""
    start, end, digits = 0, -_ASIDE - 1, bytearray()
    for match in pattern.finditer(marks):
        if match.start() - end > _ASIDE or b"\n" not in content[end : match.start()]:
            if len(digits) >= 2 * _FEWEST:
                yield start, _pairs(bytes(digits))
            start, digits = match.start(), bytearray()
        shown = content[match.start() : match.end()].replace(b"0x", b"")
        digits += shown.translate(None, _NO_DIGIT)
        end = match.end()
    if len(digits) >= 2 * _FEWEST:
        yield start, _pairs(bytes(digits))


def _pairs(digits: bytes) -> bytes:
    return bytes.fromhex(digits[: len(digits) & ~1].decode("ascii"))
