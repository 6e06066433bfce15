"""The browser that other tests drive does what a user's does: keys, clicks, downloads, no network."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser import PageError, browser

PAGE = """<!doctype html><meta charset="utf-8"><title>t</title><style>@media (prefers-color-scheme: dark) { body
{ background: black } }</style><input id="one"><button id="two" onclick="save()">save</button><script>
let keys = []; addEventListener("keydown", (e) => keys.push(e.key));
function save() { const a = document.createElement("a"); a.href = URL.createObjectURL(new Blob(["saved"]));
a.download = "saved.txt"; document.body.append(a); a.click(); }
console.log("hello", 7);</script>"""


def test_a_page_is_opened_operated_and_photographed(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(PAGE)

    with browser() as tab:
        tab.open(page)
        tab.press("Tab")
        tab.press("j")
        tab.press("Enter")
        tab.press("ArrowDown")
        tab.type("é")
        assert tab.evaluate("keys") == ["Tab", "j", "Enter", "ArrowDown"]
        assert tab.evaluate("document.activeElement.id + document.activeElement.value") == "onejé"
        tab.downloads_to(tmp_path / "down")
        tab.click("#two")
        tab.wait_for_download()
        tab.look(390, 600, dark=True)
        assert tab.evaluate("[innerWidth, getComputedStyle(document.body).backgroundColor]") == [390, "rgb(0, 0, 0)"]
        picture = tab.screenshot(tmp_path / "page.png")
        assert "hello 7" in tab.messages

    assert (tmp_path / "down" / "saved.txt").read_text() == "saved"
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_what_a_page_throws_fails_the_test_and_the_network_is_closed(tmp_path: Path) -> None:
    with browser() as tab:
        with pytest.raises(PageError, match="boom"):
            tab.evaluate("(() => { throw new Error('boom') })()")
        with pytest.raises(PageError, match="ERR_PROXY_CONNECTION_FAILED"):
            tab.open("http://example.org/")
        with pytest.raises(PageError, match="no element is #nothing"):
            tab.click("#nothing")
