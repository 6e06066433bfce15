"""Finding secrets in bytes: the values of credentials in any common spelling, and the shapes of issued keys."""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from tamesu.base.canonical import digest_bytes

WINDOW = 4096  # characters; the patterns of keys are not linear in the length of a line
_OVERLAP = 1200  # more than any pattern of a key spans
_CHUNK = 1 << 18
_ENCODED = re.compile(
    rb"(?:[A-Za-z0-9+/]{60,80}\r?\n)+[A-Za-z0-9+/]*={0,2}|[A-Za-z0-9+/_-]{32,}={0,2}",
)
_PRINTABLE = bytes(range(32, 127)) + b"\t\r\n"
_ESCAPED = re.compile(rb"\\u00([2-7][0-9a-fA-F])|\\([/\"'\\])")


@dataclass(frozen=True, slots=True, order=True)
class Leak:
    """What must not be published, or could not be looked through; never the secret itself.

    `file` is a path in the archive, with ` > ` before what lies inside a container; `line` counts LF from 1.
    """

    file: str
    line: int
    kind: str
    id: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.kind} [{self.id}]"


@dataclass(frozen=True, slots=True)
class Needle:
    """A credential's value in every spelling that a file may hold, and the name of its variable."""

    name: str
    forms: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for."""

    needles: Sequence[Needle]
    shapes: Sequence[tuple[str, re.Pattern[str]]]


def leak(file: str, line: int, kind: str, content: bytes) -> Leak:
    """Return a leak with its ID: 12 hex digits, the same while the file around it is."""
    told = f"{kind}\n{file}\n{line}\n{digest_bytes(content)}"
    return Leak(file, line, kind, digest_bytes(told.encode("utf-8", "surrogateescape"))[:12])


def needle(name: str, value: str) -> Needle:
    """Return how files may spell a value: plain, as JSON, quoted for a URL, hexadecimal, in Base64 at any offset."""
    plain = value.encode("utf-8", "surrogateescape")
    said = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    forms = {form.encode("utf-8", "surrogateescape") for form in said}
    forms |= {quote(plain, safe="").encode(), plain.hex().encode(), plain.hex().upper().encode()}
    for shift in range(3):
        forms |= {form for form in _base64(plain, shift) if len(form) >= 8}
    return Needle(name, tuple(sorted(forms)))


def _base64(plain: bytes, shift: int) -> tuple[bytes, bytes]:
    """Return the digits of a value in Base64 that depend on it alone when it begins `shift` bytes into a triple."""
    first = (shift * 8 + 5) // 6
    last = ((shift + len(plain)) * 8) // 6
    padded = bytes(shift) + plain + bytes(3)
    return b64encode(padded)[first:last], urlsafe_b64encode(padded)[first:last]


def leaks_in(file: str, content: bytes, search: Search) -> Iterator[Leak]:
    """Yield what a file holds of secrets, each kind once a line; time is linear in the content."""
    found = {place for spelt in _spellings(content) for place in _places(spelt, search)}
    for line, kind in sorted(found):
        yield leak(file, line, kind, content)


def encoded_parts(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the line and the decoded bytes of what may be Base64; most of it is none, and decodes to noise."""
    for match in _ENCODED.finditer(content):
        digits = match.group().translate(bytes.maketrans(b"-_", b"+/"), b"\r\n=")
        digits = digits[: len(digits) - (len(digits) % 4 == 1)]
        yield content.count(b"\n", 0, match.start()) + 1, b64decode(digits + b"=" * (-len(digits) % 4))


def is_text(content: bytes) -> bool:
    """Return whether bytes look like a text, in ASCII or in UTF-16 of it."""
    plain = content.replace(b"\0", b"")
    return len(plain) > 0 and len(plain.translate(None, _PRINTABLE)) * 20 < len(plain)


def _spellings(content: bytes) -> Iterator[bytes]:
    """Yield a content as it is, freed of the zero bytes of UTF-16, and freed of the escapes of JSON, once and twice."""
    yield content
    plain = content
    if b"\0" in content:
        plain = content.replace(b"\0", b"")
        yield plain
    for _ in range(2):
        known, plain = plain, _ESCAPED.sub(_unescaped, plain)
        if plain == known:
            return
        yield plain


def _unescaped(match: re.Match[bytes]) -> bytes:
    return bytes([int(match[1], 16)]) if match[1] else match[2]


def _places(content: bytes, search: Search) -> Iterator[tuple[int, str]]:
    for one in search.needles:
        lines = [line for form in one.forms for line in _lines(content, form)]
        # what is folded to a width is spelt across lines
        if not lines and any(form in content.replace(b"\n", b"").replace(b"\r", b"") for form in one.forms):
            lines = [1]
        for line in lines:
            yield line, f"holds the value of {one.name}"
    for line, text in _windows(content):
        for kind, pattern in search.shapes:
            for match in pattern.finditer(text):
                yield line + text.count("\n", 0, match.start()), f"looks like a secret ({kind})"


def _lines(content: bytes, form: bytes) -> Iterator[int]:
    at = content.find(form)
    while at >= 0:
        yield content.count(b"\n", 0, at) + 1
        at = content.find(form, at + len(form))


def _windows(content: bytes) -> Iterator[tuple[int, str]]:
    """Yield texts and the lines they begin at: several short lines at once, a long one in pieces that overlap."""
    gathered: list[bytes] = []
    first, size = 1, 0
    for number, line in enumerate(content.split(b"\n"), 1):
        if len(line) > WINDOW or size > _CHUNK:
            if gathered:
                yield first, _text(gathered)
            first, gathered, size = number, [], 0
        if len(line) <= WINDOW:
            gathered.append(line)
            size += len(line)
            continue
        for start in range(0, len(line), WINDOW - _OVERLAP):
            yield number, line[start : start + WINDOW].decode("latin-1")
        first = number + 1
    if gathered:
        yield first, _text(gathered)


def _text(lines: Iterable[bytes]) -> str:
    return b"\n".join(lines).decode("latin-1")
