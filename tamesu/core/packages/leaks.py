"""Finding secrets in bytes: the values of credentials in any common spelling, and the shapes of issued keys."""

from __future__ import annotations

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from tamesu.base.canonical import digest_bytes
from tamesu.core.packages.marks import READABLE, WIDTHS, run_of
from tamesu.core.packages.shapes import Shape
from tamesu.core.packages.spellings import is_text, unescapings

WINDOW = 4096  # characters; the patterns of keys are not linear in the length of a line
_OVERLAP = 1200  # more than any pattern of a key spans
_CHUNK = 1 << 18
_WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
_RUNS = tuple(run_of(unit, 8) for unit in WIDTHS)


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
    shapes: Sequence[Shape]


def leak(file: str, line: int, kind: str, content: bytes) -> Leak:
    """Return a leak with its ID: 12 hex digits, the same while the file around it is."""
    told = f"{kind}\n{file}\n{line}\n{digest_bytes(content)}"
    return Leak(file, line, kind, digest_bytes(told.encode("utf-8", "surrogateescape"))[:12])


def needle(name: str, value: str) -> Needle:
    """Return how files may spell a value: plain, as JSON, quoted for a URL, hexadecimal, in Base64 at any offset."""
    plain = value.encode("utf-8", "surrogateescape")
    said = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    forms = {form.encode("utf-8", "surrogateescape") for form in said}
    forms |= {value.encode(form, "surrogatepass") for form in _WIDE}
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
    found = set(_values(content, search.needles))
    for strings in _strings(content):
        for text in unescapings(strings.text):
            if text != content:
                found.update((strings.line(line), kind) for line, kind in _values(text, search.needles))
            found.update((strings.line(line), kind) for line, kind in _shapes(text, search.shapes))
    for line, kind in sorted(found):
        yield leak(file, line, kind, content)


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
    """Yield a text as it is, of anything else the runs of ASCII; and the runs of ASCII in UTF-16 and UTF-32."""
    marks = content.translate(READABLE)
    yield _Strings(content) if is_text(content) or _is_utf8(content) else _runs(content, marks, _RUNS[0])
    if b"\0" in content:
        yield from (_runs(content, marks, pattern) for pattern in _RUNS[1:])


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\0" not in content


def _runs(content: bytes, marks: bytes, pattern: re.Pattern[bytes]) -> _Strings:
    found, lines, line, at = [], [], 1, 0
    for match in pattern.finditer(marks):
        line += content.count(b"\n", at, match.start())
        at = match.start()
        found.append(content[at : match.end()].replace(b"\0", b""))
        lines.append(line)
    return _Strings(b"\n".join(found), lines)


def _shapes(content: bytes, shapes: Iterable[Shape]) -> Iterator[tuple[int, str]]:
    """Yield the line and the kind of everything that has the shape of an issued key."""
    for first, piece in _pieces(content):
        small = piece.lower()
        likely = [shape for shape in shapes if shape.may_be_in(small)]
        for start, text in _windows(first, piece) if likely else ():
            for shape in likely:
                for match in shape.pattern.finditer(text):
                    number = start + text.count("\n", 0, match.start())
                    yield number, f"looks like a secret ({shape.kind})"


def _lines(content: bytes, form: bytes) -> Iterator[int]:
    at = content.find(form)
    while at >= 0:
        yield content.count(b"\n", 0, at) + 1
        at = content.find(form, at + len(form))


def _pieces(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield pieces of whole lines and the line each begins at; a line that is longer than one is cut, with overlap."""
    first, at = 1, 0
    while at < len(content):
        end = at + _CHUNK
        border = content.rfind(b"\n", at, end) + 1 if end < len(content) else len(content)
        whole = border > at + _OVERLAP
        yield first, content[at : border if whole else end]
        past = border if whole else end - _OVERLAP
        first += content.count(b"\n", at, past)
        at = past


def _windows(first: int, piece: bytes) -> Iterator[tuple[int, str]]:
    """Yield texts and the lines they begin at: several short lines at once, a long one in pieces that overlap."""
    gathered: list[bytes] = []
    start = first
    for number, line in enumerate(piece.split(b"\n"), first):
        if len(line) <= WINDOW:
            gathered.append(line)
            continue
        if gathered:
            yield start, _text(gathered)
        for at in range(0, len(line), WINDOW - _OVERLAP):
            yield number, line[at : at + WINDOW].decode("latin-1")
        start, gathered = number + 1, []
    if gathered:
        yield start, _text(gathered)


def _text(lines: Iterable[bytes]) -> str:
    return b"\n".join(lines).decode("latin-1")
