"""The corpus: every manifest is accepted, or refused with exactly its findings; nothing can be refused without a case.

C36, C37, C39 and C43 have cases here; what the files are is told in tests/corpus.py.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from tamesu.edge.documents import jsonl
from tamesu.edge.documents.schemas import DocumentKind, Schema, schema_of
from tamesu.edge.documents.yaml_reader import read_yaml
from tests.corpus import INVALID, VALID, Sample

# Keywords that only lead to other schemas; a violation names the keyword it leads to.
LEADING = frozenset({"$ref", "$dynamicRef", "properties", "items", "if"})
READERS = ("yaml_reader.py", "yaml_spaces.py", "yaml_tree.py", "jsonl.py", "decoding.py", "ambiguity.py")
TOO_LARGE_FOR_A_FILE_HERE = frozenset({"yaml/size"})  # tests/unit/test_yaml_reader.py


def rules(samples: tuple[Sample, ...], kind: DocumentKind | None = None) -> set[str]:
    return {expected.rule for sample in samples if kind in (None, sample.kind) for expected in sample.expected}


def subschemas(schema: Schema, root: Schema, name: str = "") -> Iterator[tuple[str, Schema]]:
    """Yield every schema that is reached, with the name of the field it is about."""
    yield name, schema
    if "$ref" in schema:
        yield from subschemas(root["$defs"][schema["$ref"].rpartition("/")[2]], root, name)
    for field, inner in schema.get("properties", {}).items():
        yield from subschemas(inner, root, field)
    for keyword in ("items", "additionalProperties", "then"):
        if isinstance(schema.get(keyword), dict):
            yield from subschemas(schema[keyword], root, name)
    for branch in schema.get("anyOf", ()):
        yield from subschemas(branch, root, name)


def asserted(kind: DocumentKind) -> set[str]:
    """Return the keywords of a kind that can be violated."""
    root = schema_of(kind)
    return {
        keyword
        for _, schema in subschemas(root, root)
        for keyword in schema.keys() & Draft202012Validator.VALIDATORS.keys() - LEADING
        if keyword != "additionalProperties" or schema[keyword] is False
    }


@pytest.mark.parametrize("sample", INVALID, ids=lambda sample: sample.name)
def test_an_invalid_manifest_yields_exactly_its_findings(sample: Sample) -> None:
    found = sample.findings()
    expected = sample.expected
    assert sorted((one.line, one.column, one.severity, one.rule) for one in found) == sorted(
        (one.line, one.column, one.severity, one.rule) for one in expected
    )
    assert "error" in {one.severity for one in expected}
    for one in expected:
        told = [f"{finding.message}; {finding.fix}" for finding in found if finding.rule == one.rule]
        assert any(one.text in text for text in told), told
    assert all(finding.message and finding.fix and "\n" not in str(finding) for finding in found)


@pytest.mark.parametrize("sample", VALID, ids=lambda sample: sample.name)
def test_a_valid_manifest_yields_its_warnings_only(sample: Sample) -> None:
    found = {(one.line, one.column, one.severity, one.rule) for one in sample.findings()}
    assert found == {(one.line, one.column, "warning", one.rule) for one in sample.expected}


def test_the_corpus_is_as_large_as_it_was() -> None:
    assert len(INVALID) >= 250
    assert len(VALID) >= 34


def test_no_two_cases_fail_for_the_same_reason() -> None:
    reasons = Counter((sample.kind, frozenset((one.rule, one.text) for one in sample.expected)) for sample in INVALID)
    assert [reason for reason, count in reasons.items() if count > 1] == []


@pytest.mark.parametrize("kind", DocumentKind)
def test_every_keyword_of_every_schema_has_an_invalid_case(kind: DocumentKind) -> None:
    told = {rule.removeprefix("schema/") for rule in rules(INVALID, kind) if rule.startswith("schema/")}
    assert told == asserted(kind)
    assert kind in {sample.kind for sample in VALID}


def test_every_rule_of_the_readers_has_an_invalid_case() -> None:
    """The rules are read from the sources, so that a new one cannot be forgotten here."""
    folder = Path(jsonl.__file__).parent
    named = {rule for module in READERS for rule in _rules_named(ast.parse((folder / module).read_bytes()))}
    assert {"yaml/tab", "yaml/depth", "jsonl/number", "csv/cells", "csv/encoding", "yaml/ambiguous"} <= named
    told = {rule for rule in rules(INVALID) if not rule.startswith("schema/")}
    assert told | TOO_LARGE_FOR_A_FILE_HERE == named


def _rules_named(tree: ast.AST) -> Iterator[str]:
    families = {"_Refusal": "jsonl/", "_csv_fault": "csv/", "_fault": "yaml/"}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) and ast.unparse(node) == "f'{family}/encoding'":
            yield from (f"{family}/encoding" for family in ("yaml", "jsonl", "csv"))
        elif isinstance(node, ast.Constant) and re.fullmatch("(yaml|jsonl|csv)/[a-z-]+", str(node.value)):
            yield str(node.value)
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            words = [word for argument in node.args for word in [getattr(argument, "value", None)]]
            first = next((word for word in words if isinstance(word, str)), None)
            if name in families and first is not None:
                yield families[name] + first


def test_every_refused_field_has_a_case_that_tells_why() -> None:
    root = schema_of(DocumentKind.EVAL)
    refused = {
        name: schema["x-fix"]
        for name, schema in subschemas(root, root)
        if schema.get("not") == {} or (schema.get("const") == 1 and name != "schema_version")
    }
    told = {
        name: one.fix
        for sample in INVALID
        for one in sample.findings()
        for name in refused
        if one.message.startswith((f"'{name}': this field is refused", f"'{name}': expected 1"))
    }
    assert len(refused) == 13
    assert told == refused


@pytest.mark.parametrize(
    "form", ["did you mean 'arms'?", "' or '", "it belongs at ", "known here: ", "belongs below 'parameters'"]
)
def test_every_form_of_advice_for_an_unknown_field_has_a_case(form: str) -> None:
    texts = [one.text for sample in INVALID for one in sample.expected if one.rule == "schema/additionalProperties"]
    assert any(form in text for text in texts)


@pytest.mark.parametrize(
    "sample", [sample for sample in VALID if sample.path.suffix == ".yml" and not sample.expected], ids=lambda s: s.name
)
def test_c36_a_clean_manifest_means_the_same_to_a_parser_of_yaml_1_1(sample: Sample) -> None:
    """The reader resolves scalars as YAML 1.2 does."""
    assert yaml.safe_load(sample.content) == read_yaml(sample.name, sample.content).value
