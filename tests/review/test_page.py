"""review.html as reviewers use it, in a real browser, from a file, without a network."""

from __future__ import annotations

import base64
import hashlib
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from PIL import Image

from tamesu.base.model.judgement import Answer, ReviewRecord
from tamesu.base.model.manifest import Dimension, Rubric
from tamesu.core.review.pack import Pack, PackEntry, Shown, shown_file, shown_input
from tamesu.core.review.page import island, review_page
from tamesu.edge.documents.responses_reader import read_responses
from tests.browser import Tab, browser

RUBRIC = Rubric(
    "rubrics/r.yml",
    "drawing",
    (
        Dimension("objects", "Is every object there?", ("missing", "hidden")),
        Dimension("constructor", "Is it built well?"),
    ),
    "0" * 64,
    "# Why\nStyle is not judged.",
)
HOSTILE = [
    "</script><script>document.title = 'owned'</script>",
    "<img src=x onerror=\"document.title = 'owned'\">",
    "line\u2028separator\u2029paragraph",
    "\u202eright to left\u202c and \u2066isolated",
    "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 \ud800 lone",
    "<!-- --> ]]> ${1} {{ 7 * 7 }} &lt; \\u003c",
    "x" * 100_000,
    "\x00\x07\x1b[31m\x7f\x85\ufeff",
]


def picture(colour: tuple[int, ...], size: tuple[int, int] = (300, 200)) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB" if len(colour) == 3 else "RGBA", size, colour).save(buffer, "PNG")
    return buffer.getvalue()


def entry(number: int, *outputs: Shown, text: str = "A scene.", earlier: tuple[ReviewRecord, ...] = ()) -> PackEntry:
    shown = outputs or (shown_file("", "image", picture((number * 40 % 256, 90, 120))),)
    return PackEntry(f"e-{number:012x}", shown_input(text), shown, earlier)


def pack(*entries: PackEntry, name: str = "ada-001-abcdef", **parts: object) -> Pack:
    return replace(Pack(name, "review", RUBRIC, "t0ken", entries or tuple(map(entry, range(3)))), **parts)


@contextmanager
def opened(folder: Path, content: Pack) -> Iterator[Tab]:
    page = folder / "review.html"
    page.write_bytes(review_page(content).encode("utf-8", "replace"))
    with browser() as tab:
        tab.downloads_to(folder / "down")
        tab.look(1280)
        tab.open(page)
        yield tab
        assert [url for url in tab.requests if not url.startswith(("file:", "data:", "blob:"))] == []
        assert not [message for message in tab.messages if "dialog" not in message], tab.messages


def title(tab: Tab) -> str:
    return tab.evaluate("document.querySelector('#entry-title').firstChild.textContent")


def count(tab: Tab) -> str:
    return tab.evaluate("document.querySelector('#count').textContent")


def pressed(tab: Tab, *keys: str) -> None:
    for key in keys:
        tab.press(key)


def handed_in(folder: Path) -> dict[str, object]:
    return yaml.safe_load((folder / "down" / "responses.yml").read_text(encoding="utf-8"))


