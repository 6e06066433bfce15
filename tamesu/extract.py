"""What a scorer may import to find code in an answer: fenced blocks, and the one program among them.

    from tamesu.extract import ExtractionFailed, pick_program

    picked = pick_program(text, languages=("c",), entry=r"\\bmain\\s*\\(", truncated=stopped_on_length(state))
    if isinstance(picked, ExtractionFailed):
        return Score(value=0.0, explanation=str(picked), metadata={"reason": picked.reason})
    source = picked.code

Fences follow CommonMark: three or more backticks or tildes, indented by at most three spaces; a fence closes with the
same character, at least as long, and nothing after it. Fences inside quotations and deeper lists are text. One pass,
in time linear in the length of the text; no text makes it raise. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["Block", "ExtractionFailed", "Program", "Reason", "code_blocks", "file_name_fault", "pick_program"]

Reason = Literal[
    "truncated", "no_block", "unclosed", "no_entry_point", "parse_failed", "several_candidates", "unsafe_file_name"
]

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_FENCE = re.compile(r"(?P<indent> {0,3})(?P<mark>`{3,}|~{3,})(?P<info>[^\r\n]*)")
# No alternative can fail after the other has scanned more than one word, so the words of a line take linear time.
_WORD = re.compile(r"(?P<key>[\w-]+)=(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<bare>\S*))|(?P<word>\S+)")
_FILE_KEYS = frozenset({"title", "file", "filename", "path", "name"})
_SUFFIXED = re.compile(r"[^\s=]*[^\s=./\\]\.[A-Za-z][A-Za-z0-9_+-]*")
_FILES_WITHOUT_SUFFIX = frozenset({"makefile", "gnumakefile", "dockerfile", "containerfile", "rakefile", "gemfile"})
_DOTTED_LANGUAGES = frozenset({"asp.net", "vb.net", "node.js", "vue.js", "react.js", "d3.js"})
_LONGEST_PART = 255
_LONGEST_NAME = 1024
_MOST_LANGUAGES = 10


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: the text between its fences with its last line ending, the line of its opening fence from 1.

    `language` is the first word of the info string in lower case, empty where there is none; `file` is the name on
    the line of the fence, exactly as written, None where there is none. A block that is not `closed` runs to the end.
    """

    language: str
    info: str
    file: str | None
    body: str
    line: int
    closed: bool

    @property
    def file_fault(self) -> str | None:
        """Why the file name must not become a path, None when it may or when there is none."""
        return None if self.file is None else file_name_fault(self.file)


@dataclass(frozen=True, slots=True)
class Program:
    """The program of an answer, and the block that holds it."""

    code: str
    block: Block


@dataclass(frozen=True, slots=True)
class ExtractionFailed:
    """An answer without exactly one program: a reason to count, a detail to read."""

    reason: Reason
    detail: str

    def __str__(self) -> str:
        return f"extraction_failed: {self.reason}: {self.detail}"


def code_blocks(text: str) -> tuple[Block, ...]:
    """Return every fenced block in order, each opening fence with its own closing one.

    Where the opening fence is indented, up to as many spaces are taken from each line of the body.
    """
    return tuple(_blocks(text))


def pick_program(
    text: str,
    *,
    languages: Sequence[str],
    entry: str | re.Pattern[str] | None = None,
    parse: Callable[[str], object] | None = None,
    truncated: bool = False,
) -> Program | ExtractionFailed:
    """Return the one program of an answer, or why there is none; nothing is guessed and nothing repaired.

    Candidates are the blocks in one of `languages`, those without any language where there is no such block; blank
    ones do not count, equal ones count once. `entry` is a pattern that must be found in the code. `parse` refuses code
    by returning False or by raising SyntaxError, ValueError or RecursionError; what else it raises is passed on.
    `truncated` says that the answer was cut, so that no block of it can be trusted. Raises re.error for a bad pattern.
    """
    if truncated:
        return ExtractionFailed("truncated", "the answer was cut at a token limit")
    blocks = [block for block in code_blocks(text) if block.body.strip()]
    candidates = _of_languages(blocks, languages)
    if not candidates:
        return ExtractionFailed("no_block", _what_is_there(blocks, languages))
    for block in candidates:
        if not block.closed:
            return ExtractionFailed("unclosed", f"the fence on line {block.line} is never closed")
    entered = [block for block in candidates if entry is None or re.search(entry, block.body)]
    if not entered:
        return ExtractionFailed("no_entry_point", f"no block holds {_shown(entry)}; {_lines(candidates)}")
    parsed = [block for block in entered if parse is None or _accepts(parse, block.body)]
    if not parsed:
        return ExtractionFailed("parse_failed", f"no block parses; {_lines(entered)}")
    return _only(parsed)


def file_name_fault(name: str) -> str | None:
    """Return why a name that a model gave must not become a path below a folder, None when it may."""
    parts = re.split(r"[/\\]", name)
    faults = (
        (not name.strip() or name.strip() == ".", "is empty"),
        (not name.isprintable(), "holds a control character"),
        (".." in parts, "leads out of its folder"),
        (name.startswith(("/", "\\", "~")) or re.match(r"[A-Za-z]:", name) is not None, "is absolute"),
        ("\\" in name, "holds a backslash"),
        (parts[-1] in ("", "."), "names a folder"),
        (len(name.encode("utf-8", "surrogatepass")) > _LONGEST_NAME, "is too long"),
        (any(len(part.encode("utf-8", "surrogatepass")) > _LONGEST_PART for part in parts), "is too long"),
    )
    return next((fault for found, fault in faults if found), None)


