"""Reading docs/tutorial.md: commands with the output shown, and the edits between them.

`python -m tests.workflow.tutorial` writes the outputs anew where they no longer fit; then put `…` for what differs
from run to run.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.projects import ROOT

TUTORIAL = ROOT / "docs" / "tutorial.md"
ANYTHING = "…"
WHERE = "where-the-reader-is"


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


class Reader:
    """Someone who types what the tutorial says; the shell's folder carries over from command to command."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.folder = home

    def type(self, command: str) -> tuple[int, str]:
        """Return exit code and output, both streams as a terminal mixes them."""
        where = self._home / WHERE
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("COV_", "TAMESU_"))}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-c", f'{command}\ncode=$?; pwd > "{where}"; exit $code'],
            cwd=self.folder,
            env={**kept, "PATH": path, "PYTHONPATH": str(ROOT), "COLUMNS": "80", "HOME": str(self._home)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=120,
            check=False,
        )
        self.folder = Path(where.read_text().strip())
        return done.returncode, done.stdout

    def change(self, edit: Edit) -> None:
        path = self.folder / edit.file
        text = path.read_text()
        assert text.count(edit.old) == 1, f"tutorial line {edit.line}: {edit.file} does not hold that once:\n{edit.old}"
        path.write_text(text.replace(edit.old, edit.new))


def retold(markdown: str, home: Path) -> str:
    """Return the tutorial with the outputs of now, where those shown do not fit."""
    reader = Reader(home)
    lines = markdown.splitlines()
    replaced: list[tuple[Command, list[str]]] = []
    for step in steps(markdown):
        if isinstance(step, Edit):
            reader.change(step)
            continue
        _, seen = reader.type(step.text)
        if not matches(step.shown, seen):
            told = seen.replace(str(home), ANYTHING).rstrip().splitlines()
            replaced.append((step, [text.rstrip() for text in told]))
    for command, told in reversed(replaced):
        print(f"line {command.line}: $ {command.text}")
        lines[command.line : command.line + len(command.shown)] = told
    return "".join(f"{text}\n" for text in lines)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        TUTORIAL.write_text(retold(TUTORIAL.read_text(), Path(folder).resolve()))
