"""One page of a site: what of it runs, loads, or is none of what our pages are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from tamesu.base.errors import shown
from tamesu.core.report.evidence import META_NAME
from tamesu.core.report.site_allowed import allowed_attribute, allowed_element, allowed_policy
from tamesu.core.report.site_markup import DOCTYPE, Begin, End, Odd, Text, Token, tokens
from tamesu.core.report.site_style import style_loads
from tamesu.core.report.study.case import script_sources

_LOADING = frozenset(
    {"src", "srcset", "poster", "background", "data", "action", "formaction", "ping", "manifest", "href", "xlink:href"}
)
_EMBEDDING = frozenset({"img", "audio", "video"})
_DATA_BLOCK = "application/json"
_POLICY = "content-security-policy"
_LONGEST = 200  # characters of a value that is told
# What stands before the policy, which holds for what follows it alone and only where it is part of <head>.
_BEFORE: tuple[tuple[str, frozenset[str]], ...] = (
    (DOCTYPE, frozenset()),
    ("html", frozenset({"lang"})),
    ("head", frozenset()),
    ("meta", frozenset({"charset"})),
    ("meta", frozenset({"name", "content"})),
)


@dataclass(slots=True)
class SitePage:
    """What was read of a page: what is wrong with it, its IDs and links, and what every page must have."""

    problems: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    tags: Counter[str] = field(default_factory=Counter)
    policy: bool = False
    language: bool = False
    title: str = ""


def read_page(content: bytes, scripts: Collection[str]) -> SitePage:
    """Return what a page holds; `scripts` are the only ones that may run."""
    reader = _Reader(frozenset(scripts), SitePage())
    try:
        for token in tokens(content.decode("utf-8")):
            reader.take(token)
    except UnicodeDecodeError:
        reader.page.problems.append("is not UTF-8")
    return reader.page


@dataclass(slots=True)
class _Reader:
    """Reads tokens one after another; `begun` counts those before the policy, `drawings` the open ones."""

    scripts: frozenset[str]
    page: SitePage
    drawings: int = 0
    begun: int = 0
    before: bool = True

    def take(self, token: Token) -> None:
        match token:
            case Begin():
                self._begin(token)
            case End(name):
                self.drawings -= name == "svg" and self.drawings > 0
                self.before = False
                if not allowed_element(name, self.drawings > 0):
                    self.page.problems.append(f"holds </{name}>")
            case Odd(begins, line):
                self.before = False
                self.page.problems.append(f"line {line}: holds markup that is none of Tamesu's: {shown(begins)}")
            case Text(content):
                self.before = self.before and not content.strip(" \n\t")

    def _begin(self, tag: Begin) -> None:
        given = dict(tag.attributes)
        drawing = self.drawings > 0
        self.page.tags[tag.name] += 1
        self.drawings += tag.name == "svg"
        self.page.problems += tag.faults
        self._content(tag, given)
        if not allowed_element(tag.name, drawing):
            self.page.problems.append(f"holds <{tag.name}>")
        if "id" in given:
            self.page.ids.append(given["id"])
        for name, value in tag.attributes:
            self.page.problems += _attribute_problems(tag.name, name, value, drawing)
        if tag.name == "a" and "href" in given:
            self.page.links.append(given["href"])
        self._order(tag, given)

    def _content(self, tag: Begin, given: Mapping[str, str]) -> None:
        page = self.page
        page.language = page.language or (tag.name == "html" and bool(given.get("lang")))
        if tag.name == "img" and "alt" not in given:
            page.problems.append("holds a picture without alternative text")
        if tag.name == "style" and style_loads(tag.text):
            page.problems.append("loads something by a style")
        if tag.name == "title" and not self.drawings:
            page.title += tag.text
        if tag.name == "script" and not self._known(tag.text, given):
            page.problems.append("holds a script that is none of Tamesu's")

    def _known(self, script: str, given: Mapping[str, str]) -> bool:
        if given.get("type") == _DATA_BLOCK:
            return "<" not in script
        return not script.strip() or script.strip() in self.scripts

    def _order(self, tag: Begin, given: Mapping[str, str]) -> None:
        """Take note of the policy, which counts when nothing but what must is before it."""
        what = given.get("http-equiv", "").lower() if tag.name == "meta" else ""
        if what == _POLICY:
            wanted = allowed_policy(given.get("content", ""), script_sources(*self.scripts))
            self.page.policy = self.page.policy or (self.before and wanted)
        elif what:
            self.page.problems.append(f"holds <meta http-equiv={shown(what)}>")
        self.before = self.before and _may_precede(tag, given) and (tag.name == DOCTYPE) == (self.begun == 0)
        self.begun += 1


def _may_precede(tag: Begin, given: Mapping[str, str]) -> bool:
    return (tag.name, frozenset(given)) in _BEFORE and given.get("name", META_NAME) == META_NAME


def _attribute_problems(tag: str, name: str, value: str, drawing: bool) -> Iterator[str]:
    said = shown(value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…")
    if name.startswith("on"):
        yield f"runs something by the attribute {shown(name)}"
    elif name in _LOADING and not _loads_nothing(tag, name, value):
        yield f"loads {said} by <{tag} {shown(name)}>"
    elif name == "style" and style_loads(value):
        yield "loads something by a style"
    elif name != "http-equiv" and allowed_element(tag, drawing) and not allowed_attribute(tag, name, value, drawing):
        yield f"holds <{tag} {shown(name)}={said}>, which is none of Tamesu's"


def _loads_nothing(tag: str, name: str, value: str) -> bool:
    if name == "src":
        return tag in _EMBEDDING and value.startswith("data:")
    return name == "href" and tag == "a"  # where it leads is looked at among all pages
