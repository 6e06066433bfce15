"""C36: what a YAML parser could take for a boolean, a number, a date or nothing must be quoted where text is due."""

from __future__ import annotations

import re

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tamesu.base.model.finding import Finding
from tamesu.edge.documents.schemas import DocumentKind, validate
from tamesu.edge.documents.yaml_reader import DocumentFault, read_yaml
from tamesu.edge.documents.yaml_scalars import UncarriedNumber, is_text_elsewhere, other_reading, resolve_plain

REPORTED = ["no", "0144", "12:30", "4.10", "1.0e+5", "7_000", "2026-03-01", "~", "1e5", "83e2010"]
FURTHER = ["on", "y", ".inf", "0x1F", "1_0.5", "=", "<<", "089", "0b11", "1:30.5", "2026-03-01 10:00:00 Z", "true"]
TEXT = ["a", "1.2.3", "v1", "nope", "-a", "1e", "2026-03", "12:75", "0x", "1024x1024", "a=b", "yess", "_1"]

EVAL = """\
dataset: ../../datasets/a/dataset.yml
arms: [{id: plain}]
runs: [{provider: meta, model: m}]
"""
# The core schema of YAML 1.2.2, section 10.3.2, as its table has it.
CORE = re.compile(
    r"null|Null|NULL|~||true|True|TRUE|false|False|FALSE|[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"
    r"|[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?(\.inf|\.Inf|\.INF)|\.nan|\.NaN|\.NAN"
)


def findings_of(text: str, kind: DocumentKind) -> tuple[Finding, ...]:
    try:
        return validate(read_yaml("manifest.yml", text.encode()), kind)
    except DocumentFault as error:
        return (error.finding,)


@pytest.mark.parametrize("literal", [*REPORTED, *FURTHER])
@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (DocumentKind.CASE, "question: a\nname: @\n"),
        (DocumentKind.CASE, "name: a\nbusiness_use: @\n"),
        (DocumentKind.CONFIG, "schema_version: 1\ninspect_version: @\n"),
        (DocumentKind.DATASET, "items:\n  - {id: @, input: a}\n"),
        (DocumentKind.EVAL, EVAL + "defaults: {items: {ids: [@]}}\n"),
        (DocumentKind.EVAL, EVAL + "evaluation:\n  mechanical: [@]\n"),
        (DocumentKind.EVAL, EVAL + "execution: {inspect: {tags: [@]}}\n"),
    ],
    ids=["name", "prose", "version", "item-id", "selected-id", "scorer", "tag"],
)
def test_c36_what_a_parser_could_take_for_something_else_is_refused_where_text_is_due(
    kind: DocumentKind, text: str, literal: str
) -> None:
    (finding,) = findings_of(text.replace("@", literal), kind)
    line = next(number for number, written in enumerate(text.splitlines(), 1) if "@" in written)
    assert (line, "error") == (finding.line, finding.severity)
    assert literal in finding.message
    quoted = findings_of(text.replace("@", f"'{literal}'"), kind)
    assert {one.rule for one in quoted} <= {"schema/pattern"}