@dataclass(frozen=True, slots=True)
class _Opened:
    """An opening fence that waits for its closing one; `start` is where the body begins."""

    mark: str
    indent: int
    info: str
    line: int
    start: int

    def closed_by(self, line: re.Match[str]) -> bool:
        same = line["mark"].startswith(self.mark)
        return same and not line["info"].strip(" \t")

    def block(self, text: str, end: int, closed: bool) -> Block:
        language, file = _read_info(self.info)
        body = text[self.start : end]
        if self.indent:
            body = re.sub(rf"(?:(?<=\n)|(?<=\r)(?!\n)|\A) {{1,{self.indent}}}", "", body)
        return Block(language, self.info, file, body, self.line, closed)


def _blocks(text: str) -> Iterator[Block]:
    opened: _Opened | None = None
    for number, line in enumerate(_LINE.finditer(text), 1):
        fence = _FENCE.match(text, line.start(), line.end())
        if fence is None:
            continue
        if opened is None:
            opened = _opening(fence, number, line.end())
        elif opened.closed_by(fence):
            yield opened.block(text, line.start(), closed=True)
            opened = None
    if opened is not None:
        yield opened.block(text, len(text), closed=False)


def _opening(fence: re.Match[str], line: int, start: int) -> _Opened | None:
    """Return the fence as an opening one; with a backtick after backticks it is code within a line of text."""
    if fence["mark"].startswith("`") and "`" in fence["info"]:
        return None
    return _Opened(fence["mark"], len(fence["indent"]), fence["info"].strip(" \t"), line, start)


def _read_info(info: str) -> tuple[str, str | None]:
    """Return the language in lower case, and the file name that an info string gives."""
    braced = info.startswith("{")
    words = list(_WORD.finditer(info.strip("{}") if braced else info))
    if not words:
        return "", None
    first = words[0]["word"]
    if first is None:
        return "", _named_file(words)
    if not braced and ":" not in first and _names_no_language(first):
        return "", first
    language, _, rest = first.partition(":")
    file = rest if _like_a_file(rest) else _named_file(words[1:])
    return language.split(",")[0].lstrip(".").lower(), file


def _named_file(words: Sequence[re.Match[str]]) -> str | None:
    """Return the file that `title="main.c"`, `file=main.c` or a bare `src/main.c` names; an attribute goes first."""
    for word in words:
        if (word["key"] or "").lower() in _FILE_KEYS:
            return next(value for value in word.group("double", "single", "bare") if value is not None)
    return next((word["word"] for word in words if _like_a_file(word["word"] or "")), None)


def _names_no_language(word: str) -> bool:
    """Say whether the first word is a file; `makefile` is a language there."""
    return _like_a_file(word) and word.lower() not in _DOTTED_LANGUAGES | _FILES_WITHOUT_SUFFIX


def _like_a_file(word: str) -> bool:
    return (
        _SUFFIXED.fullmatch(word) is not None
        or (any(mark in word for mark in "/\\") and "://" not in word and word.strip("/\\") != "")
        or word.lower() in _FILES_WITHOUT_SUFFIX
    )


def _of_languages(blocks: Sequence[Block], languages: Sequence[str]) -> list[Block]:
    wanted = {language.lower() for language in languages}
    return [block for block in blocks if block.language in wanted] or [block for block in blocks if not block.language]


def _what_is_there(blocks: Sequence[Block], languages: Sequence[str]) -> str:
    if not blocks:
        return "the answer holds no fenced code block"
    names = tuple(dict.fromkeys(block.language[:40] for block in blocks))
    more = f" and {len(names) - _MOST_LANGUAGES} more" if len(names) > _MOST_LANGUAGES else ""
    return f"no block is {' or '.join(languages)}; there is {', '.join(names[:_MOST_LANGUAGES])}{more}"


def _shown(entry: str | re.Pattern[str] | None) -> str:
    return f"/{entry.pattern if isinstance(entry, re.Pattern) else entry}/"


def _lines(blocks: Sequence[Block]) -> str:
    numbers = [str(block.line) for block in blocks]
    more = f" and {len(numbers) - 5} more" if len(numbers) > 5 else ""
    return f"looked at line {', '.join(numbers[:5])}{more}"


def _accepts(parse: Callable[[str], object], code: str) -> bool:
    try:
        return parse(code) is not False
    except (SyntaxError, ValueError, RecursionError):
        return False


def _only(blocks: Sequence[Block]) -> Program | ExtractionFailed:
    """Return the program when all blocks hold the same one and no name of it leads astray."""
    if len({block.body for block in blocks}) > 1:
        return ExtractionFailed("several_candidates", f"different programs could be meant; {_lines(blocks)}")
    for block in blocks:
        fault = block.file_fault
        if fault is not None:
            name = (block.file or "")[:_LONGEST_PART]
            return ExtractionFailed("unsafe_file_name", f"{name!r} on line {block.line} {fault}")
    return Program(blocks[0].body, blocks[0])
