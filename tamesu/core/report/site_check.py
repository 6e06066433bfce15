"""What is wrong with the pages of a site: links that lead nowhere, things that run or load, things nobody can use."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from posixpath import dirname, join, normpath
from urllib.parse import SplitResult, unquote, urlsplit

from tamesu.base.errors import shown
from tamesu.core.report.site_page import SitePage, read_page

_LINKS = frozenset({"http", "https", "mailto"})
_UNPLAIN = re.compile(r"[\s\\\x00-\x20\x7f]")  # which browsers leave out of an address, or read as another character


def page_problems(pages: Mapping[str, bytes], scripts: Collection[str], others: Collection[str] = ()) -> Iterator[str]:
    """Yield a line for everything that is wrong with the HTML pages of a site, by their paths in it.

    `others` are the paths of its files that are no pages; a page may link to them.
    """
    read = {path: read_page(content, scripts) for path, content in sorted(pages.items())}
    files = read.keys() | set(others)
    for path, page in read.items():
        found = [*page.problems, *_missing(page), *_dangling(path, page, files, read)]
        yield from (f"{shown(path)}: {problem}" for problem in dict.fromkeys(found))


def _missing(page: SitePage) -> Iterator[str]:
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


def _dangling(path: str, page: SitePage, files: Collection[str], pages: Mapping[str, SitePage]) -> Iterator[str]:
    for link in page.links:
        parts = _split(link)
        if parts is None:
            yield f"links to {shown(link)}, which is no page of the site"
            continue
        if parts.scheme.lower() in _LINKS and (parts.netloc or parts.scheme.lower() == "mailto"):
            continue
        target = path if not parts.path else normpath(join(dirname(path), unquote(parts.path)))
        if parts.scheme or parts.netloc or link.startswith("/"):
            yield f"links to {shown(link)}, which is no page of the site"
        elif target not in files:
            yield f"links to {shown(link)}, which is not there"
        elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
            yield f"links to {shown(link)}, where nothing has that ID"


def _split(link: str) -> SplitResult | None:
    """Return the parts of an address; None of one that browsers read in another way, or that is none."""
    try:
        return None if _UNPLAIN.search(link) else urlsplit(link)
    except ValueError:
        return None
