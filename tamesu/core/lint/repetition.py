"""Lists of names in which one name stands twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from tamesu.base.model.manifest import Eval
from tamesu.core.lint.remark import Remark

_Place: TypeAlias = tuple[str | int, ...]


def repetition_remarks(evaluation: Eval) -> Iterator[Remark]:
    """Yield each name that a list of items, roles, verdicts or arms holds a second time."""
    for place, kind, names in _lists(evaluation):
        for number in repeated(names):
            message = f"{kind} '{names[number]}' is listed twice"
            yield Remark((*place, number), "id/repeated", message, "list it once")


def repeated(names: Sequence[str]) -> tuple[int, ...]:
    """Return the indices of names that stand earlier in a list as well."""
    seen: set[str] = set()
    found = []
    for number, name in enumerate(names):
        if name in seen:
            found.append(number)
        seen.add(name)
    return tuple(found)


def _lists(evaluation: Eval) -> Iterator[tuple[_Place, str, Sequence[str]]]:
    artifacts = evaluation.execution.artifacts
    yield ("defaults", "items", "ids"), "item", evaluation.defaults.items.ids
    yield ("execution", "artifacts", "required"), "role", artifacts.required
    yield ("execution", "artifacts", "allowed"), "role", artifacts.allowed
    yield ("evaluation", "acceptance", "requires"), "verdict", evaluation.policy.acceptance.requires
    for number, entry in enumerate(evaluation.models):
        yield ("runs", number, "arms"), "arm", entry.arms or ()
