"""Markdown that people wrote: an outline that fits its page, links that lead to the web alone, nothing that runs."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamesu.core.report.binding import Analysis, binding_line, written_about
from tamesu.core.report.prose import MOST_PROSE, prose

DIGEST = "0123456789abcdef" * 4
TAGS = {
    *("p", "h3", "h4", "h5", "h6", "ul", "ol", "li", "em", "strong", "code", "pre", "blockquote", "hr", "br", "a"),
    *("div", "table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {"href", "rel", "title", "class", "start", "style", "tabindex", "role", "aria-label"}
PIECES = st.sampled_from(
    [
        *(
            "<",
            ">",
            "script",
            "&#x6a;avascript:",
            "javascript:",
            "](",
            "[",
            "!",
            "`",
            "\n",
            "# ",
            "|",
            "-",
            "* ",
            '"',
            "'",
        ),
        *(
            "http://a.invalid",
            "<img src=x onerror=alert(1)>",
            "<!--",
            "-->",
            "data:text/html,x",
            "\u202e",
            "\ud800",
            "\0",
        ),
    ]
)


class Seen(HTMLParser):
    """The tags, attributes and links of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: dict[str, set[str]] = {}
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, set()).add(value or "")

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)


@given(st.lists(PIECES | st.text(max_size=8), max_size=40))
def test_no_markdown_makes_anything_but_harmless_html(pieces: list[str]) -> None:
    seen = Seen(prose("".join(pieces), 3, "README.md"))
    assert set(seen.tags) <= TAGS
    assert set(seen.attributes) <= ATTRIBUTES
    assert all(re.match(r"https?://|mailto:", link) for link in seen.attributes.get("href", ()))
    assert seen.attributes.get("style", set()) <= {"text-align:left", "text-align:right", "text-align:center"}


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("# Title\n\n## a\n\n#### b\n\n## c\n", ["h3", "h4", "h3"]),
        ("#### deep\n\n# high\n", ["h3", "h3"]),
        ("x\n\n# one\n\n## two\n\n### three\n\n#### four\n\n##### five\n", ["h3", "h4", "h5", "h6", "h6"]),
    ],
)
def test_headings_make_an_outline_below_the_page(text: str, levels: list[str]) -> None:
    assert [tag for tag in Seen(prose(text, 3, "x")).tags if tag.startswith("h")] == levels


def test_links_and_pictures() -> None:
    html = prose("[a](https://a.invalid/x) [b](../b.md) [c](file:///etc/passwd) ![d](https://a.invalid/d.png)", 3, "x")
    assert html == (
        '<p><a href="https://a.invalid/x" rel="noopener noreferrer">a</a> b [c](file:///etc/passwd) [picture: d]</p>\n'
    )


def test_a_long_document_is_cut_and_says_where_the_rest_is() -> None:
    html = prose("a " * MOST_PROSE, 3, "cases/x/README.md")
    assert html.endswith(f"<p><em>{MOST_PROSE:,} more characters in cases/x/README.md</em></p>\n")


def test_an_analysis_names_the_evidence_in_its_first_line_alone() -> None:
    line = binding_line(DIGEST)
    assert written_about(f"{line}\n# Analysis\n") == DIGEST
    assert written_about(f"\ufeff{line}\r\nx") == DIGEST
    for text in ("", "# Analysis\n", f"\n{line}\n", f"x {line}", f"{line} x", line.replace("sha256", "sha1")):
        assert written_about(text) is None, text
    assert "evidence" not in prose(f"{line}\ntext\n", 5, "analysis.md")
    html = prose("text", 5, "analysis.md")
    assert Analysis(html, DIGEST).warning(DIGEST) is None
    assert "0123456789ab" in (Analysis(html, DIGEST).warning("f" * 64) or "")
    assert "does not say" in (Analysis(html, None).warning(DIGEST) or "")
