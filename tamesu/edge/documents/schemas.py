"""The shape of each kind of document: JSON Schemas applied, every violation one finding with its place."""

from __future__ import annotations

import enum
import functools
import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend

from tamesu.base.canonical import Json
from tamesu.base.model.finding import Finding
from tamesu.edge.documents.ambiguity import ambiguous_keys, ambiguous_values
from tamesu.edge.documents.calendar import calendar
from tamesu.edge.documents.document import Document
from tamesu.edge.documents.violations import Shape, findings
from tamesu.workflow_files import workflow_folder

# A file of another kind yields thousands of findings that nobody reads.
MAX_FINDINGS = 200

Schema: TypeAlias = Mapping[str, Any]


class DocumentKind(enum.StrEnum):
    """A kind of document, named as its schema file; an item is one record of a JSONL or CSV file."""

    CASE = "case"
    DATASET = "dataset"
    ITEM = "item"
    EVAL = "eval"
    RUBRIC = "rubric"
    CONFIG = "config"
    MODELS = "models"
    IMAGE_LOCK = "image-lock"
    UNTRUSTED_ORIGIN = "untrusted-origin"
    RESPONSES = "responses"
    PUBLICATION = "publication"
    PACKAGE = "package"
    VIEW_ONLY = "view-only"
    REGISTRY_ENTRY = "registry-entry"
    PUBLISHER = "publisher"


def validate(document: Document, kind: DocumentKind) -> tuple[Finding, ...]:
    """Return every violation of the kind's schema in the order of the file, at most 200; empty if it fits."""
    shape = Shape(document, known_fields(kind))
    wrong = (finding for error in schema_errors(document.value, kind) for finding in findings(shape, error))
    found = set(itertools.islice(wrong, MAX_FINDINGS))
    places = {(finding.line, finding.column) for finding in found}
    # What has to be written otherwise anyway need not be quoted first.
    found.update(
        finding
        for finding in ambiguous_values(document, schema_of(kind))
        if (finding.line, finding.column) not in places
    )
    found.update(ambiguous_keys(document, schema_of(kind)))
    return tuple(sorted(found)[:MAX_FINDINGS])


def schema_errors(value: Json, kind: DocumentKind) -> Iterator[ValidationError]:
    """Yield each violation of the kind's schema as the validator has it."""
    yield from _validator(kind).iter_errors(value)


@functools.cache
def leaf_fields(kind: DocumentKind) -> tuple[str, ...]:
    """Return the dotted name of every leaf that a kind knows, such as `arms[].prompts.user`.

    `[]` stands for each element of a list, `*` for each name that the author chooses.
    """
    schema = schema_of(kind)
    return tuple(sorted(set(_leaves(schema, schema.get("$defs", {}), ""))))


@functools.cache
def known_fields(kind: DocumentKind) -> tuple[str, ...]:
    """Return the dotted name of every field that a kind names, the fields that hold others included."""
    steps = [leaf.split(".") for leaf in leaf_fields(kind)]
    fields = {".".join(names[:length]) for names in steps for length in range(1, len(names) + 1)}
    return tuple(sorted({field.rstrip("[]") for field in fields if not field.endswith("*")}))


def schema_folder() -> Path:
    """Return the folder of the schema files, packaged or in a checkout."""
    return workflow_folder() / "schemas"


@functools.cache
def schema_of(kind: DocumentKind) -> Schema:
    """Return the JSON Schema of a kind."""
    if kind is DocumentKind.ITEM:
        dataset = schema_of(DocumentKind.DATASET)
        return {"$ref": "#/$defs/item", "$defs": dataset["$defs"]}
    schema: Schema = json.loads((schema_folder() / f"{kind}.schema.json").read_text(encoding="utf-8"))
    return schema


@functools.cache
def _validator(kind: DocumentKind) -> Validator:
    schema = schema_of(kind)
    validator: Validator = _STRICT(_inlined(schema, schema.get("$defs", {})), format_checker=calendar())
    return validator


def _inlined(schema: Any, definitions: Schema) -> Any:
    """Put definitions in the place of references; looking them up took a third of reading many items."""
    if isinstance(schema, list):
        return [_inlined(part, definitions) for part in schema]
    if not isinstance(schema, dict):
        return schema
    own = {name: _inlined(part, definitions) for name, part in schema.items() if name not in ("$ref", "$defs")}
    if "$ref" not in schema:
        return own
    return {**_inlined(definitions[schema["$ref"].rpartition("/")[2]], definitions), **own}


def _is_whole_number(_: object, instance: object) -> bool:
    return isinstance(instance, int) and not isinstance(instance, bool)


# JSON Schema takes 1.0 for an integer; what counts repetitions must have been written as a whole number.
_STRICT: Any = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_whole_number),
)


def _leaves(schema: Schema, definitions: Schema, path: str) -> Iterator[str]:
    if "$ref" in schema:
        yield from _leaves(definitions[schema["$ref"].rpartition("/")[2]], definitions, path)
        return
    inner = {f"{path}.{name}" if path else name: field for name, field in schema.get("properties", {}).items()}
    if "items" in schema:
        inner[f"{path}[]"] = schema["items"]
    if schema.get("type") == "object" and schema.get("additionalProperties"):
        more = schema["additionalProperties"]
        inner[f"{path}.*"] = more if isinstance(more, dict) else {}
    branches = schema.get("anyOf", ())
    if not inner and not branches and "not" not in schema:
        yield path
    for branch in branches:
        yield from _leaves(branch, definitions, path)
    for name, field in inner.items():
        yield from _leaves(field, definitions, name)
