"""Inputs without end for the readers of documents; run as a program it prints what it saw as JSON.

It runs in a process of its own so that the address space can be bounded: an input that needs more memory
ends in MemoryError there, which is neither a document nor a fault and so fails the property.
"""

from __future__ import annotations

import json
import resource
import sys
from collections import Counter

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tamesu.base.canonical import Json, canonical_bytes
from tamesu.base.model.finding import Finding
from tamesu.edge.documents.document import Document, DocumentFault, NodePath
from tamesu.edge.documents.jsonl import read_csv_records, read_records
from tamesu.edge.documents.schemas import DocumentKind, validate
from tamesu.edge.documents.yaml_reader import MergeKeys, read_yaml
from tests.corpus import INVALID, VALID

MEMORY = 200 * 1024 * 1024
SECONDS_IN_MS = 1000

SAMPLES = (*VALID, *INVALID)
MANIFESTS = [sample.content for sample in SAMPLES if sample.path.suffix == ".yml"]
ITEM_FILES = [sample.content for sample in SAMPLES if sample.path.suffix != ".yml"]
KNOWN_RULES = {expected.rule for sample in SAMPLES for expected in sample.expected} | {"yaml/size"}
seen: Counter[str] = Counter()

FRAGMENTS = [
    *(b"\x00", b"\xff", b"\x92", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xef\xbb\xbf", b"\xff\xfe", b"\x1b"),
    *(b"\r\n", b"\r", b"\n", b"\t", b" ", b"\xc2\x85", b"\xe2\x80\xa8", b"\xef\xbf\xbf", b"\xee\x80\x80"),
    *(b": ", b"- ", b"? ", b"[", b"]", b"{", b"}", b", ", b"'", b'"', b"|\n", b">-\n", b"#", b"%YAML 1.2\n"),
    *(b"&a ", b"*a", b"&b ", b"*b", b"<<: ", b"!!str ", b"!<%ff> ", b"---\n", b"...\n", b"null", b"1e999", b"0x"),
    *(b"\\ud800", b"\\u0000", b'{"id": "a", "input": 1}', b"id,input\n", b"no", b"0144", b"12:30", b".inf", b"~", b"="),
    *(b"[" * 150, b"{" * 150, b"- " * 150, b"{a: " * 150, b"x" * 3000, b"9" * 400, b'"' + b"\\n" * 200 + b'"'),
]
fragments = st.sampled_from(FRAGMENTS) | st.binary(max_size=4)
tokens = st.lists(st.sampled_from(FRAGMENTS) | st.sampled_from([b"a", b"b", b"1"]), max_size=40).map(b"".join)
changes = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 8), fragments), max_size=6)
encodings = st.sampled_from(["utf-16", "utf-16-be", "utf-32", "utf-7", "utf-8-sig"])
names = st.sampled_from(["a", "b", "id", "input", "items", "name", "no", "1", "~", "'<<'", "<<"])
plain = st.sampled_from(["x", "no", "0144", "1e5", "2026-03-01", "''", "|\n  x", "*a", "*b", "*c", "~", "!!int 1"])
grown = st.recursive(
    plain,
    lambda inner: (
        st.tuples(st.sampled_from(["", "&a ", "&b ", "&c "]), st.lists(inner, max_size=6)).map(
            lambda node: f"{node[0]}[{', '.join(node[1])}]"
        )
        | st.tuples(st.sampled_from(["", "&a ", "&b ", "&c "]), st.lists(st.tuples(names, inner), max_size=4)).map(
            lambda node: f"{node[0]}{{{', '.join(f'{name}: {value}' for name, value in node[1])}}}"
        )
    ),
    max_leaves=40,
)
# Levels of anchors, each with a number of aliases of the level before: some are honest, most are bombs.
ladders = st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=1, max_size=30)

bounded = settings(
    deadline=SECONDS_IN_MS, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)


@settings(bounded, max_examples=300)
@given(st.binary(max_size=300))
def raw_bytes(content: bytes) -> None:
    read_as_manifest(content)
    read_as_items(content)


@settings(bounded, max_examples=1000)
@given(tokens)
def token_soup(content: bytes) -> None:
    read_as_manifest(content)
    read_as_items(content)


