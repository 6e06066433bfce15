"""A Dockerfile as its instructions: parser directives, continued lines, comments and heredocs taken away."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

_DIRECTIVE = re.compile(r"#\s*([A-Za-z][A-Za-z0-9]*)\s*=\s*(.+?)\s*")
_DIRECTIVES = frozenset({"escape", "syntax", "check"})
_HEREDOC = re.compile(r"\d*<<(-?)([^<]+)")
_WITH_HEREDOC = frozenset({"ADD", "COPY", "RUN"})


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: the line it starts on (from 1), its keyword in capitals, and the rest of it."""

    line: int
    keyword: str
    rest: str


@dataclass(frozen=True, slots=True)
class Directives:
    """What the comments at the very top order: the escape character, the image that reads the file, its line."""

    escape: str = "\\"
    syntax: str | None = None
    syntax_line: int = 1


@dataclass(frozen=True, slots=True)
class Dockerfile:
    """A Dockerfile split up; `unclosed` is the line of a heredoc that never ends."""

    directives: Directives
    instructions: tuple[Instruction, ...]
    unclosed: int | None = None


def split_dockerfile(text: str) -> Dockerfile:
    """Return the instructions of a Dockerfile with LF line ends; whatever the text, nothing is raised."""
    lines = text.split("\n")
    directives = _directives(lines)
    found: list[Instruction] = []
    at = 0
    while at < len(lines):
        if not lines[at].strip() or _comment(lines[at]):
            at += 1
            continue
        start = at
        logical, at = _logical(lines, at, directives.escape)
        keyword, _, rest = logical.strip().partition(" ")
        found.append(Instruction(start + 1, keyword.upper(), rest.strip()))
        for word in _heredocs(found[-1], directives.escape):
            ended = _after_heredoc(lines, at, word)
            if ended is None:
                return Dockerfile(directives, tuple(found), unclosed=start + 1)
            at = ended
    return Dockerfile(directives, tuple(found))


def _comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def _directives(lines: list[str]) -> Directives:
    """The first line that is no known directive ends them, be it a comment, blank or an instruction."""
    values: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(lines, 1):
        match = _DIRECTIVE.fullmatch(line.strip())
        if match is None or match[1].lower() not in _DIRECTIVES:
            break
        values.setdefault(match[1].lower(), (match[2], number))
    escape, _ = values.get("escape", ("\\", 1))
    syntax, line_number = values.get("syntax", (None, 1))
    return Directives(escape if escape in {"\\", "`"} else "\\", syntax, line_number)


def _logical(lines: list[str], at: int, escape: str) -> tuple[str, int]:
    """Return the line at `at` with its continuations, and where the file goes on.

    Comments and blank lines between continued lines do not count, as in BuildKit.
    """
    parts: list[str] = []
    while at < len(lines):
        line = lines[at]
        at += 1
        if parts and (not line.strip() or _comment(line)):
            continue
        stripped = line.rstrip()
        # two escapes are a literal one
        if not stripped.endswith(escape) or stripped.endswith(escape * 2):
            parts.append(line)
            break
        parts.append(stripped[:-1])
    # a tab parts a keyword from the rest as a blank does
    return re.sub(r"[\t\v\f\r]", " ", "".join(parts)), at


def split_words(text: str, escape: str) -> Iterator[str]:
    """Yield the words of an instruction; quotes and escapes stay in them and keep blanks together."""
    word, quote, at = "", "", 0
    while at < len(text):
        character = text[at]
        if character == escape and quote != "'" and at + 1 < len(text):
            word += text[at : at + 2]
            at += 2
            continue
        if character in "'\"" and quote in {"", character}:
            quote = "" if quote else character
        if character.isspace() and not quote:
            if word:
                yield word
            word = ""
        else:
            word += character
        at += 1
    if word:
        yield word


def _heredocs(instruction: Instruction, escape: str) -> list[tuple[str, bool]]:
    """Return the words that end the heredocs of an instruction, and whether tabs before them are taken away."""
    keyword, rest = instruction.keyword, instruction.rest
    if keyword == "ONBUILD":
        keyword, _, rest = rest.partition(" ")
    if keyword.upper() not in _WITH_HEREDOC or "<<" not in rest or _json_form(rest):
        return []
    matches = (_HEREDOC.fullmatch(word) for word in split_words(rest, escape))
    return [(re.sub(r"['\"]", "", match[2]), bool(match[1])) for match in matches if match is not None]


def _json_form(rest: str) -> bool:
    if not rest.startswith("["):
        return False
    try:
        return isinstance(json.loads(rest), list)
    except (ValueError, RecursionError):
        return False


def _after_heredoc(lines: list[str], at: int, word: tuple[str, bool]) -> int | None:
    end, tabs = word
    for number in range(at, len(lines)):
        line = lines[number].rstrip("\r")
        if (line.lstrip("\t") if tabs else line) == end:
            return number + 1
    return None