def test_a_pack_is_answered_with_the_keyboard_alone_and_handed_in(tmp_path: Path) -> None:
    content = pack()
    with opened(tmp_path, content) as tab:
        assert (title(tab), count(tab)) == ("Entry 1 of 3", "0 of 3 answered")
        pressed(tab, "y", "y")
        assert count(tab) == "1 of 3 answered"
        pressed(tab, "j", "n")
        assert tab.evaluate("document.activeElement.name") == "reason-0", "a no asks for its reason at once"
        pressed(tab, "b", "n", "m")
        tab.type('a note: \U0001f600 # \u2028 é "quoted" \\ j k')
        pressed(tab, "Escape", "ArrowDown")
        tab.press("k")
        assert title(tab) == "Entry 1 of 3"
        pressed(tab, "j", "j", "2", "y", "1", "y")
        assert (title(tab), count(tab)) == ("Entry 3 of 3", "3 of 3 answered")
        tab.evaluate("document.querySelector('#download').focus()")
        tab.press("Enter")
        tab.wait_for_download()
        assert tab.evaluate("document.querySelector('#refusal').hidden") is True

    read = read_responses("responses.yml", (tmp_path / "down" / "responses.yml").read_bytes())
    assert read.findings == ()
    assert read.submission is not None
    assert read.submission.pack == content.name
    yes = {"objects": Answer(True), "constructor": Answer(True)}
    second = {"objects": Answer(False, "hidden"), "constructor": Answer(False)}
    given = {one.entry: one for one in read.submission.reviews}
    assert {name: dict(one.answers) for name, one in given.items() if name != content.entries[1].id} == {
        content.entries[0].id: yes,
        content.entries[2].id: yes,
    }
    noted = given[content.entries[1].id]
    notes = [noted.note, *(answer.note for answer in noted.answers.values())]
    assert [note for note in notes if note] == ['a note: \U0001f600 # \u2028 é "quoted" \\ j k']
    assert {name: replace(answer, note=None) for name, answer in noted.answers.items()} == second


def test_an_incomplete_pack_is_refused_by_name_and_the_first_gap_is_shown(tmp_path: Path) -> None:
    content = pack()
    with opened(tmp_path, content) as tab:
        pressed(tab, "y", "y", "j", "y", "n", "j", "n")
        tab.click("#download")
        told = tab.evaluate("[...document.querySelectorAll('#refusal-list li')].map((one) => one.textContent)")
        assert told == ["Entry 3: objects: no reason, constructor: no answer"]
        assert "Not downloaded: 1 of 3" in tab.evaluate("document.querySelector('#refusal-text').textContent")
        assert title(tab) == "Entry 3 of 3"
        assert tab.evaluate("document.activeElement.name") == "reason-0"
        assert not (tmp_path / "down" / "responses.yml").exists()
        pressed(tab, "a", "y")
        assert tab.evaluate("document.querySelector('#refusal').hidden") is True, "what was refused is answered now"
        tab.click("#download")
        tab.wait_for_download()
    assert len(handed_in(tmp_path)["reviews"]) == 3


def test_what_is_finished_can_be_taken_out_by_a_second_word(tmp_path: Path) -> None:
    content = pack()
    with opened(tmp_path, content) as tab:
        tab.click("#download")
        assert tab.evaluate("document.querySelector('#partial').hidden") is True
        pressed(tab, "y", "y")
        tab.click("#download")
        assert "1 of 3" in tab.evaluate("document.querySelector('#partial').textContent")
        tab.click("#partial")
        tab.wait_for_download()
    assert [one["entry"] for one in handed_in(tmp_path)["reviews"]] == [content.entries[0].id]


def test_answers_survive_a_reload_and_belong_to_their_pack(tmp_path: Path) -> None:
    with opened(tmp_path, pack()) as tab:
        pressed(tab, "y", "y", "j", "n", "a", "m")
        tab.type("kept")
        tab.reload()
        assert (title(tab), count(tab)) == ("Entry 2 of 3", "1 of 3 answered")
        assert "kept" in tab.evaluate("[...document.querySelectorAll('textarea')].map((one) => one.value)")
        assert tab.evaluate("document.querySelector('[name=reason-0]:checked') !== null") is True
        other = tmp_path / "other.html"
        other.write_text(review_page(pack(token="another")))
        tab.open(other)
        assert count(tab) == "0 of 3 answered", "a pack of the same name, from elsewhere"


def test_leaving_with_answers_that_were_not_downloaded_asks_first(tmp_path: Path) -> None:
    with opened(tmp_path, pack()) as tab:
        tab.reload()
        assert tab.messages == []
        tab.click("fieldset input")
        tab.reload()
        assert [message[:6] for message in tab.messages] == ["dialog"]


