"""The scan of a finished archive for secrets, whatever its files are called and however deep they are nested."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

from tamesu.base.errors import shown
from tamesu.core.packages.leaks import Leak, Search, leak, leaks_in
from tamesu.core.packages.spellings import spelt_parts
from tamesu.edge.packages.buried import buried
from tamesu.edge.packages.opening import MOST_BYTES, Closed, Part, opened

_DEEPEST = 8
_INSIDE = " > "
_WITHHELD = "a file whose name is withheld"


def scan_archive(archive: Path, search: Search) -> tuple[Leak, ...]:
    """Return what an archive holds of secrets, and what of it could not be looked through, sorted."""
    found: set[Leak] = set()
    with tarfile.open(archive) as tar:
        for member in tar:
            stream = tar.extractfile(member)
            content = b"" if stream is None else stream.read()
            found.update(scan_file(member.name, content, search))
    return tuple(sorted(found))


def scan_file(name: str, content: bytes, search: Search) -> Iterator[Leak]:
    """Yield what a file of the archive holds of secrets, in its name, its bytes and all that is nested in it."""
    yield from _Nested(search).scan_named("", name, content, 0)


class _Nested:
    """One file with all that is nested in it, which together may expand to a bounded number of bytes."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._left = MOST_BYTES

    def scan_named(self, above: str, name: str, content: bytes, depth: int) -> Iterator[Leak]:
        """Yield the leaks of a file and of its name, which is not repeated when it is one itself."""
        raw = name.encode("utf-8", "surrogateescape")
        told = [replace(one, file=above + _WITHHELD) for one in leaks_in(_WITHHELD, raw, self._search)]
        yield from told
        yield from self.scan(above + (_WITHHELD if told else shown(name)), content, depth)

    def scan(self, file: str, content: bytes, depth: int) -> Iterator[Leak]:
        yield from leaks_in(file, content, self._search)
        if depth >= _DEEPEST:
            yield leak(file, 1, "was not looked through: it is nested too deep", content)
            return
        try:
            for part in chain(opened(content, self._left), buried(content, self._left)):
                yield from self._part(file, part, depth)
        except Closed as error:
            yield leak(file, 1, f"was not looked through: it {shown(str(error))}", content)
        yield from self._spelt(file, content, depth)

    def _spelt(self, file: str, content: bytes, depth: int) -> Iterator[Leak]:
        line, at = 1, 0
        for part in spelt_parts(content):
            line += content.count(b"\n", at, part.start) - content.count(b"\n", part.start, at)
            at = part.start
            yield from self.scan(f"{file}{_INSIDE}{part.how} of line {line}", part.content, depth + 1)

    def _part(self, file: str, part: Part, depth: int) -> Iterator[Leak]:
        self._left -= len(part.content)
        if self._left <= 0:
            raise Closed(f"expands to more than {MOST_BYTES:,} bytes")
        yield from self.scan_named(f"{file}{_INSIDE}", part.name, part.content, depth + 1)
