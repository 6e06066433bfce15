"""JSONL and CSV: lines end at LF only, nothing is replaced, every refusal names its line."""

from __future__ import annotations

import json

import pytest

from tamesu.base.canonical import Json
from tamesu.base.model.finding import Finding
from tamesu.edge.documents.document import DocumentFault
from tamesu.edge.documents.jsonl import Record, read_csv_records, read_records

ROWS: list[Json] = [{"id": "a", "input": "é"}, {"id": "b", "input": [1, 2.5, None]}]
LINES = [json.dumps(row, ensure_ascii=False).encode() for row in ROWS]
PLAIN = b"\n".join(LINES) + b"\n"


def refusal(content: bytes) -> Finding:
    with pytest.raises(DocumentFault) as caught:
        read_records("items.jsonl", content)
    assert str(caught.value) == str(caught.value.finding)
    return caught.value.finding


def csv_refusal(content: bytes) -> Finding:
    with pytest.raises(DocumentFault) as caught:
        read_csv_records("items.csv", content)
    return caught.value.finding


@pytest.mark.parametrize(
    "content",
    [PLAIN, b"\xef\xbb\xbf" + PLAIN, PLAIN.replace(b"\n", b"\r\n"), PLAIN.removesuffix(b"\n")],
    ids=["plain", "bom", "crlf", "no-final-newline"],
)
def test_c39_bom_line_ends_and_a_missing_final_newline_change_nothing(content: bytes) -> None:
    assert (Record(ROWS[0], 1), Record(ROWS[1], 2)) == read_records("items.jsonl", content)


def test_c39_an_invalid_byte_is_refused_with_its_line_and_column() -> None:
    finding = refusal(b'{"a": 1}\n{"a": 2}\n{"a": "\xc3\xa9 don\x92t"}\n')
    assert (finding.line, finding.column, finding.rule) == (3, 13, "jsonl/encoding")
    assert "0x92" in finding.message


def test_c40_unicode_line_boundaries_do_not_end_a_record() -> None:
    text = "one\u2028two\x85three\u2029four"
    content = json.dumps({"text": text}, ensure_ascii=False).encode() + b"\n"
    assert content.decode().splitlines() != [content.decode().rstrip("\n")]
    assert (Record({"text": text}, 1),) == read_records("answers.jsonl", content)


def test_blank_lines_are_skipped_and_counted() -> None:
    assert (Record(1, 2), Record(2, 5)) == read_records("a.jsonl", b"\n1\n \t\n\r\n2\n\n")


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        (b'{"a": 1', "jsonl/syntax"),
        (b"{'a': 1}", "jsonl/syntax"),
        (b'{"a": 1} {"b": 2}', "jsonl/syntax"),
        (b'"a\tb"', "jsonl/syntax"),
        (b'"a\x00b"', "jsonl/encoding"),
        (b'"a\\u0000b"', "jsonl/encoding"),
        (b'{"\\ud800": 1}', "jsonl/encoding"),
        (b"[NaN]", "jsonl/number"),
        (b"-Infinity", "jsonl/number"),
        (b"1e999", "jsonl/number"),
        (b"9007199254740992", "jsonl/number"),
        (b"9" * 5000, "jsonl/number"),
        (b'{"a": 1, "b": 2, "a": 3}', "jsonl/duplicate-key"),
        (b'[{"b": {"a": 1, "a": 1}}]', "jsonl/duplicate-key"),
        (b"[" * 102 + b"1" + b"]" * 102, "jsonl/depth"),
        (b"[" * 100_000, "jsonl/depth"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_record_that_is_not_strict_json_is_refused_with_its_line(line: bytes, rule: str) -> None:
    finding = refusal(b'{"fine": true}\n' + line + b"\n")
    assert (2, rule) == (finding.line, finding.rule)


def test_escaped_characters_that_can_be_carried_are_kept() -> None:
    assert (Record("\U0001f600\u2028\\u0000", 1),) == read_records("a.jsonl", b'"\\ud83d\\ude00\\u2028\\\\u0000"')


def test_csv_cells_are_text_and_further_columns_are_metadata() -> None:
    content = '\ufeffid,input,expected,year\r\n007,"a\u2028b, ""c""",NA,1999\r\n\r\n12e3,"two\r\nlines",,\r\nx,y,z,w'
    assert (
        Record({"id": "007", "input": 'a\u2028b, "c"', "expected": "NA", "metadata": {"year": "1999"}}, 2),
        Record({"id": "12e3", "input": "two\nlines", "expected": "", "metadata": {"year": ""}}, 4),
        Record({"id": "x", "input": "y", "expected": "z", "metadata": {"year": "w"}}, 6),
    ) == read_csv_records("items.csv", content.encode())


def test_csv_without_expected_and_further_columns_yields_neither() -> None:
    assert (Record({"id": "a", "input": "b"}, 2),) == read_csv_records("items.csv", b"id,input\na,b\n")


@pytest.mark.parametrize(
    ("content", "line", "rule"),
    [
        (b"", 1, "csv/header"),
        (b"id,prompt\na,b\n", 1, "csv/header"),
        (b"id,input,input\na,b,c\n", 1, "csv/header"),
        (b"id,input,\na,b,c\n", 1, "csv/header"),
        (b"id,input\na,b\nc\n", 3, "csv/cells"),
        (b"id,input\na,b,c\n", 2, "csv/cells"),
        (b'id,input\na,"b\n', 2, "csv/syntax"),
        (b"id,input\na,\xe9\n", 2, "csv/encoding"),
        (b"id,input\na,\x00\n", 2, "csv/encoding"),
    ],
)
def test_a_csv_file_that_is_not_a_table_of_items_is_refused_with_its_line(content: bytes, line: int, rule: str) -> None:
    finding = csv_refusal(content)
    assert (line, rule) == (finding.line, finding.rule)


def test_a_csv_cell_may_be_long() -> None:
    (record,) = read_csv_records("items.csv", b"id,input\na," + b"x" * 200_000 + b"\n")
    assert record.value == {"id": "a", "input": "x" * 200_000}