def test_a_browser_that_keeps_nothing_says_so(tmp_path: Path) -> None:
    with opened(tmp_path, pack()) as tab:
        tab.evaluate("Storage.prototype.setItem = () => { throw new Error('full') }")
        tab.press("y")
        assert "does not keep your answers" in tab.evaluate("document.querySelector('#storage').textContent")
        assert tab.evaluate("document.querySelector('#storage').checkVisibility()") is True


def test_memory_of_another_shape_is_no_obstacle(tmp_path: Path) -> None:
    with opened(tmp_path, pack()) as tab:
        for stored in ("null", "[]", "{", '{"reviews": null}', '{"reviews": {}, "at": 7}', '"text"'):
            tab.evaluate(f"localStorage.setItem('tamesu-review:ada-001-abcdef:t0ken', {json.dumps(stored)})")
            tab.reload()
            assert (title(tab), count(tab)) == ("Entry 1 of 3", "0 of 3 answered"), stored


def test_the_list_can_show_what_is_unanswered_only(tmp_path: Path) -> None:
    listed = "[...document.querySelectorAll('#list button')].map((one) => one.getAttribute('aria-label'))"
    with opened(tmp_path, pack(*map(entry, range(4)))) as tab:
        pressed(tab, "y", "y", "j", "j", "y")
        assert tab.evaluate(listed) == [
            "Entry 1, answered",
            "Entry 2, unanswered",
            "Entry 3, begun",
            "Entry 4, unanswered",
        ]
        tab.click("#filter")
        assert tab.evaluate(listed) == ["Entry 2, unanswered", "Entry 3, begun", "Entry 4, unanswered"]
        pressed(tab, "k", "k")
        assert title(tab) == "Entry 2 of 4", "the way back stops at the first that is open"
        tab.click("#list li:last-child button")
        assert title(tab) == "Entry 4 of 4"
        tab.press("u")
        assert len(tab.evaluate(listed)) == 4


@pytest.mark.parametrize("place", ["input", "output", "rubric", "note"])
def test_hostile_text_is_shown_as_text(place: str, tmp_path: Path) -> None:
    shown = [
        text.encode("utf-8", "replace").decode() if place == "output" else text.replace("\ud800", "\ud800")
        for text in HOSTILE
    ]
    record = ReviewRecord("bo", "2026-03-01T10:00:00Z", "p", "r", "i", {}, "0", {"objects": Answer(True)}, "")
    entries = []
    for number, text in enumerate(HOSTILE):
        output = (
            shown_file("", "text", text.encode("utf-8", "replace"))
            if place == "output"
            else Shown("", "text", text="x")
        )
        earlier = (replace(record, note=text),) if place == "note" else ()
        entries.append(entry(number, output, text=text if place == "input" else "x", earlier=earlier))
    rubric = replace(RUBRIC, rationale="\n".join(HOSTILE), name=HOSTILE[0]) if place == "rubric" else RUBRIC
    wanted = {"input": "#inputs pre", "output": "#outputs pre", "note": ".voice p", "rubric": "#rationale"}[place]
    with opened(tmp_path, pack(*entries, rubric=rubric)) as tab:
        for number in range(len(HOSTILE)):
            assert title(tab) == f"Entry {number + 1} of {len(HOSTILE)}"
            text = tab.evaluate(f"JSON.stringify(document.querySelector('{wanted}').textContent)")
            expected = "\n".join(HOSTILE) if place == "rubric" else shown[number]
            assert json.loads(text) == expected
            tab.press("j")
        assert tab.evaluate("document.querySelectorAll('script').length") == 2
        assert "owned" not in tab.evaluate("document.title").replace("document.title = 'owned'", "")
        assert tab.evaluate("document.querySelectorAll('img').length") == 0


