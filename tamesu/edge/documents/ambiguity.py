"""Unquoted text that other YAML parsers read as something else: refused where text is due, warned of elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from tamesu.base.model.finding import Finding, Severity
from tamesu.edge.documents.decoding import shortened
from tamesu.edge.documents.document import Document, NodePath
from tamesu.edge.documents.yaml_scalars import is_text_elsewhere, other_reading

_Schema: TypeAlias = Mapping[str, Any]
_ANY: _Schema = {}


def ambiguous_values(document: Document, schema: _Schema) -> Iterator[Finding]:
    """Yield a finding for each unquoted text or number whose type depends on the parser.

    It is an error where the schema demands text, a warning where any JSON value may stand, and nothing where the
    schema demands another type.
    """
    for path, literal in document.ambiguous.items():
        severity = _severity_of_value(schema, path)
        if severity is not None:
            yield _finding(document, path, severity, literal, "")
    for path, literal in document.literals.items():
        if is_text_elsewhere(literal) and _severity_of_value(schema, path) == "warning":
            yield _text_elsewhere(document, path, literal)


def ambiguous_keys(document: Document, schema: _Schema) -> Iterator[Finding]:
    """Yield a finding for each unquoted key whose type depends on the parser.

    It is an error where the schema tells what chosen keys hold, and a warning inside of any JSON value.
    """
    for path in document.ambiguous_keys:
        severity = _severity_of_key(schema, path)
        if severity is not None:
            yield _finding(document, path, severity, str(path[-1]), "the key ")


def _text_elsewhere(document: Document, path: NodePath, literal: str) -> Finding:
    place = document.position(path)
    message = f"{_field(path)}other YAML parsers read the number {shortened(literal)} as text"
    fix = "quote it if it is text; otherwise write plain digits, or a point and a signed exponent as in 1.0e+5"
    return Finding(document.label, place.line, place.column, "warning", "yaml/ambiguous", message, fix)


def _field(path: NodePath) -> str:
    return f"'{shortened(path[-1])}': " if path and isinstance(path[-1], str) else ""


def _finding(document: Document, path: NodePath, severity: Severity, literal: str, what: str) -> Finding:
    place = document.position(path)
    field = "" if what else _field(path)
    shown = shortened(literal)
    message = f"{field}other YAML parsers read {what}{shown} as {other_reading(literal)}"
    fix = f"quote it: '{shown}'"
    return Finding(document.label, place.line, place.column, severity, "yaml/ambiguous", message, fix)


def _severity_of_value(schema: _Schema, path: NodePath) -> Severity | None:
    forms = _forms_at(schema, path)
    if any("string" in _types(form) for form in forms):
        return "error"
    return "warning" if any(_is_free(form) for form in forms) else None


def _severity_of_key(schema: _Schema, path: NodePath) -> Severity | None:
    """A field that the schema names is no choice of the author, and one that it does not know is refused as such."""
    parents = _forms_at(schema, path[:-1])
    if any(isinstance(form.get("additionalProperties"), Mapping) for form in parents):
        return "error"
    free = any(_is_free(form) or form.get("additionalProperties") is True for form in parents)
    return "warning" if free else None


def _forms_at(schema: _Schema, path: NodePath) -> list[_Schema]:
    """Return every schema that may apply at a path, references and unions resolved."""
    definitions: _Schema = schema.get("$defs", {})
    forms = list(_forms(schema, definitions))
    for step in path:
        forms = [form for outer in forms for inner in _below(outer, step) for form in _forms(inner, definitions)]
    return forms


def _forms(schema: _Schema, definitions: _Schema) -> Iterator[_Schema]:
    if "$ref" in schema:
        yield from _forms(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    elif "anyOf" in schema:
        for branch in schema["anyOf"]:
            yield from _forms(branch, definitions)
    else:
        yield schema


def _below(schema: _Schema, step: str | int) -> Iterator[_Schema]:
    if isinstance(step, int):
        if _is_free(schema) or "array" in _types(schema):
            yield schema.get("items", _ANY)
        return
    more = schema.get("additionalProperties", _is_free(schema))
    if step in schema.get("properties", {}):
        yield schema["properties"][step]
    elif isinstance(more, Mapping):
        yield more
    elif more:
        yield _ANY


def _types(schema: _Schema) -> tuple[str, ...]:
    types = schema.get("type", ())
    return (types,) if isinstance(types, str) else tuple(types)


def _is_free(schema: _Schema) -> bool:
    return "type" not in schema and "not" not in schema
