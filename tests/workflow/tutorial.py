"""Reading docs/tutorial.md: commands with the output shown, and the edits between them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

ANYTHING = "…"


@dataclass(frozen=True)
class Command:
    """What a reader types, what the tutorial says they see, and the line where it says so."""

    line: int
    text: str
    shown: tuple[str, ...]


@dataclass(frozen=True)
class Edit:
    """A text of one file that a reader replaces."""

    line: int
    file: str
    old: str
    new: str


def steps(markdown: str) -> Iterator[Command | Edit]:
    """Yield the steps of `console` and `diff` blocks, in order; other blocks are not executed."""
    for block in re.finditer(r"^```(console|diff)\n(.*?)^```$", markdown, flags=re.MULTILINE | re.DOTALL):
        line = markdown.count("\n", 0, block.start()) + 2
        if block[1] == "diff":
            yield _edit(line, block[2])
        else:
            yield from _commands(line, block[2].splitlines())


def _edit(line: int, block: str) -> Edit:
    head, *lines = block.splitlines()
    old, new = (
        "".join(f"{one[1:]}\n" for one in lines if one.startswith(mark) or one.startswith(" ")) for mark in "-+"
    )
    return Edit(line, head.removeprefix("--- "), old, new)


def _commands(line: int, lines: list[str]) -> Iterator[Command]:
    starts = [number for number, text in enumerate(lines) if text.startswith("$ ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield Command(line + start, lines[start][2:], tuple(lines[start + 1 : end]))


def matches(shown: tuple[str, ...], seen: str) -> bool:
    """Return whether the output fits what is shown: `…` stands for anything in a line, alone for any lines.

    Spaces at the end of lines and empty lines at the end do not count.
    """
    pattern = "".join(_line(text) for text in shown)
    lines = [text.rstrip() for text in seen.rstrip().splitlines()]
    return re.fullmatch(pattern, "".join(f"{text}\n" for text in lines)) is not None


def _line(text: str) -> str:
    if text.strip() == ANYTHING:
        return r"(?:[^\n]*\n)*"
    return ".*".join(re.escape(part) for part in text.rstrip().split(ANYTHING)) + r"\n"
