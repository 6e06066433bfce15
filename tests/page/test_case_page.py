"""The page of a case in a real browser: accessible, quiet, usable with keys, on a phone and with thousands of items."""

from __future__ import annotations

from pathlib import Path

import pytest

from tamesu.core.report.study.case import case_page
from tests.browser import Tab, browser
from tests.casebook import ANALYSIS, judged, measured, page_of, present, study_of
from tests.factories import scored_slot
from tests.projects import ShapesProject

# Everything that a person without a mouse, without good eyes or with a screen reader needs, in one look at the DOM.
FAULTS = """(() => {
  const told = [], all = [...document.querySelectorAll("*")];
  const ids = all.map((one) => one.id).filter(Boolean);
  for (const id of new Set(ids)) if (ids.filter((other) => other === id).length > 1) told.push(`ID twice: ${id}`);
  for (const one of document.images) if (!one.alt.trim()) told.push(`picture without words: ${one.id}`);
  for (const one of document.querySelectorAll("svg")) if (!one.getAttribute("aria-label")) told.push("unnamed plot");
  for (const one of document.querySelectorAll("button, input, select, a[href], summary")) {
    const name = one.getAttribute("aria-label") ?? (one.labels?.[0]?.innerText || one.textContent);
    if (!name.trim()) told.push(`control without a name: ${one.outerHTML.slice(0, 80)}`);
  }
  let above = 0;
  for (const one of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const level = Number(one.tagName[1]);
    if (level > above + 1) told.push(`h${level} after h${above}: ${one.textContent}`);
    above = level;
  }
  if (document.querySelectorAll("h1").length !== 1) told.push("not one h1");
  if (document.querySelectorAll("main").length !== 1) told.push("not one main");
  if (!document.querySelector("nav[aria-label]")) told.push("unnamed table of contents");
  if (document.documentElement.lang !== "en") told.push("language");
  for (const one of document.querySelectorAll("[aria-labelledby]"))
    if (!document.getElementById(one.getAttribute("aria-labelledby"))) told.push(`named by nothing: ${one.className}`);
  for (const one of document.querySelectorAll("a[href^='#']"))
    if (!document.getElementById(one.getAttribute("href").slice(1))) told.push(`leads nowhere: ${one.outerHTML}`);
  for (const one of document.querySelectorAll(".scroll"))
    if (one.tabIndex !== 0 || !one.getAttribute("aria-label")) told.push("a table that keys cannot scroll");
  for (const one of document.querySelectorAll("th")) if (!one.textContent.trim()) told.push("a column without a name");
  return told;
})()"""
# The contrast of every text that is shown, against the nearest ground that is not transparent (WCAG 2.2, 1.4.3).
FAINT = """(() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = (one) => {
    for (; one; one = one.parentElement) {
      const found = rgb(getComputedStyle(one).backgroundColor);
      if (found.length === 3 || found[3] > 0) return found;
    }
    return rgb(getComputedStyle(document.body).backgroundColor);
  };
  const told = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const one = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !one.checkVisibility() || one.closest("script, svg, option")) continue;
    const [a, b] = [light(rgb(getComputedStyle(one).color)), light(ground(one))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) told.add(`${ratio.toFixed(2)} ${one.className} ${walker.currentNode.data.trim().slice(0, 40)}`);
  }
  return [...told];
})()"""
# The items as a tree of names, attributes and words, without what only lays out the source.
ITEMS = """(() => {
  const tree = (one) => one.nodeType === 3 ? one.data
    : [one.tagName, one.className, ...["aria-label", "alt", "src"].map((name) => one.getAttribute(name)), one.open,
       [...one.childNodes].filter((n) => n.nodeType !== 3 || n.data.trim()).map(tree)];
  return [...document.querySelector(".items").children].map(tree);
})()"""
OPEN_ALL = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
CHANGE = "document.querySelector('.controls').dispatchEvent(new Event('change'))"


@pytest.fixture
def shown(banked_shapes: ShapesProject) -> ShapesProject:
    """A case with reviews, judgments and an analysis, and its page."""
    project = judged(banked_shapes)
    mark = f"<!-- evidence: sha256:{measured(project)} -->"
    project.path(ANALYSIS).write_text(f"{mark}\n# Analysis\n\n#### Deep first\n\nA [link](https://example.invalid).\n")
    present(project)
    return project


def test_the_page_is_accessible_quiet_and_fits_a_phone(shown: ShapesProject) -> None:
    with browser() as tab:
        for width, dark in ((1280, False), (390, True)):
            tab.look(width, dark=dark)
            tab.open(page_of(shown))
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
            tab.evaluate(OPEN_ALL)
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
            assert tab.evaluate(FAULTS) == []
            assert tab.evaluate(FAINT) == []
            plots = "[...document.querySelectorAll('.plot')].filter((one) => one.checkVisibility())"
            expected = "wide" if width == 1280 else "narrow"
            assert set(tab.evaluate(f"{plots}.map((one) => one.classList[1])")) == {expected}
        assert tab.messages == []  # no error, and no violation of its own policy
        assert {url.partition(":")[0] for url in tab.requests} == {"file", "data"}
        tab.press("Tab")
        assert tab.evaluate("document.activeElement.textContent") == "Skip to the content"
        assert tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_words_on_a_plot_for_a_phone_are_large_enough(shown: ShapesProject) -> None:
    with browser() as tab:
        tab.look(390)
        tab.open(page_of(shown))
        heights = "[...document.querySelectorAll('.plot.narrow text')].map((one) => one.getBoundingClientRect().height)"
        assert min(height for height in tab.evaluate(heights) if height) >= 11