@pytest.mark.parametrize("literal", ["no", "2026-03-01", "0144"])
def test_c36_an_id_whose_form_is_right_must_be_quoted(literal: str) -> None:
    (finding,) = findings_of(f"items:\n  - {{id: {literal}, input: a}}\n", DocumentKind.DATASET)
    assert (finding.line, finding.column, finding.rule) == (2, 6, "yaml/ambiguous")
    assert finding.message.startswith(f"'id': other YAML parsers read {literal} as ")
    assert finding.fix == f"quote it: '{literal}'"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("items:\n  - id: a\n    input: @\n", DocumentKind.DATASET),
        ("items:\n  - id: a\n    input: {x: [1, @]}\n", DocumentKind.DATASET),
        ("items:\n  - id: a\n    input: {'x': 1, @: 1}\n", DocumentKind.DATASET),
        ("items:\n  - {id: a, input: 1, expected: @}\n", DocumentKind.DATASET),
        ("items:\n  - {id: a, input: 1, metadata: {b: @}}\n", DocumentKind.DATASET),
        (EVAL + "defaults: {parameters: {seed: @}}\n", DocumentKind.EVAL),
        (EVAL + "execution: {task_args: {a: @}}\n", DocumentKind.EVAL),
    ],
    ids=["input", "inside-input", "key", "expected", "metadata", "parameter", "task-argument"],
)
def test_c36_where_any_value_may_stand_it_is_a_warning(text: str, kind: DocumentKind) -> None:
    (finding,) = findings_of(text.replace("@", "no"), kind)
    assert (finding.severity, finding.rule) == ("warning", "yaml/ambiguous")
    assert (finding.fix, findings_of(text.replace("@", "'no'"), kind)) == ("quote it: 'no'", ())


@pytest.mark.parametrize("literal", ["1e5", "83e20", "0o17", "1.0e5", "-.5"])
def test_c36_a_number_that_yaml_1_1_reads_as_text_is_a_warning_where_any_value_may_stand(literal: str) -> None:
    text = EVAL + f"defaults: {{budget_usd: 1e-1, parameters: {{revision: {literal}}}}}\n"
    (finding,) = findings_of(text, DocumentKind.EVAL)
    assert (finding.line, finding.severity, finding.rule) == (4, "warning", "yaml/ambiguous")
    assert finding.message == f"'revision': other YAML parsers read the number {literal} as text"


@pytest.mark.parametrize(
    "text", [EVAL + "evaluation: {mechanical: [{on: {pass_at: 1}}]}\n", EVAL + "execution: {model_roles: {on: {}}}\n"]
)
def test_c36_a_key_that_names_something_must_be_quoted(text: str) -> None:
    found = [finding for finding in findings_of(text, DocumentKind.EVAL) if finding.rule == "yaml/ambiguous"]
    assert [finding.message for finding in found] == ["other YAML parsers read the key on as true"]
    assert [finding.severity for finding in found] == ["error"]


def test_c36_a_field_that_takes_no_text_tells_its_own_mistake_only() -> None:
    found = findings_of(EVAL + "defaults: {retries: 012}\nstatus: on\n", DocumentKind.EVAL)
    assert [finding.rule for finding in found] == ["schema/type", "schema/enum"]


def test_c36_every_place_behind_an_alias_is_told_once() -> None:
    found = findings_of("items:\n  - {id: a, input: &a [no, no]}\n  - {id: b, input: *a}\n", DocumentKind.DATASET)
    assert [(finding.line, finding.column) for finding in found] == [(2, 24), (2, 28)]


@pytest.mark.parametrize("literal", TEXT)
def test_text_that_all_parsers_read_as_text_needs_no_quotes(literal: str) -> None:
    assert findings_of(f"name: {literal}\n", DocumentKind.CASE) == ()


@settings(max_examples=3000)
@given(
    st.text("0123456789_.:-+eExobaTZ~ ", min_size=1, max_size=10).map(str.strip)
    | st.sampled_from(["y", "N", "Yes", "oN", "OFF", "=", "<<", "null", ".nan", "2026-3-1", "2026-03-01t1:02:03"])
)
def test_c36_what_is_not_told_means_the_same_to_a_parser_of_yaml_1_1_and_of_1_2(literal: str) -> None:
    """PyYAML is the parser of 1.1; the table of the core schema stands for one of 1.2."""
    try:
        value = resolve_plain(literal)
    except UncarriedNumber:
        return
    old = yaml.SafeLoader("").resolve(yaml.ScalarNode, literal, (True, False)).rpartition(":")[2]
    if isinstance(value, str):
        assert other_reading(literal) or (old, CORE.fullmatch(literal)) == ("str", None)
    else:
        assert (old == "str") == is_text_elsewhere(literal)
        assert CORE.fullmatch(literal)
