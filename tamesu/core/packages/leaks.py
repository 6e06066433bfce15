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
_RUN = re.compile(rb"[\t\x20-\x7e]{8,}")
_RUN_LE = re.compile(rb"(?:[\t\x20-\x7e]\0){8,}")
_RUN_BE = re.compile(rb"(?:\0[\t\x20-\x7e]){8,}")
_BEHIND = re.compile(r"\(\?<![^)]*\)([A-Za-z]{2,}[-_]?)(?![?*{|])")
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
    forms |= {value.encode(form, "surrogatepass") for form in ("utf-16-le", "utf-16-be")}
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
    found: set[tuple[int, str]] = set()
    for spelt in _unescapings(content):
        found.update(_values(spelt, search.needles))
        for strings in _strings(spelt):
            found.update(_shapes(strings, search.shapes))
    for line, kind in sorted(found):
        yield leak(file, line, kind, content)


def encoded_parts(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the offset and the decoded bytes of what may be Base64; most of it is none, and decodes to noise."""
    for match in _ENCODED.finditer(content):
        digits = match.group().translate(bytes.maketrans(b"-_", b"+/"), b"\r\n=")
        digits = digits[: len(digits) - (len(digits) % 4 == 1)]
        yield match.start(), b64decode(digits + b"=" * (-len(digits) % 4))


def is_text(content: bytes) -> bool:
    """Return whether bytes look like a text, in ASCII or in UTF-16 of it."""
    plain = content.replace(b"\0", b"")
    return len(plain) > 0 and len(plain.translate(None, _PRINTABLE)) * 20 < len(plain)


def _unescapings(content: bytes) -> Iterator[bytes]:
    """Yield a content as it is, and freed of the escapes of JSON, once and twice, where that makes another."""
    yield content
    plain = content
    for _ in range(2 if b"\\" in content else 0):
        known, plain = plain, _ESCAPED.sub(_unescaped, plain)
        if plain == known:
            return
        yield plain


def _unescaped(match: re.Match[bytes]) -> bytes:
    return bytes([int(match[1], 16)]) if match[1] else match[2]


def _values(content: bytes, needles: Iterable[Needle]) -> Iterator[tuple[int, str]]:
    """Yield the line and the kind of every value that a content holds."""
    for one in needles:
        lines = [line for form in one.forms for line in _lines(content, form)]
        # what is folded to a width is spelt across lines
        if not lines and any(form in content.replace(b"\n", b"").replace(b"\r", b"") for form in one.forms):
            lines = [1]
        for line in lines:
            yield line, f"holds the value of {one.name}"


@dataclass(frozen=True, slots=True)
class _Strings:
    """What can be read in a content, and the line that each line of it comes from; None: the same."""

    text: bytes
    lines: Sequence[int] | None = None

    def line(self, number: int) -> int:
        return number if self.lines is None else self.lines[number - 1]


def _strings(content: bytes) -> Iterator[_Strings]:
    """Yield a text as it is, of anything else the runs of ASCII; and the runs of ASCII in UTF-16."""
    yield _Strings(content) if is_text(content) or _is_utf8(content) else _runs(content, _RUN)
    if b"\0" in content:
        yield from (_runs(content, pattern) for pattern in (_RUN_LE, _RUN_BE))


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\0" not in content


def _runs(content: bytes, pattern: re.Pattern[bytes]) -> _Strings:
    found, lines, line, at = [], [], 1, 0
    for match in pattern.finditer(content):
        line += content.count(b"\n", at, match.start())
        at = match.start()
        found.append(match.group().replace(b"\0", b""))
        lines.append(line)
    return _Strings(b"\n".join(found), lines)


def _shapes(strings: _Strings, shapes: Iterable[tuple[str, re.Pattern[str]]]) -> Iterator[tuple[int, str]]:
    """Yield the line and the kind of everything that has the shape of an issued key."""
    gated = [(kind, pattern, _literal(pattern)) for kind, pattern in shapes]
    for first, text in _windows(strings.text):
        for kind, pattern, literal in gated:
            for match in pattern.finditer(text) if literal in text else ():
                number = first + text.count("\n", 0, match.start())
                yield strings.line(number), f"looks like a secret ({kind})"


def _literal(pattern: re.Pattern[str]) -> str:
    """Return what every match begins with behind a look back, which keeps the engine from seeing it; else nothing."""
    found = _BEHIND.match(pattern.pattern)
    return found[1] if found else ""


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
