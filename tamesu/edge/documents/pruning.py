"""What is left of a document without the parts that violate its schema, so that one mistake does not hide others."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from jsonschema.exceptions import ValidationError

from tamesu.base.canonical import Json
from tamesu.core.lint.consequences import Part
from tamesu.edge.documents.document import Document, NodePath
from tamesu.edge.documents.schemas import DocumentKind, schema_errors
from tamesu.edge.documents.unknown_fields import similar

_MOST_ROUNDS = 20  # taking a part out may leave its parent without a field that it needs

# What an eval may lack and still be checked; the schema has told that it is missing.
_DISPENSABLE = frozenset({"arms", "cost_limit", "dataset", "limits", "runs", "time_limit"})


@dataclass(frozen=True, slots=True)
class Remainder:
    """A document without its wrong parts, positions as before, and the names of the parts that are missing now."""

    document: Document
    lost: frozenset[Part]


def remainder(document: Document, kind: DocumentKind) -> Remainder | None:
    """Return what fits the schema of its kind; None when that is nothing."""
    lost: set[Part] = set()
    for _ in range(_MOST_ROUNDS):
        errors = list(schema_errors(document.value, kind))
        wrong = frozenset(path for error in errors for path in _wrong(error))
        lost.update(part for error in errors for part in _lost(error))
        if not wrong:
            return Remainder(document, frozenset(lost))
        if () in wrong:
            return None
        document = _without(document, wrong)
    return None


def _missing(error: ValidationError) -> frozenset[str]:
    wanted: Any = error.validator_value
    return frozenset(wanted) - _written(error).keys()


def _written(error: ValidationError) -> Mapping[str, Json]:
    return error.instance if isinstance(error.instance, dict) else {}


def _known(error: ValidationError) -> list[str]:
    return list(error.schema.get("properties", ())) if isinstance(error.schema, Mapping) else []


def _unknown(error: ValidationError) -> list[str]:
    known = frozenset(_known(error))
    return [name for name in _written(error) if name not in known]


def _wrong(error: ValidationError) -> Iterator[NodePath]:
    """Yield what has to be taken out because of an error."""
    path = tuple(error.absolute_path)
    if error.validator == "additionalProperties":
        yield from ((*path, name) for name in _unknown(error))
    elif error.validator != "required" or not _missing(error) <= _DISPENSABLE:
        yield path


def _lost(error: ValidationError) -> Iterator[Part]:
    """Yield what is missing because of an error; an unknown field may be a known one that is misspelt."""
    part = tuple(step for step in error.absolute_path if isinstance(step, str))
    if error.validator == "required":
        yield from ((*part, name) for name in _missing(error))
    if error.validator != "additionalProperties":
        if any(True for _ in _wrong(error)):
            yield part
        return
    for name in _unknown(error):
        meant = similar(name, _known(error))
        if meant:
            yield (*part, meant)
        elif isinstance(_written(error)[name], dict | list):
            yield part


def _without(document: Document, wrong: Set[NodePath]) -> Document:
    indices: defaultdict[NodePath, list[int]] = defaultdict(list)
    for path in wrong:
        if isinstance(path[-1], int):
            indices[path[:-1]].append(path[-1])
    for dropped in indices.values():
        dropped.sort()
    moved = ((_moved(path, wrong, indices), place) for path, place in document.positions.items())
    positions = {path: place for path, place in moved if path is not None}
    return replace(document, value=_kept(document.value, (), wrong), positions=positions)


def _moved(path: NodePath, wrong: Set[NodePath], indices: Mapping[NodePath, Sequence[int]]) -> NodePath | None:
    """Return the path once the list elements before it are gone; None when it is gone itself."""
    steps: list[str | int] = []
    for length, step in enumerate(path):
        if path[: length + 1] in wrong:
            return None
        before = bisect_left(indices.get(path[:length], ()), step) if isinstance(step, int) else 0
        steps.append(step - before if isinstance(step, int) else step)
    return tuple(steps)


def _kept(value: Json, path: NodePath, wrong: Set[NodePath]) -> Json:
    if isinstance(value, dict):
        return {name: _kept(part, (*path, name), wrong) for name, part in value.items() if (*path, name) not in wrong}
    if isinstance(value, list):
        kept = ((number, part) for number, part in enumerate(value) if (*path, number) not in wrong)
        return [_kept(part, (*path, number), wrong) for number, part in kept]
    return value