@settings(bounded, max_examples=3000)
@given(st.sampled_from(MANIFESTS), st.sampled_from(MANIFESTS), st.none() | st.floats(0, 1), changes)
def damaged_manifests(first: bytes, second: bytes, cut: float | None, damage: list[tuple[float, int, bytes]]) -> None:
    read_as_manifest(damaged(spliced(first, second, cut), damage))


@settings(bounded, max_examples=300)
@given(grown | ladders.map(lambda levels: ladder(levels)))
def anchors_and_aliases(text: str) -> None:
    read_as_manifest(text.encode())


@settings(bounded, max_examples=300)
@given(st.sampled_from([*MANIFESTS, *ITEM_FILES]), encodings)
def other_encodings(content: bytes, encoding: str) -> None:
    recoded = content.decode("utf-8", "replace").encode(encoding)
    read_as_manifest(recoded)
    read_as_items(recoded)


@settings(bounded, max_examples=2000)
@given(st.sampled_from(ITEM_FILES), st.sampled_from(ITEM_FILES), st.none() | st.floats(0, 1), changes)
def damaged_item_files(first: bytes, second: bytes, cut: float | None, damage: list[tuple[float, int, bytes]]) -> None:
    read_as_items(damaged(spliced(first, second, cut), damage))


PROPERTIES = (raw_bytes, token_soup, damaged_manifests, anchors_and_aliases, other_encodings, damaged_item_files)


def spliced(first: bytes, second: bytes, cut: float | None) -> bytes:
    """Return the first file, or the beginning of the first with the end of the second."""
    return first if cut is None else first[: int(cut * len(first))] + second[int(cut * len(second)) :]


def damaged(content: bytes, damage: list[tuple[float, int, bytes]]) -> bytes:
    for place, removed, inserted in damage:
        start = int(place * len(content))
        content = content[:start] + inserted + content[start + removed :]
    return content


def ladder(levels: list[tuple[int, bool]]) -> str:
    lines = ["l0: &l0 x"]
    for number, (width, mapping) in enumerate(levels, 1):
        aliases = [f"*l{number - 1}"] * width
        keyed = ", ".join(f"k{key}: {alias}" for key, alias in enumerate(aliases))
        body = f"{{{keyed}}}" if mapping else f"[{', '.join(aliases)}]"
        lines.append(f"l{number}: &l{number} {body}")
    return "\n".join(lines)


def read_as_manifest(content: bytes) -> None:
    seen["inputs"] += 1
    for merges in MergeKeys:
        try:
            document = read_yaml("fuzz.yml", content, merges=merges)
        except DocumentFault as error:
            check_fault(error, content)
        else:
            seen["documents"] += 1
            check_document(document, content)


def read_as_items(content: bytes) -> None:
    seen["inputs"] += 1
    for read in (read_records, read_csv_records):
        try:
            records = read("fuzz", content)
        except DocumentFault as error:
            check_fault(error, content)
        else:
            seen["item files"] += 1
            for record in records:
                assert canonical_bytes(record.value)
                check_findings(validate(record.document("fuzz"), DocumentKind.ITEM), content)


def check_fault(error: DocumentFault, content: bytes) -> None:
    assert str(error) == str(error.finding)
    assert error.finding.severity == "error"
    check_findings((error.finding,), content)


def check_findings(findings: tuple[Finding, ...], content: bytes) -> None:
    lines = content.count(b"\n") + content.count(b"\r") + 1
    for finding in findings:
        seen[finding.rule] += 1
        assert 1 <= finding.line <= lines
        assert 1 <= finding.column <= len(content) + 1
        assert "\n" not in str(finding)
        assert finding.fix
        assert finding.rule in KNOWN_RULES


def check_document(document: Document, content: bytes) -> None:
    assert canonical_bytes(document.value)
    known = set(paths(document.value))
    assert known == set(document.positions)
    assert known >= document.literals.keys() | document.ambiguous.keys() | document.ambiguous_keys
    for kind in DocumentKind:
        check_findings(validate(document, kind), content)


def paths(value: Json, path: NodePath = ()) -> list[NodePath]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(inner for name, child in children for inner in paths(child, (*path, name)))]


def main() -> None:
    (prop,) = (prop for prop in PROPERTIES if prop.__name__ == sys.argv[1])
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    prop()
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
