"""What is wrong with the pages of a site: links that lead nowhere, things that run or load, things nobody can use."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urlsplit

from tamesu.base.errors import shown

_FORBIDDEN = frozenset(
    {"applet", "base", "embed", "form", "frame", "frameset", "iframe", "link", "object", "portal", "template"}
)
_LOADING = frozenset({"src", "srcset", "poster", "background", "data", "action", "formaction", "ping", "manifest"})
_LINKS = frozenset({"http", "https", "mailto"})
_STYLE_LOADS = re.compile(r"@import|url\(\s*['\"]?(?!data:|#)", re.IGNORECASE)
_DATA_BLOCK = "application/json"


@dataclass(slots=True)
class _Page(HTMLParser):
    """One page while it is read; `scripts` are the only ones that may run."""

    scripts: Collection[str]
    problems: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    tags: Counter[str] = field(default_factory=Counter)
    policy: bool = False
    language: bool = False
    title: str = ""
    _inside: str = ""
    _data: bool = False

    def __post_init__(self) -> None:
        HTMLParser.__init__(self, convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags[tag] += 1
        if tag in _FORBIDDEN:
            self.problems.append(f"holds <{tag}>")
        self._inside = tag if tag in ("script", "style", "title") else ""
        self._data = tag == "script" and given.get("type") == _DATA_BLOCK
        self.language = self.language or (tag == "html" and bool(given.get("lang")))
        if tag == "img" and "alt" not in given:
            self.problems.append("holds a picture without alternative text")
        if tag == "meta":
            self._meta(given)
        if "id" in given:
            self.ids.append(given["id"])
        for name, value in given.items():
            self._attribute(tag, name, value)

    def handle_endtag(self, tag: str) -> None:
        if tag == self._inside:
            self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script" and not self._data and data.strip() not in self.scripts:
            self.problems.append("holds a script that is none of Tamesu's")
        elif self._inside == "style" and _STYLE_LOADS.search(data):
            self.problems.append("loads something by a style")
        elif self._inside == "title":
            self.title += data

    def _meta(self, given: Mapping[str, str]) -> None:
        what = given.get("http-equiv", "").lower()
        if what == "content-security-policy":
            self.policy = given.get("content", "").startswith("default-src 'none';")
        elif what:
            self.problems.append(f"holds <meta http-equiv={shown(what)}>")

    def _attribute(self, tag: str, name: str, value: str) -> None:
        scheme = value.strip().partition(":")[0].lower()
        if name.startswith("on"):
            self.problems.append(f"runs something by the attribute {shown(name)}")
        elif name in _LOADING and scheme != "data":
            self.problems.append(f"loads {shown(value)} by <{tag} {shown(name)}>")
        elif name == "style" and _STYLE_LOADS.search(value):
            self.problems.append("loads something by a style")
        elif name in ("href", "xlink:href"):
            if tag == "a" or value.startswith("#"):
                self.links.append(value)
            else:
                self.problems.append(f"loads {shown(value)} by <{tag} {shown(name)}>")


def page_problems(pages: Mapping[str, bytes], scripts: Collection[str], others: Collection[str] = ()) -> Iterator[str]:
    """Yield a line for everything that is wrong with the HTML pages of a site, by their paths in it.

    `others` are the paths of its files that are no pages; a page may link to them.
    """
    read = {path: _read(content, scripts) for path, content in sorted(pages.items())}
    files = read.keys() | set(others)
    for path, page in read.items():
        found = [*page.problems, *_missing(page), *_dangling(path, page, files, read)]
        yield from (f"{shown(path)}: {problem}" for problem in dict.fromkeys(found))


def _read(content: bytes, scripts: Collection[str]) -> _Page:
    page = _Page(scripts)
    try:
        page.feed(content.decode("utf-8"))
        page.close()
    except UnicodeDecodeError:
        page.problems.append("is not UTF-8")
    return page


def _missing(page: _Page) -> Iterator[str]:
    if not page.policy:
        yield "has no policy that forbids to load"
    if not page.language:
        yield "does not say its language"
    if not page.title.strip():
        yield "has no title"
    if page.tags["h1"] != 1:
        yield f"has {page.tags['h1']} main headings, not one"
    for name, count in Counter(page.ids).items():
        if count > 1:
            yield f"has the ID {shown(name)} {count} times"


def _dangling(path: str, page: _Page, files: Collection[str], pages: Mapping[str, _Page]) -> Iterator[str]:
    for link in page.links:
        parts = urlsplit(link)
        if parts.scheme.lower() in _LINKS and (parts.netloc or parts.scheme.lower() == "mailto"):
            continue
        target = path if not parts.path else normpath(join(dirname(path), unquote(parts.path)))
        if parts.scheme or parts.netloc or link.startswith("/"):
            yield f"links to {shown(link)}, which is no page of the site"
        elif target not in files:
            yield f"links to {shown(link)}, which is not there"
        elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
            yield f"links to {shown(link)}, where nothing has that ID"
