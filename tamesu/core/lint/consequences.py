"""Findings that may only follow from another one: a part of the eval was left out, and something else missed it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

Part: TypeAlias = tuple[str, ...]

_ACCEPTANCE: tuple[Part, ...] = (("evaluation",),)
_PARAMETERS: tuple[Part, ...] = (("defaults", "parameters"), ("arms",), ("runs",), ("execution", "backend"), ("task",))
_SOURCES: tuple[Part, ...] = (("execution",),)
_REVIEWED: tuple[Part, ...] = (("evaluation",), ("execution", "artifacts"), ("task",))

_RESTS_ON: Mapping[str, tuple[Part, ...]] = {
    "acceptance/ignores-review": _ACCEPTANCE,
    "acceptance/no-evidence": _ACCEPTANCE,
    "acceptance/no-review": _ACCEPTANCE,
    "acceptance/no-scorer": _ACCEPTANCE,
    "acceptance/screening-judge": _ACCEPTANCE,
    "eval/missing-field": (*_SOURCES, ("task",)),
    "image/not-pinned": _SOURCES,
    "image/undeclared-context": _SOURCES,
    "image/undeclared-file": _SOURCES,
    "metric/not-produced": (*_REVIEWED, ("output_schema",)),
    "parameter/effort": _PARAMETERS,
    "parameter/no-bound": _PARAMETERS,
    "replay/no-recordings": _PARAMETERS,
    "review/no-role": _REVIEWED,
    "run/repeated": (("runs",), ("arms",)),
    "run/unknown-arm": (("arms",),),
    "sources/omits-task": _SOURCES,
    "sources/scoring-imported": _SOURCES,
    "sources/undeclared": _SOURCES,
    "support/missing": (("execution", "backend"), ("task",)),
    "task/backend": (("execution", "backend"), ("task",)),
    "task/no-file": (*_SOURCES, ("task",)),
}


def may_follow(rule: str, lost: Iterable[Part]) -> bool:
    """Return whether a finding of a rule may be due to a part that was left out; parts are names, outermost first."""
    needed = _RESTS_ON.get(rule, ())
    return any(_overlap(part, need) for part in lost for need in needed)


def _overlap(part: Part, other: Part) -> bool:
    length = min(len(part), len(other))
    return part[:length] == other[:length]
