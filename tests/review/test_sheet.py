"""responses.csv: what a spreadsheet does to it on the way does not change what was answered."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamesu.base.model.judgement import Answer
from tamesu.base.model.manifest import Dimension, Rubric
from tamesu.core.review.pack import Pack, PackEntry, Shown
from tamesu.core.review.sheet import FORMULA, empty_sheet, header, neutralised, restored
from tamesu.edge.documents.responses_reader import read_responses
from tamesu.edge.documents.responses_sheet import MAX_BYTES, has_answers, read_sheet

RUBRIC = Rubric("r.yml", "r", (Dimension("input", "?", ("bad",)), Dimension("pack", "?")), "0" * 64)
COLUMNS = header(("input", "pack"))
PACK = "ada-001-abcdef"


def pack(*inputs: str) -> Pack:
    entries = tuple(
        PackEntry(f"e-{number:012x}", (Shown("", "text", text=text),), ()) for number, text in enumerate(inputs)
    )
    return Pack(PACK, "review", RUBRIC, "t", entries)


def sheet(*rows: list[str], delimiter: str = ",", encoding: str = "utf-8-sig", end: str = "\r\n") -> bytes:
    buffer = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if end == "\r" else csv.QUOTE_MINIMAL  # else Python leaves a line feed bare
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerows([COLUMNS, *rows])
    return buffer.getvalue().encode(encoding)


def row(entry: str = "e-1", *cells: str) -> list[str]:
    return [PACK, entry, "a scene", *cells]


def told(content: bytes) -> list[tuple[int, int, str]]:
    read = read_sheet("responses.csv", content)
    assert (read.submission is None) == bool(read.findings)
    return [(one.line, one.column, one.rule.removeprefix("responses/")) for one in read.findings]


def answers(content: bytes) -> dict[str, dict[str, Answer]]:
    read = read_sheet("responses.csv", content)
    assert read.submission is not None, read.findings
    assert read.submission.pack == PACK
    return {one.entry: dict(one.answers) for one in read.submission.reviews}


def test_an_exported_sheet_is_what_spreadsheets_read() -> None:
    content = empty_sheet(pack("A red sun.", "x" * 300, "two\nlines\x00\x1b"))
    assert content.startswith(b"\xef\xbb\xbf")
    assert content.count(b"\r\n") == content.count(b"\n") == 4
    rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    assert rows[0] == COLUMNS
    assert [one[:3] for one in rows[1:]] == [
        [PACK, "e-000000000000", "A red sun."],
        [PACK, "e-000000000001", "x" * 200 + "…"],
        [PACK, "e-000000000002", "two lines"],
    ]
    assert not any(cell for one in rows[1:] for cell in one[3:])
    assert told(content) == [(1, 1, "no-answers")]
    assert not has_answers(content)


@pytest.mark.parametrize("begin", FORMULA)
def test_no_cell_is_a_formula(begin: str) -> None:
    assert neutralised(f"{begin}1+1").startswith("'")
    content = empty_sheet(pack(f"{begin}HYPERLINK(1)"))
    cells = [cell for one in csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")) for cell in one]
    assert not any(cell.startswith(FORMULA) for cell in cells)


@given(st.text())
def test_a_neutralised_text_comes_back(text: str) -> None:
    assert restored(neutralised(text)) == text
    assert not neutralised(text).startswith(FORMULA)


def test_a_note_that_an_apostrophe_guards_loses_it() -> None:
    content = sheet(row("e-1", "yes", "", "'=1+1", "no", "", "'tis fine", "-5"))
    read = read_sheet("responses.csv", content)
    assert read.submission is not None
    (given_,) = read.submission.reviews
    assert given_.answers == {"input": Answer(True, note="=1+1"), "pack": Answer(False, note="'tis fine")}
    assert given_.note == "-5"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
def test_what_spreadsheets_write_is_read(delimiter: str, encoding: str, end: str) -> None:
    content = sheet(
        row("e-1", "TRUE", "", 'says "é; , \t\U0001f600"', "FALSE", "", ""),
        row("e-2", "no", "bad", "", "Yes", "", "", "two\nlines"),
        ["", "", "", "", "", "", "", "", "", ""],
        delimiter=delimiter,
        encoding=encoding,
        end=end,
    )
    assert answers(content) == {
        "e-1": {"input": Answer(True, note='says "é; , \t\U0001f600"'), "pack": Answer(False)},
        "e-2": {"input": Answer(False, "bad"), "pack": Answer(True)},
    }


def test_the_line_that_names_the_delimiter_is_passed_over() -> None:
    assert answers(b"sep=;\r\n" + sheet(row("e-1", "1", "", "", "0"), delimiter=";", encoding="utf-8")) == {
        "e-1": {"input": Answer(True), "pack": Answer(False)}
    }


@pytest.mark.parametrize(
    ("word", "passed"),
    [(word, True) for word in ("yes", "YES", " Yes ", "true", "TRUE", "1")]
    + [(word, False) for word in ("no", "No", "FALSE", "0")],
)
def test_every_spelling_of_yes_and_no(word: str, passed: bool) -> None:
    assert answers(sheet(row("e-1", word)))["e-1"] == {"input": Answer(passed)}


def test_rows_without_an_answer_are_left_out_and_a_note_alone_is_none() -> None:
    content = sheet(row("e-1", "yes", "", "", "yes"), row("e-2"), row("e-3", "", "", "", "", "", "", "only a note"))
    assert answers(content) == {"e-1": {"input": Answer(True), "pack": Answer(True)}, "e-3": {}}
    assert has_answers(content)


@pytest.mark.parametrize(
    ("content", "findings"),
    [
        (sheet(row("e-1", "maybe")), [(2, 4, "not-an-answer")]),
        (sheet(row("e-1", "ja"), row("e-2", "yes", "", "", "2")), [(2, 4, "not-an-answer"), (3, 7, "not-an-answer")]),
        (sheet(row("", "yes")), [(2, 2, "no-entry")]),
        (sheet(["", "e-1", "", "yes"]), [(1, 1, "no-pack")]),
        (sheet(["Not A Pack", "e-1", "", "yes"]), [(2, 1, "unknown-pack")]),
        (sheet(["../../x", "e-1", "", "yes"]), [(2, 1, "unknown-pack")]),
        (sheet(row("e-1", "yes"), ["bo-001-abcdef", "e-2", "", "yes"]), [(3, 1, "other-pack")]),
        (sheet(row("e-1", "yes", *[""] * 6, "more")), [(2, 11, "ragged")]),
        (b"ENTRY,a\r\ne-1,yes\r\n", [(1, 1, "no-column")]),
        (b"", [(1, 1, "no-column"), (1, 1, "no-column")]),
        (b"PACK,ENTRY,a,a\r\n", [(1, 4, "column-twice")]),
        (b"PACK,ENTRY,a,a:why,b:note\r\n", [(1, 4, "unknown-column"), (1, 5, "unknown-column")]),
        (b'PACK,ENTRY,a\r\nada-001-abcdef,"e-1,yes\r\n', [(2, 1, "not-a-sheet")]),
        (b"PACK,ENTRY,a\r\nada-001-abcdef,e-1,caf\xe9\r\n", [(1, 1, "encoding")]),
        (b"\0" * (MAX_BYTES + 1), [(1, 1, "size")]),
    ],
)
def test_what_cannot_be_read_is_told_with_its_cell(content: bytes, findings: list[tuple[int, int, str]]) -> None:
    assert told(content) == findings
    assert has_answers(content), "nothing is overwritten that could not be read"


entry_ids = st.integers(0, 99).map(lambda number: f"e-{number}")
cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=20)
notes = cells.map(lambda text: text or None).filter(lambda text: text is None or bool(text.strip()))
given_answers = st.builds(Answer, st.just(True), st.just("none"), notes) | st.builds(
    Answer, st.just(False), st.sampled_from(["none", "bad"]), notes
)


@given(
    st.dictionaries(
        st.integers(0, 99).map(lambda number: f"e-{number}"), st.tuples(given_answers, given_answers), min_size=1
    ),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.sampled_from(["\r\n", "\n"]),
)
def test_answers_come_back_as_they_were_given(
    wanted: dict[str, tuple[Answer, Answer]], delimiter: str, encoding: str, end: str
) -> None:
    rows = [
        row(
            entry,
            *(
                cell
                for one in both
                for cell in ("yes" if one.passed else "no", one.reason, neutralised(one.note or ""))
            ),
        )
        for entry, both in wanted.items()
    ]
    found = answers(sheet(*rows, delimiter=delimiter, encoding=encoding, end=end))
    assert found == {entry: {"input": both[0], "pack": both[1]} for entry, both in wanted.items()}


FRAGMENTS = [
    b"PACK,ENTRY,a,a:reason\r\n",
    b"PACK;ENTRY;a\n",
    b"ada-001",
    b"e-1",
    b"yes",
    b"no",
    b",",
    b";",
    b"\t",
    b'"',
    b'""',
]
FRAGMENTS += [
    b"\r",
    b"\n",
    b"\0",
    b"\xff\xfe",
    b"\xfe\xff",
    b"\xef\xbb\xbf",
    b"sep=;\n",
    b"sep='\n",
    b"'",
    b"=",
    b"\xe2\x80\xa8",
    b"x" * 200_000,
]


@settings(max_examples=300)
@given(st.lists(st.sampled_from(FRAGMENTS) | st.binary(max_size=6), max_size=30).map(b"".join))
def test_any_bytes_are_answers_or_findings(content: bytes) -> None:
    for label in ("responses.csv", "responses.yml"):
        read = read_responses(label, content)
        errors = [one for one in read.findings if one.severity == "error"]
        assert (read.submission is None) == bool(errors)
        assert all("\n" not in str(one) and one.line >= 1 and one.column >= 1 for one in read.findings)
    has_answers(content)
