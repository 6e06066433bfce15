"""One violation of a schema, and what is to be told about it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from jsonschema.exceptions import ValidationError

from tamesu.base.canonical import Json
from tamesu.base.model.finding import Finding
from tamesu.edge.documents.decoding import shortened
from tamesu.edge.documents.document import Document, NodePath


@dataclass(frozen=True, slots=True)
class Shape:
    """A document and the dotted names of all fields that its kind knows."""

    document: Document
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Violation:
    """One schema error.

    `wanted` is what the keyword demands of `value`, `schema` the object that holds the keyword.
    """

    shape: Shape
    path: NodePath
    keyword: str
    wanted: Any
    value: Any
    schema: Mapping[str, Any]
    error: ValidationError

    @property
    def field(self) -> str:
        """The field in question as the start of a message; empty for list elements and for the whole."""
        name = self.path[-1] if self.path else 0
        return f"'{shortened(name)}': " if isinstance(name, str) else ""

    @property
    def found(self) -> str:
        """What stands in the document, as it is spelled there."""
        return _described(self.value, self.literal)

    @property
    def literal(self) -> str | None:
        return self.shape.document.literals.get(self.path)

    def finding(self, advice: Advice) -> Finding:
        place = self.shape.document.position((*self.path, *advice.below))
        rule = f"schema/{self.keyword}"
        label = self.shape.document.label
        return Finding(label, place.line, place.column, "error", rule, advice.message, advice.fix)


@dataclass(frozen=True, slots=True)
class Advice:
    """What to tell; `below` leads from the violation to the place in question."""

    message: str
    fix: str
    below: NodePath = ()


def violation_of(shape: Shape, error: ValidationError) -> Violation:
    """Return what an error of jsonschema says."""
    schema = error.schema if isinstance(error.schema, Mapping) else {}
    path, keyword = tuple(error.absolute_path), str(error.validator)
    return Violation(shape, path, keyword, error.validator_value, error.instance, schema, error)


def _described(value: Json, literal: str | None) -> str:
    if isinstance(value, str):
        return f"the text '{shortened(value)}'"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return shortened(literal) if literal else "nothing"
    spelled = shortened(literal or json.dumps(value))
    return spelled if isinstance(value, bool) else f"the number {spelled}"


def listed(words: Iterable[str], last: str) -> str:
    """Return words as a sentence lists them, `last` before the last one."""
    every = list(words)
    return f" {last} ".join((", ".join(every[:-1]), every[-1])) if len(every) > 1 else "".join(every)
