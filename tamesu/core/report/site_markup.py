"""HTML in the one form that every browser reads alike: whole tags, whole attributes, no comments, no `<` in a value.

What is written otherwise is told and not interpreted, since a browser may take it for something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from typing import TypeAlias

DOCTYPE = "!doctype"
RAW = frozenset({"script", "style", "title"})  # whose content a browser takes as text

_TAG_NAME = r"[A-Za-z][A-Za-z0-9]*"
_ATTRIBUTE = r"""[ \n\t]+([A-Za-z][-:A-Za-z0-9]*)(?:=(?:"([^"<>]*)"|'([^'<>]*)'|([^ \n\t"'`=<>]+)))?"""
_BEGIN = re.compile(rf"<({_TAG_NAME})((?:{_ATTRIBUTE})*)[ \n\t]*/?>")
_END = re.compile(rf"</({_TAG_NAME})[ \n\t]*>")
_DOCTYPE = re.compile("<!doctype html>", re.IGNORECASE)
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_REFERENCE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});)")
_MISREAD = re.compile(r"<!--|<script", re.IGNORECASE)  # after which a browser reads a script in other ways
_SHOWN = 40  # characters of what is told


@dataclass(frozen=True, slots=True)
class Begin:
    """A tag that begins an element, in lowercase, with its attributes as a browser decodes them.

    `faults` say what of it is not read alike; `text` is the content of an element that holds text alone.
    """

    name: str
    attributes: tuple[tuple[str, str], ...] = ()
    faults: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class End:
    """A tag that ends an element, in lowercase."""

    name: str


@dataclass(frozen=True, slots=True)
class Text:
    """Text between tags, its references not decoded."""

    content: str


@dataclass(frozen=True, slots=True)
class Odd:
    """The beginning of what is no plain markup, and the line where it stands."""

    begins: str
    line: int


Token: TypeAlias = Begin | End | Text | Odd


def tokens(html: str) -> Iterator[Token]:
    """Yield what a page holds, in order; a doctype is a tag named `!doctype`. Nothing raises.

    Every `<` of it begins a token, but for those in scripts.
    """
    at, drawings = 0, 0
    line, counted = 1, 0
    while at < len(html):
        token, stop = _next(html, at, drawings > 0)
        if isinstance(token, Begin | End) and token.name == "svg":
            drawings = max(0, drawings + (1 if isinstance(token, Begin) else -1))
        if isinstance(token, Odd):
            line, counted = line + html.count("\n", counted, at), at
            token = Odd(token.begins, line)
        yield token
        at = stop


def _next(html: str, at: int, drawing: bool) -> tuple[Token, int]:
    """Return the token there, and where the next begins."""
    if html[at] != "<":
        stop = html.find("<", at)
        stop = len(html) if stop < 0 else stop
        return Text(html[at:stop]), stop
    if found := _END.match(html, at):
        return End(found[1].lower()), found.end()
    if found := _DOCTYPE.match(html, at):
        return Begin(DOCTYPE), found.end()
    if found := _BEGIN.match(html, at):
        return _begin(html, found, drawing)
    return Odd(html[at : at + _SHOWN], 0), at + 1


def _begin(html: str, found: re.Match[str], drawing: bool) -> tuple[Begin, int]:
    name = found[1].lower()
    attributes, faults = _attributes(found[2])
    if name not in RAW or drawing:  # in a drawing a browser reads tags in the three as well
        return Begin(name, attributes, faults), found.end()
    text, stop = _raw(html, found.end(), name)
    return Begin(name, attributes, (*faults, *_misread(name, text)), text), stop


def _raw(html: str, at: int, name: str) -> tuple[str, int]:
    """Return the content of an element that holds text alone, and where its end begins."""
    end = re.compile(f"</{name}(?![A-Za-z0-9])", re.IGNORECASE).search(html, at)
    stop = len(html) if end is None else end.start()
    return html[at:stop], stop


def _misread(name: str, text: str) -> Iterator[str]:
    if ("<" in text) if name != "script" else _MISREAD.search(text):
        yield f"holds a <{name}> with markup in it"


def _attributes(text: str) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    read = []
    faults = []
    for found in _ATTRIBUTES.finditer(text):
        value = found[2] or found[3] or found[4] or ""
        if _REFERENCE.search(value):
            faults.append(f"holds an ambiguous & in the attribute {found[1]}")
        read.append((found[1].lower(), unescape(value)))
    names = [name for name, _ in read]
    faults += [f"holds the attribute {name} twice" for name in dict.fromkeys(names) if names.count(name) > 1]
    return tuple(read), tuple(faults)
