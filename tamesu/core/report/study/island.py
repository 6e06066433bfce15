"""A book of evidence as JSON in a page: each text once, its number elsewhere, nothing that could end the element."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from markupsafe import Markup

from tamesu.core.report.study.items import Book, Card, Entry, Line, Shown, Verdict

_HARMFUL = re.compile("[<>&\u2028\u2029]")


def island(book: Book) -> Markup:
    """Return the JSON of a book: `s` all texts, `n` items a page, `r` runs, `i` items; texts stand as their index."""
    texts = _Texts()
    runs = [[texts(run.model), texts(run.arm), run.repetition, texts(run.run_id)] for run in book.runs]
    items = [_entry(entry, texts) for entry in book.entries]
    data = {"n": book.per_page, "r": runs, "i": items, "s": list(texts.known)}
    encoded = msgspec.json.encode(data).decode()
    escaped = _HARMFUL.sub(lambda found: f"\\u{ord(found.group()):04x}", encoded)
    return Markup(escaped)


class _Texts:
    """Numbers texts in the order in which they come."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self.known.setdefault(text, len(self.known))


def _entry(entry: Entry, texts: _Texts) -> list[Any]:
    expected = -1 if entry.expected is None else texts(entry.expected)
    cards = [_card(card, texts) for card in entry.cards]
    return [texts(entry.item), texts(entry.input), expected, texts(entry.tally), cards, texts(entry.gist)]


def _card(card: Card, texts: _Texts) -> list[Any]:
    return [
        card.run,
        texts(card.tone),
        texts(card.state),
        texts(card.flags),
        [_shown(one, texts) for one in card.outputs],
        [_verdict(one, texts) for one in (card.scorers, card.judges, card.people)],
        _line(card.accepted, texts),
        texts(card.took),
        texts(card.error),
    ]


def _shown(one: Shown, texts: _Texts) -> list[int]:
    text = -1 if one.text is None else texts(one.text)
    return [texts(one.role), texts(one.note), text, -1 if one.picture is None else one.picture]


def _verdict(one: Verdict, texts: _Texts) -> list[Any]:
    return [texts(one.tone), texts(one.text), [_line(line, texts) for line in one.lines]]


def _line(line: Line, texts: _Texts) -> list[int]:
    return [texts(line.tone), texts(line.text), texts(line.detail)]