def test_html_and_svg_are_never_markup(tmp_path: Path) -> None:
    page = b"<h1 id=evil>hello</h1><script>document.title = 'owned'</script>"
    svg = b"<svg xmlns='http://www.w3.org/2000/svg' onload=\"document.title = 'owned'\"/>"
    outputs = shown_file("page", "text", page), shown_file("drawing", "image", svg), shown_file("other", None, b"\0")
    with opened(tmp_path, pack(entry(1, *outputs))) as tab:
        assert tab.evaluate("document.querySelector('#evil')") is None
        assert tab.evaluate("document.querySelector('#outputs pre').textContent") == page.decode()
        assert tab.evaluate("document.querySelectorAll('svg, object, iframe, embed').length") == 0
        said = tab.evaluate("[...document.querySelectorAll('.nothing')].map((one) => one.textContent)")
        assert said == ["a picture that cannot be decoded", "a file of 1 bytes that a page cannot show"]
        assert tab.evaluate("document.title") == "Review: drawing"


def test_pictures_are_zoomed_and_transparency_stands_on_a_checkerboard(tmp_path: Path) -> None:
    large = shown_file("large", "image", picture((1, 2, 3), (1800, 1200)))
    glass = shown_file("glass", "image", picture((1, 2, 3, 90)))
    with opened(tmp_path, pack(entry(1, large, glass))) as tab:
        tab.wait_for("[...document.images].every((one) => one.complete && one.naturalWidth > 0)")
        assert tab.evaluate("document.querySelector('#outputs img').getBoundingClientRect().width") < 800
        assert tab.evaluate("[...document.querySelectorAll('.picture')].map((one) => one.className)") == [
            "picture",
            "picture checkered",
        ]
        board = "getComputedStyle(document.querySelector('.checkered')).backgroundImage"
        by_day = tab.evaluate(board)
        assert "conic" in by_day
        tab.look(1280, dark=True)
        assert tab.evaluate(board) == by_day, "what shows through a picture is the same for every reviewer"
        assert "Note" in tab.evaluate("getComputedStyle(document.querySelector('.remarks li'), '::before').content")
        tab.click(".picture")
        assert tab.evaluate("document.querySelector('#zoom img').getBoundingClientRect().width") == 1800
        pressed(tab, "y", "j")
        assert count(tab) == "0 of 1 answered", "keys answer nothing behind a picture"
        tab.press("Escape")
        assert tab.evaluate("document.querySelector('#zoom').open") is False
        tab.press("z")
        assert tab.evaluate("document.querySelector('#zoom').open") is True


def test_everything_is_reached_with_tab_and_the_focus_is_seen(tmp_path: Path) -> None:
    with opened(tmp_path, pack()) as tab:
        reached, outlines = [], []
        for _ in range(30):
            tab.press("Tab")
            name = tab.evaluate(
                "(() => { const e = document.activeElement; return e.id || e.name || e.className || e.tagName })()"
            )
            seen = tab.evaluate(
                "(() => { const e = document.activeElement; const s = (n) => getComputedStyle(n).outlineStyle;"
                " return s(e) !== 'none' || (e.labels && [...e.labels].some((l) => s(l) !== 'none')) })()"
            )
            if name == "BODY":
                break
            reached.append(name)
            outlines.append(bool(seen))
        assert {"filter", "help-open", "download", "next", "picture", "answer-0", "answer-1", "text"} <= set(reached)
        assert reached[0] == "skip"
        assert all(outlines), dict(zip(reached, outlines, strict=True))
        unlabelled = (
            "[...document.querySelectorAll('button, input, textarea, dialog, nav, audio, video')].filter((e) =>"
            " !(e.textContent.trim() || e.getAttribute('aria-label') || e.getAttribute('aria-labelledby')"
            " || (e.labels && [...e.labels].some((l) => l.textContent.trim())))).map((e) => e.outerHTML)"
        )
        assert tab.evaluate(unlabelled) == []
        assert tab.evaluate("[...document.images].every((one) => one.alt)") is True
        tab.press("?")
        assert tab.evaluate("document.querySelector('#help').open") is True
        help_text = tab.evaluate("document.querySelector('#help').textContent")
        assert all(word in help_text for word in ("next entry", "previous entry", "full size", "unanswered"))


