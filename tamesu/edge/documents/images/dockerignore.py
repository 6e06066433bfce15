"""What a `.dockerignore` leaves out of a build context."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass

from tamesu.edge.documents.images.path_pattern import PathPattern, compile_pattern


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """One line: what it matches, and whether it takes a match back in."""

    pattern: PathPattern
    included: bool


def read_ignore_rules(text: str) -> tuple[IgnoreRule, ...]:
    """Return the rules of a file with LF line ends; a pattern that is malformed matches nothing.

    Source of the rules: Docker build documentation, "Build context", section ".dockerignore files".
    """
    rules: list[IgnoreRule] = []
    for line in text.split("\n"):
        written = "" if line.startswith("#") else line.strip()
        included = written.startswith("!")
        written = written.removeprefix("!").strip()
        pattern = compile_pattern(posixpath.normpath(written).lstrip("/")) if written else None
        if pattern is not None:
            rules.append(IgnoreRule(pattern, included))
    return tuple(rules)


def is_ignored(path: str, rules: Sequence[IgnoreRule]) -> bool:
    """Return whether a file, by its path below the context, is left out; the last rule that matches decides.

    A rule that matches a folder holds for everything below it.
    """
    steps = path.split("/")
    chain = ["/".join(steps[:length]) for length in range(1, len(steps) + 1)]
    ignored = False
    for rule in rules:
        if rule.included == ignored and any(rule.pattern.matches(part) for part in chain):
            ignored = not rule.included
    return ignored
