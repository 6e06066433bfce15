"""Reading the JSON Schema of an output: a file of its own, or a part of the manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from tamesu.base.canonical import Json
from tamesu.base.errors import shown
from tamesu.base.model.finding import Finding
from tamesu.base.model.manifest import OutputSchema
from tamesu.core.checks.patterns import pattern_problem, schema_patterns
from tamesu.edge.documents.document import Document, DocumentFault, NodePath
from tamesu.edge.documents.jsonl import read_json
from tamesu.edge.documents.reading import Reading

_RULE = "output-schema/invalid"
_PATTERN = "output-schema/pattern"
_PATTERN_FIX = "write one whose repetitions begin with a character that nothing else in them matches, or bound them"
_FIX = "write a JSON Schema of draft 2020-12"


def read_output_schema(reading: Reading, path: Path) -> OutputSchema | None:
    """Return the schema that a file holds; None, with a finding, when it holds none."""
    label = reading.relative(path)
    try:
        value = read_json(label, reading.content(path))
    except DocumentFault as error:
        reading.findings.append(error.finding)
        return None
    problem = _problem(value)
    if problem is not None or not isinstance(value, Mapping):
        reading.findings.append(Finding(label, 1, 1, "error", _RULE, f"is no JSON Schema: {problem}", _FIX))
        return None
    for message in _unusable(value):
        reading.findings.append(Finding(label, 1, 1, "error", _PATTERN, message, _PATTERN_FIX))
    return OutputSchema(label, value)


def _unusable(schema: Mapping[str, Json]) -> Iterator[str]:
    for pattern in dict.fromkeys(schema_patterns(dict(schema))):
        problem = pattern_problem(pattern)
        if problem is not None:
            yield f"the pattern '{shown(pattern)}' {problem}"


def check_output_schema(reading: Reading, document: Document, at: NodePath, schema: Mapping[str, Json]) -> None:
    """Add a finding when what the manifest holds is no JSON Schema, or one whose patterns cannot be used."""
    problem = _problem(schema)
    if problem is not None:
        reading.note(document, at, _RULE, f"output_schema is no JSON Schema: {problem}", _FIX)
        return
    for message in _unusable(schema):
        reading.note(document, at, _PATTERN, message, _PATTERN_FIX)


def _problem(value: object) -> str | None:
    if not isinstance(value, Mapping):
        return "it is no mapping"
    try:
        Draft202012Validator.check_schema(value)
    except SchemaError as error:
        return error.message[:200]
    return None
