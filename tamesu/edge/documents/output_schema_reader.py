"""Reading the JSON Schema of an output: a file of its own, or a part of the manifest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from tamesu.base.canonical import Json
from tamesu.base.model.finding import Finding
from tamesu.base.model.manifest import OutputSchema
from tamesu.edge.documents.document import Document, DocumentFault, NodePath
from tamesu.edge.documents.jsonl import read_json
from tamesu.edge.documents.reading import Reading

_RULE = "output-schema/invalid"
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
    return OutputSchema(label, value)


def check_output_schema(reading: Reading, document: Document, at: NodePath, schema: Mapping[str, Json]) -> None:
    """Add a finding when what the manifest holds is no JSON Schema."""
    problem = _problem(schema)
    if problem is not None:
        reading.note(document, at, _RULE, f"output_schema is no JSON Schema: {problem}", _FIX)


def _problem(value: object) -> str | None:
    if not isinstance(value, Mapping):
        return "it is no mapping"
    try:
        Draft202012Validator.check_schema(value)
    except SchemaError as error:
        return error.message[:200]
    return None