def test_the_first_page_is_what_the_script_would_draw(shown: ShapesProject) -> None:
    with browser() as tab:
        tab.open(page_of(shown))
        written = tab.evaluate(ITEMS)
        assert len(written) == 3
        tab.evaluate(CHANGE)
        assert tab.evaluate(ITEMS) == written


def test_kinds_of_evidence_stand_apart(shown: ShapesProject) -> None:
    with browser() as tab:
        tab.open(page_of(shown))
        tab.evaluate(OPEN_ALL)
        verdicts = """(() => {
          const words = (one, kind) => one.querySelector(kind).textContent;
          const kind = (one) => [words(one, ".label"), words(one, ".said")];
          const kinds = (item) => [...item.querySelector(".card").querySelectorAll(".verdict")].map(kind);
          const items = [...document.querySelectorAll(".items > details")];
          return items.map((item) => [words(item, ".item-id"), kinds(item), words(item, ".accepted")]);
        })()"""
        found = {item: (dict(kinds), accepted) for item, kinds, accepted in tab.evaluate(verdicts)}
        assert found["red-sun"] == (
            {"Scorers": "passed", "Model judges": "screening only", "Human review": "passed"},
            "accepted",
        )
        assert found["three-stripes"][0]["Human review"] in {"reviewers disagree, to be settled", "nothing to review"}
        details = tab.evaluate("[...document.querySelectorAll('.verdict .detail')].map((one) => one.textContent)")
        assert any("no (object-missing), the sun is <b>not</b> there" in detail for detail in details)
        assert tab.evaluate("document.querySelectorAll('.card b').length") == 0


def thousands(tmp_path: Path, items: int = 120) -> Path:
    """The page of 2 arms over so many items; every tenth fails in the second arm, every fifth scores nothing there."""
    names = [f"item-{number:04d}" for number in range(items)]
    plain = dict.fromkeys(names, 1.0)
    rich = {name: None if at % 10 == 9 else 0.0 if at % 5 == 0 else 1.0 for at, name in enumerate(names)}
    page = tmp_path / "case.html"
    page.write_text(case_page(study_of([scored_slot(plain), scored_slot(rich, arm="rich")])))
    return page


def listed(tab: Tab) -> list[str]:
    found: list[str] = tab.evaluate("[...document.querySelectorAll('.item-id')].map((one) => one.textContent)")
    return found


def told(tab: Tab) -> str:
    return str(tab.evaluate("document.querySelector('.count').textContent"))


def test_many_items_are_paged_and_found_with_the_keyboard(tmp_path: Path) -> None:
    with browser() as tab:
        tab.open(thousands(tmp_path))
        assert told(tab) == "Items 1 to 50 of 120"
        assert listed(tab) == [f"item-{number:04d}" for number in range(50)]
        tab.evaluate("document.querySelector('.next-page').focus()")
        tab.press("Enter")
        assert (told(tab), listed(tab)[0]) == ("Items 51 to 100 of 120", "item-0050")
        tab.press(" ")
        tab.press(" ")  # there is no page after the last
        assert (told(tab), listed(tab)[-1]) == ("Items 101 to 120 of 120", "item-0119")
        assert tab.evaluate("document.activeElement.className") == "next-page"

        tab.evaluate("document.querySelector('[name=text]').focus()")
        tab.type("of item-004")
        tab.wait_for("document.querySelectorAll('.item').length === 10")
        assert told(tab) == "10 that fit, of 120 items"
        tab.evaluate("document.querySelector('[name=text]').value = ''")
        for field, value, number in (("state", "f", 12), ("state", "n", 36), ("arm", "plain", 0)):
            tab.evaluate(f"document.querySelector('[name={field}]').value = '{value}'")
            tab.evaluate(CHANGE)
            assert tab.evaluate("Number(document.querySelector('.count').textContent.split(' ')[0]) || 0") == number
        assert told(tab) == "No item fits"
        tab.evaluate("document.querySelector('[name=state]').value = ''")
        tab.evaluate(CHANGE)
        assert tab.evaluate("document.querySelectorAll('.card').length") == 50
        assert tab.messages == []


def test_without_its_script_the_first_page_is_read_and_the_rest_is_named(tmp_path: Path) -> None:
    with browser() as tab:
        tab.call("Emulation.setScriptExecutionDisabled", value=True)
        tab.open(thousands(tmp_path))
        text = tab.evaluate("document.querySelector('.evidence').innerText")
        assert "The other 70 items are shown by the script of this page, and stand in tables/items.csv." in text
        assert "item-0049" in text and "item-0050" not in text
        assert not tab.evaluate("document.querySelector('.controls').checkVisibility()")


def test_hostile_answers_run_nothing_wherever_they_stand(tmp_path: Path) -> None:
    hostile = "</script><img src=x onerror=alert(1)><!--\u202e${alert(1)}"
    page = tmp_path / "case.html"
    page.write_text(case_page(study_of([scored_slot({hostile: None, "ok": 1.0}, model=hostile, arm=hostile)])))
    with browser() as tab:
        tab.open(page)
        tab.evaluate(CHANGE)
        tab.evaluate(OPEN_ALL)
        assert tab.messages == []
        assert {url.partition(":")[0] for url in tab.requests} == {"file"}
        assert listed(tab) == [hostile.replace("\u202e", "\ufffd"), "ok"]
        assert tab.evaluate("document.images.length") == 0
