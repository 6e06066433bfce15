"""`site check` reads a page as browsers do, or says that it cannot: what runs or loads there never passes."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamesu.core.report.page import environment
from tamesu.core.report.prose import prose
from tamesu.core.report.site_allowed import allowed_attribute, allowed_element
from tamesu.core.report.site_check import page_problems
from tamesu.core.report.site_markup import Begin, tokens
from tamesu.core.report.study.case import content_policy, pager_script
from tests.browser import browser
from tests.cli.calling import Caller
from tests.projects import fresh

POLICY = f'<meta http-equiv="Content-Security-Policy" content="{content_policy(pager_script())}">'
HEAD = '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
REST = '<title>A</title></head><body><h1 id="a">A</h1>{}</body></html>'
RAN = "<script>window.ran = 1</script>"
ERROR = "<img src=http://127.0.0.1:9/ onerror='window.ran = 1'>"


def page(body: str = "", before: str = "", policy: str = POLICY) -> str:
    return HEAD + before + policy + REST.replace("{}", body)


def problems(html: str) -> list[str]:
    return list(page_problems({"a.html": html.encode()}, [pager_script()]))


def test_a_page_as_ours_are_made_has_no_problem() -> None:
    assert problems(page()) == []
    assert problems(page(before=f'<meta name="tamesu-evidence" content="sha256:{"0" * 64}">\n')) == []


@pytest.mark.parametrize(
    "body",
    [
        "<!-- a -->",
        "<!-->a",
        "<!--->a",
        "<![CDATA[a]]>",
        "<?a?>",
        "</ a>",
        "<p",
        "<p title='a' 'b'>a</p>",
        '<p title="<img src=http://e>">a</p>',
        "<p/title=a>a</p>",
        f'<xmp><p title="</xmp>{ERROR}"></xmp>',
        f'<title><p id="</title>{ERROR}"></title>',
        f'<textarea><p id="</textarea>{ERROR}"></textarea>',
        f'<noscript><p id="</noscript>{ERROR}"></noscript>',
        f"<style><!--</style>{ERROR}--></style>",
        "<script type='application/json'><!--<script></script>",
        "<script type='application/json'>\"<img src=http://e>\"</script>",
        f"<svg><title><svg></title></svg>{ERROR}",
        f"<svg><style><p>{ERROR}</style></svg>",
        f"<svg><p>{ERROR}</p></svg>",
        f"<svg><svg></svg><script>{pager_script()}</script></svg>",
        f"<script type=module>{RAN}</script>",
        '<script type="speculationrules">{"prefetch": [{"urls": ["a"]}]}</script>',
        '<svg><a><animate attributeName="href" values="javascript:alert(1)"/><text>x</text></a></svg>',
        '<svg><a><set attributeName="href" to="javascript:alert(1)"/><text>x</text></a></svg>',
        '<svg><use href="#a"/></svg>',
        '<math href="javascript:alert(1)">x</math>',
        "<style>p{background:u\\72l(http://e)}</style>",
        '<style>p{background:image-set("http://e" 1x)}</style>',
        '<style>p{background:-webkit-image-set("http://e" 1x)}</style>',
        '<style>p{background:src("http://e")}</style>',
        '<style>@font-face{font-family:a;src:local("a")}</style>',
        '<style>@\\69mport "http://e";</style>',
        "<p style='color:red'>a</p>",
        "<table><tr><td style='background:u&#92;72l(http://e)'></table>",
        "<button form=a formaction='javascript:alert(1)'>a</button>",
        "<input type=image src=http://e>",
        "<a href='a.html' href='b.html'>a</a>",
        "<a href='&#106avascript:alert(1)'>a</a>",
        "<a href='java&#9;script:alert(1)'>a</a>",
        "<a href='https:\\\\e'>a</a>",
        "<a href='http://[e'>a</a>",
        "<a href=#a ping=http://e>a</a>",
        "<img src=' data:image/png;base64,AA' alt='' loading=lazy>",
        "<meta charset='utf-7'>",
        "<meta charset=utf-16>",
        "<meta name=referrer content=unsafe-url>",
        "<template shadowrootmode=open></template>",
        "<xml></xml>",
    ],
)
def test_what_a_browser_might_read_otherwise_is_refused(body: str) -> None:
    assert problems(page(body)) != []


@pytest.mark.parametrize(
    "before",
    ["<!-->", "<!--->", "<p>", "<body>", "</head>", "a", "<title>A</title>", "<noscript></noscript>", "<br>", RAN,
     f"<script>{pager_script()}</script>", "<meta name=viewport content=a>", "<html lang=en>a"],
)  # fmt: skip
def test_a_policy_holds_only_where_nothing_but_what_must_stands_before_it(before: str) -> None:
    assert "a.html: has no policy that forbids to load" in problems(page(before=before))


@pytest.mark.parametrize(
    "content",
    ["default-src *", "script-src 'none'", "default-src 'none'; script-src 'unsafe-inline'",
     "default-src 'none'; img-src *", "default-src 'none'; script-src 'sha256-AAAA'",
     "img-src data:; default-src 'none'"],
)  # fmt: skip
def test_a_policy_that_lets_more_in_is_none(content: str) -> None:
    policy = f'<meta http-equiv="Content-Security-Policy" content="{content}">'
    assert problems(page(policy=policy)) == ["a.html: has no policy that forbids to load"]


def test_what_is_odd_is_told_with_its_line() -> None:
    assert problems(page("a\n<!-- b -->")) == [
        "a.html: line 6: holds markup that is none of Tamesu's: <!-- b --></body></html>"
    ]
    assert problems(page("<p lang=de>")) == ["a.html: holds <p lang=de>, which is none of Tamesu's"]


TRICKS = {
    "a comment that ends at once": page(before=f"<!-->{RAN}<!-- -->"),
    "text in raw text": page(f'<xmp><p title="</xmp>{RAN}"></xmp>', policy=""),
    "an event in a title": page(f'<title><p id="</title>{ERROR}"></title>', policy=""),
    "a style in a drawing": page(f"<svg><style><p>{ERROR}</style></svg>", policy=""),
}


def test_what_runs_in_a_browser_does_not_pass(tmp_path: Path) -> None:
    place = tmp_path / "page.html"
    with browser() as tab:
        for what, html in TRICKS.items():
            place.write_text(html)
            tab.open(place)
            assert tab.wait_for("window.ran") == 1, what
            found = [line for line in problems(html) if "has no policy" not in line]
            assert found != [], what
        place.write_text(page(f'<xmp><p title="</xmp>{RAN}"></xmp>'))
        tab.open(place)  # where a policy is in force, it stops the same
        assert tab.evaluate("window.ran === undefined")


def test_every_element_and_attribute_of_our_templates_is_known() -> None:
    known = 0
    folder = files("tamesu.core.report") / "templates"
    for name in environment().list_templates():
        if name in ("evaluation.html.j2", "live.js", "pager.js") or name.endswith(".css.j2"):
            continue
        source = re.sub(r"<h\{\{.*?\}\}", "<h2", (folder / name).read_text())
        text = re.sub(r"\{\{.*?\}\}", "1", re.sub(r"\{[#%].*?[#%]\}", "", source, flags=re.DOTALL))
        for tag, attributes in re.findall(r"<([a-z][a-z0-9]*)([^<>]*)>", text):
            assert allowed_element(tag, False), (name, tag)
            for attribute in re.findall(r' ([a-z-]+)(?:="[^"]*")?(?=[ >]|$)', attributes):
                if (tag, attribute) not in (
                    ("meta", "name"),
                    ("meta", "charset"),
                    ("input", "type"),
                    ("button", "type"),
                ):
                    assert allowed_attribute(tag, attribute, "", False), (name, tag, attribute)
                known += 1
    assert known > 200


def test_whatever_markdown_becomes_passes() -> None:
    text = (
        "# A\n\n## B\n\n> q\n\n3. a\n4. b\n\n- c\n\n***d*** `e`  \nf\n\n```c++ x\ng\n```\n\n    h\n\n---\n\n"
        '|i|j|\n|:-|-:|\n|k<b>|l|\n\n[m](https://example.org/?a=1&b=2 "n\'><o") <mailto:a@example.org> ![p](q.png)\n'
    )
    assert problems(page(str(prose(text, 2, "README.md")))) == []


PIECES = (
    "<", ">", "/", "!", "-", "--", "'", '"', "=", " ", "\n", "&", "&#58;", "\\", "\x00", "p", "img", "svg", "style",
    "title", "script", "xmp", "noscript", "svg>", "</", "<p>", "<p title=", "<svg>", "</svg>", "<img src=", "onerror=",
    "href=", "<!--", "-->", "<![CDATA[", "]]>", "http://e", "javascript:", "<script>", "</script>", "<title>",
    "</title>", "<style>", "</style>", "url(", ")", "@import", "é",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_no_mixture_of_markup_raises(body: str) -> None:
    assert all(line.startswith("a.html: ") for line in problems(page(body)))


def test_what_passes_is_in_a_browser_what_was_read(tmp_path: Path) -> None:
    """Mixtures that pass, parsed by Chromium: no element, attribute or comment is there that the check did not see."""
    chosen = Random(1)
    bodies = {"".join(chosen.choices(PIECES, k=chosen.randint(1, 5))) for _ in range(20_000)}
    passing = sorted(body for body in bodies if problems(page(body)) == [])
    assert len(passing) > 500
    asked = json.dumps([page(body) for body in passing])
    with browser() as tab:
        read = tab.evaluate(f"{asked}.map({SEEN})")
    for body, seen in zip(passing, read, strict=True):
        tags = [token for token in tokens(page(body)) if isinstance(token, Begin)]
        known = {tag.name for tag in tags} | {name for tag in tags for name, _ in tag.attributes}
        assert set(seen) <= known | {"body", "p", "br"}, body  # `</p>` and `</br>` begin an element as well


SEEN = """html => {
  const walk = node => [node, ...[...node.childNodes].flatMap(walk)];
  const nodes = walk(new DOMParser().parseFromString(html, "text/html")).slice(1);
  return nodes.filter(node => node.nodeType != 3 && node.nodeType != 10)
    .flatMap(node => [node.nodeName.toLowerCase(), ...[...(node.attributes || [])].map(one => one.name.toLowerCase())]);
}"""


def test_a_site_holds_pages_and_packages_alone(tmp_path: Path, call: Caller) -> None:
    drawing = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
    site = tmp_path / "site"
    site.mkdir()
    (site / "a.svg").write_bytes(drawing)
    (site / "site.json").write_text(json.dumps({"files": {"a.svg": sha256(drawing).hexdigest()}}))
    done = call(fresh(tmp_path / "shapes"), "site", "check", str(site))
    assert (done.code, done.out) == (1, "a.svg: is neither a page nor a package\n")
