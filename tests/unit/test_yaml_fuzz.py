"""Whatever the bytes, the reader returns a document that JSON can carry, or a fault with a place."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tamesu.base.canonical import Json, canonical_bytes
from tamesu.edge.documents.document import Document, DocumentFault, NodePath
from tamesu.edge.documents.jsonl import read_csv_records, read_records
from tamesu.edge.documents.schemas import DocumentKind, validate
from tamesu.edge.documents.yaml_reader import MergeKeys, read_yaml

MANIFESTS = sorted((Path(__file__).parents[1] / "schemas").glob("*/*.yml"))
SOURCES = [file.read_bytes() for file in MANIFESTS]
FRAGMENTS = [
    *(b"\x00", b"\xff", b"\xef\xbb\xbf", b"\r\n", b"\r", b"\n", b"\t", b" ", b"\xc2\x85", b"\xe2\x80\xa8"),
    *(b": ", b"- ", b"? ", b"[", b"]", b"{", b"}", b", ", b"'", b'"', b"|\n", b">-\n", b"#", b"%YAML 1.2\n"),
    *(
        b"&a ",
        b"*a",
        b"<<: ",
        b"!!str ",
        b"!<%ff> ",
        b"---\n",
        b"...\n",
        b"null",
        b"1e999",
        b"0x",
        b"\\ud800",
    ),
]

mutations = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 8), st.sampled_from(FRAGMENTS) | st.binary(max_size=4)),
    max_size=6,
)
soup = st.lists(st.sampled_from(FRAGMENTS) | st.sampled_from([b"a", b"b", b"1"]), max_size=40).map(b"".join)


def mutated(source: bytes, changes: list[tuple[float, int, bytes]]) -> bytes:
    for place, removed, inserted in changes:
        start = int(place * len(source))
        source = source[:start] + inserted + source[start + removed :]
    return source


def paths(value: Json, path: NodePath = ()) -> list[NodePath]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(inner for name, child in children for inner in paths(child, (*path, name)))]


def check(content: bytes) -> None:
    for merges in MergeKeys:
        try:
            document = read_yaml("fuzz.yml", content, merges=merges)
        except DocumentFault as error:
            check_fault(error, content)
        else:
            check_document(document, content)


def check_fault(error: DocumentFault, content: bytes) -> None:
    lines = content.count(b"\n") + content.count(b"\r") + 1
    assert 1 <= error.finding.line <= lines
    assert 1 <= error.finding.column <= len(content) + 1
    assert str(error) == str(error.finding)
    assert "\n" not in str(error)


def check_document(document: Document, content: bytes) -> None:
    assert canonical_bytes(document.value)
    assert set(paths(document.value)) == set(document.positions)
    for kind in DocumentKind:
        for finding in validate(document, kind):
            assert 1 <= finding.line <= content.count(b"\n") + content.count(b"\r") + 1


@settings(max_examples=250, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    check(content)


@settings(max_examples=250, deadline=None)
@given(soup)
def test_any_sequence_of_yaml_tokens_is_read_or_refused(content: bytes) -> None:
    check(content)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(SOURCES), mutations)
def test_any_damaged_manifest_is_read_or_refused(source: bytes, changes: list[tuple[float, int, bytes]]) -> None:
    check(mutated(source, changes))


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=100) | soup)
def test_any_bytes_are_records_or_refused(content: bytes) -> None:
    for read in (read_records, read_csv_records):
        try:
            records = read("fuzz", content)
        except DocumentFault as error:
            check_fault(error, content)
        else:
            assert all(canonical_bytes(record.value) for record in records)
