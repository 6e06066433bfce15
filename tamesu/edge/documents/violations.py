"""Violations of a schema, told as findings: where, what was found, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema.exceptions import ValidationError

from tamesu.base.model.finding import Finding
from tamesu.edge.documents.advice import advice
from tamesu.edge.documents.unknown_fields import unknown_fields
from tamesu.edge.documents.violation import Advice, Shape, Violation, listed, violation_of

__all__ = ["Shape", "findings"]

_CLASSES = {"integer": int, "string": str}


def findings(shape: Shape, error: ValidationError) -> Iterator[Finding]:
    """Yield the findings of one schema error: one, except where several fields are unknown."""
    violation = violation_of(shape, error)
    if violation.keyword == "additionalProperties":
        yield from map(violation.finding, unknown_fields(violation))
    elif violation.keyword in ("anyOf", "oneOf"):
        yield from _union(violation)
    elif not _told_by_type(violation) and not _told_by_pattern(violation):
        yield violation.finding(advice(violation))


def _told_by_type(violation: Violation) -> bool:
    """Say whether the keyword `type` of the same schema tells the same mistake."""
    expected = _CLASSES.get(str(violation.schema.get("type")))
    return violation.keyword in ("const", "enum") and expected not in (None, type(violation.value))


def _told_by_pattern(violation: Violation) -> bool:
    """Say whether the keyword `pattern` of the same schema tells the same mistake."""
    form = str(violation.schema.get("pattern", ""))
    return violation.keyword == "format" and re.search(form, str(violation.value)) is None


def _union(violation: Violation) -> Iterator[Finding]:
    branches: list[Mapping[str, Any]] = violation.wanted
    if all(branch.keys() == {"required"} for branch in branches):
        if not isinstance(violation.value, dict):
            return  # told by the keyword `type`; `required` accepts what is no mapping
        names = [name for branch in branches for name in branch["required"]]
        yield violation.finding(_one_of_fields(violation, names))
        return
    context = violation.error.context
    inner = [[child for child in context if child.schema_path[0] == index] for index in range(len(branches))]
    fitting = [children for children in inner if not any(map(_is_wrong_type, children))]
    if len(fitting) == 1 and not all(map(_is_wrong_word, fitting[0])):
        for child in fitting[0]:
            yield from findings(violation.shape, child)
        return
    expected = listed((branch.get("title", "another form") for branch in branches), "or")
    message = f"{violation.field}expected {expected}, found {violation.found}"
    yield violation.finding(Advice(message, f"write {expected}"))


def _is_wrong_type(child: ValidationError) -> bool:
    return child.validator == "type" and not child.relative_path


def _is_wrong_word(child: ValidationError) -> bool:
    """Say whether a text is none of the words that a branch takes; another branch may be what was meant."""
    return child.validator == "enum" and not child.relative_path


def _one_of_fields(violation: Violation, names: list[str]) -> Advice:
    present = [f"'{name}'" for name in names if name in violation.value]
    wanted = listed((f"'{name}'" for name in names), "or")
    message = f"{listed(present, 'and')} exclude each other" if present else f"one of {wanted} is required"
    return Advice(message, f"give exactly one of {wanted}")
