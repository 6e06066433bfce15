"""Schemas: closed, described, and told as findings in the order of the file; cases are in tests/schemas."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tamesu.base.model.finding import Finding
from tamesu.edge.documents.jsonl import read_records
from tamesu.edge.documents.schemas import (
    MAX_FINDINGS,
    DocumentKind,
    known_fields,
    leaf_fields,
    schema_folder,
    validate,
)
from tamesu.edge.documents.yaml_reader import DocumentFault, read_yaml

MANIFESTS = Path(__file__).parents[1] / "schemas"
SCHEMAS = sorted(schema_folder().glob("*.schema.json"))
FREE_MAPS = {
    "parameters",
    "task_args",
    "metadata",
    "model_args",
    "approval",
    "review",
    "sandbox",
    "output_schema",
    "references",
}


def findings_of(text: str, kind: DocumentKind) -> tuple[Finding, ...]:
    try:
        return validate(read_yaml("manifest.yml", text.encode()), kind)
    except DocumentFault as error:
        return (error.finding,)


def subschemas(schema: Any, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(schema, dict):
        yield name, schema
        for key, inner in schema.items():
            if key in ("properties", "$defs"):
                for field, field_schema in inner.items():
                    yield from subschemas(field_schema, field)
            elif key in ("items", "additionalProperties", "anyOf"):
                for part in inner if isinstance(inner, list) else [inner]:
                    yield from subschemas(part, name)


@pytest.mark.parametrize("file", SCHEMAS, ids=lambda file: file.stem)
def test_a_schema_is_a_schema(file: Path) -> None:
    Draft202012Validator.check_schema(json.loads(file.read_text(encoding="utf-8")))


@pytest.mark.parametrize("file", SCHEMAS, ids=lambda file: file.stem)
def test_objects_are_closed_and_their_fields_described(file: Path) -> None:
    open_objects, undescribed = set(), set()
    for name, schema in subschemas(json.loads(file.read_text(encoding="utf-8")), file.stem):
        types = schema.get("type", ())
        if "object" in ([types] if isinstance(types, str) else types) and (
            schema.get("additionalProperties", True) is True
        ):
            open_objects.add(name)
        undescribed |= {field for field, inner in schema.get("properties", {}).items() if not inner.get("description")}
    assert open_objects <= FREE_MAPS
    assert undescribed == set()


@pytest.mark.parametrize("literal", ["no", "off", "yes", "on", "y"])
def test_c36_a_yaml_1_1_boolean_is_no_boolean(literal: str) -> None:
    text = (MANIFESTS / "valid" / "eval--minimal.yml").read_text() + (
        f"execution:\n  allow_mutable_images: {literal}\n"
    )
    (finding,) = findings_of(text, DocumentKind.EVAL)
    assert finding.message.endswith(f"expected true or false, found the text '{literal}'")


def test_all_findings_come_at_once_in_the_order_of_the_file() -> None:
    text = "nam: a\nstatus: 3\nschema_version: 1.0\nquestion: [a]\n"
    found = findings_of(text, DocumentKind.CASE)
    assert [(finding.line, finding.rule) for finding in found] == [
        (1, "schema/additionalProperties"),
        (1, "schema/required"),
        (2, "schema/type"),
        (3, "schema/type"),
        (4, "schema/type"),
    ]


def test_a_finding_inside_an_alias_names_the_place_where_the_value_is_written() -> None:
    text = "items:\n  - &first {id: A, input: 1}\n  - *first\n"
    found = findings_of(text, DocumentKind.DATASET)
    assert {(2, 13, "schema/pattern")} == {(finding.line, finding.column, finding.rule) for finding in found}


def test_a_pattern_does_not_overlook_a_final_newline() -> None:
    found = findings_of('items: [{id: "a\\n", input: 1}]', DocumentKind.DATASET)
    assert [finding.rule for finding in found] == ["schema/pattern"]


def test_a_file_of_another_kind_yields_a_bounded_number_of_findings_in_bounded_time() -> None:
    text = "".join(f"field-{number}: {number}\n" for number in range(20_000))
    start = time.monotonic()
    found = findings_of(text, DocumentKind.EVAL)
    assert len(found) <= MAX_FINDINGS
    assert time.monotonic() - start < 10


def test_a_record_of_a_jsonl_file_is_validated_as_an_item() -> None:
    records = read_records("items.jsonl", b'{"id": "a", "input": 1}\n\n{"id": "B", "inputs": 1}\n')
    found = [validate(record.document("items.jsonl"), DocumentKind.ITEM) for record in records]
    assert found[0] == ()
    assert {(3, "schema/additionalProperties"), (3, "schema/required"), (3, "schema/pattern")} == {
        (finding.line, finding.rule) for finding in found[1]
    }


def test_known_fields_name_nested_fields_and_leaves() -> None:
    fields, leaves = known_fields(DocumentKind.EVAL), leaf_fields(DocumentKind.EVAL)
    assert {"arms", "arms[].prompts.user", "execution.limits", "evaluation.mechanical[].*.pass_at"} <= set(fields)
    assert {"arms[].prompts.user", "runs[].arms[]", "defaults.parameters.*", "defaults.items"} <= set(leaves)
    assert "execution.inspect.cache" not in fields
    assert "execution.limits" not in leaves