def contrast(tab: Tab, selector: str) -> float:
    """The contrast of a text with what is behind it: WCAG 2.2, relative luminance."""
    colours = tab.evaluate(
        f"(() => {{ let e = document.querySelector({json.dumps(selector)}); const ink = getComputedStyle(e).color;"
        " let paper = 'rgba(0, 0, 0, 0)'; while (e && paper === 'rgba(0, 0, 0, 0)') {"
        " paper = getComputedStyle(e).backgroundColor; e = e.parentElement; } return [ink, paper]; })()"
    )
    levels = []
    for colour in colours:
        parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        levels.append(0.2126 * red + 0.7152 * green + 0.0722 * blue)
    return (max(levels) + 0.05) / (min(levels) + 0.05)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_and_is_legible(width: int, dark: bool, tmp_path: Path) -> None:
    long = entry(9, shown_file("", "text", b"word " * 50 + b"x" * 2000), text="y" * 3000)
    rubric = replace(RUBRIC, dimensions=(Dimension("d" * 80, "Q" * 300, ("c" * 90, "short")),))
    with opened(tmp_path, pack(long, *map(entry, range(40)), rubric=rubric)) as tab:
        tab.look(width, dark=dark)
        pressed(tab, "n")
        tab.click("#download")
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        for selector in (
            "h1",
            "#count",
            "h3",
            ".text",
            "legend",
            "#download",
            ".label, .field",
            "#refusal-text",
            ".missing",
        ):
            assert contrast(tab, selector) >= 4.5, selector


def test_an_adjudication_shows_both_sides_without_names(tmp_path: Path) -> None:
    record = ReviewRecord(
        "bo-smith", "2026-03-01T10:00:00Z", "p", "r", "i", {}, "0", {"objects": Answer(True, note="fine")}
    )
    against = replace(record, reviewer="cy", answers={"objects": Answer(False, "hidden", "no sun")}, note="sad")
    content = pack(entry(1, earlier=(record, against)), kind="adjudication")
    with opened(tmp_path, content) as tab:
        heads = tab.evaluate("[...document.querySelectorAll('.voice h4')].map((one) => one.textContent)")
        assert heads == ["One reviewer", "Another reviewer"]
        said = tab.evaluate("document.querySelector('#voices').textContent")
        for part in ("Is every object there? Yes: fine", "Is every object there? No (hidden): no sun", "sad"):
            assert part in said
        assert tab.evaluate("document.title") == "Adjudication: drawing"
    page = review_page(content)
    assert "bo-smith" not in page
    assert "2026" not in page


def test_the_policy_allows_this_script_and_nothing_else(tmp_path: Path) -> None:
    page = review_page(pack())
    policy = page.partition('Content-Security-Policy" content="')[2].partition('"')[0].replace("&#39;", "'")
    rules = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    script = page.rpartition("<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == f"'sha256-{digest}'"
    assert (rules["img-src"], rules["media-src"]) == ("data:", "data:")
    with opened(tmp_path, pack()) as tab:
        refused = "fetch('https://example.org/').then(() => 'sent', () => 'refused')"
        assert tab.evaluate(refused) == "refused"
        tab.evaluate(
            "new Promise((done) => { const e = new Image(); e.onerror = done; e.src = 'https://example.org/a.png' })"
        )
        tab.evaluate(
            "const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s)"
        )
        assert tab.evaluate("window.ran") is None
        blocked = [message for message in tab.messages if "Content Security Policy" in message]
        assert len(blocked) == len(tab.messages) >= 3
        tab.messages.clear()
        tab.requests.clear()


def test_the_island_ends_nothing() -> None:
    text = island(HOSTILE)
    assert json.loads(text) == HOSTILE
    assert not set("<>&\u2028\u2029") & set(text)
    assert text.isascii()
