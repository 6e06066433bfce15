"""A finding by its place in the manifest instead of its line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from tamesu.base.model.finding import Severity


@dataclass(frozen=True, slots=True)
class Remark:
    """Where in the manifest, which rule, what, and how to fix it."""

    path: tuple[str | int, ...]
    rule: str
    message: str
    fix: str
    severity: Severity = "error"


def nearest(name: str, known: Iterable[str]) -> str:
    """Return what to write instead of a name that is not known."""
    choices = list(dict.fromkeys(known))
    near = difflib.get_close_matches(name, choices, n=2)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"use one of {', '.join(choices)}" if choices else "remove it"
