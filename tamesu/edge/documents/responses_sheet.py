"""responses.csv as spreadsheets write it: commas, semicolons or tabs; places are the line of a row and its cell."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tamesu.base.errors import shown
from tamesu.base.model.finding import Finding
from tamesu.base.model.judgement import NO_REASON, Answer
from tamesu.base.model.review import GivenReview, Place, Submission
from tamesu.core.review.sheet import ENTRY, INPUT, NOTE, PACK, REASON, REMARK, restored
from tamesu.edge.documents.yaml_reader import MAX_BYTES

YES, NO = frozenset({"yes", "true", "1"}), frozenset({"no", "false", "0"})
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_DELIMITERS = (",", ";", "\t")
_BOMS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


@dataclass(frozen=True, slots=True)
class ReadResponses:
    """A file of answers as far as it could be read: None as soon as anything in it is wrong."""

    submission: Submission | None
    findings: tuple[Finding, ...]


def note_of(value: object) -> str | None:
    """Return a note as it stands; None for one that says nothing."""
    return value if isinstance(value, str) and value.strip() else None


@dataclass(slots=True)
class _Sheet:
    """A sheet while it is read; `columns` are the names above its cells."""

    label: str
    columns: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def note(self, place: Place, rule: str, message: str, fix: str) -> None:
        self.findings.append(Finding(self.label, place.line, place.column, "error", rule, message, fix))

    @property
    def dimensions(self) -> tuple[str, ...]:
        reserved = {PACK, ENTRY, INPUT, NOTE, ""}
        return tuple(name for name in self.columns if name not in reserved and ":" not in name)


@dataclass(frozen=True, slots=True)
class _Row:
    """One row: the line it begins on, and its cells by column, without the apostrophe of a text like a formula."""

    line: int
    cells: Mapping[str, str]
    numbers: Mapping[str, int]

    def cell(self, name: str) -> str:
        return self.cells.get(name, "").strip()

    def place(self, name: str) -> Place:
        return Place(self.line, self.numbers.get(name, 1))


def has_answers(content: bytes) -> bool:
    """Whether somebody began to fill in a sheet; one that cannot be read counts as begun."""
    read = read_sheet("responses.csv", content)
    if read.submission is not None:
        return bool(read.submission.reviews)
    return any(finding.rule != "responses/no-answers" for finding in read.findings)


def read_sheet(label: str, content: bytes) -> ReadResponses:
    """Read a sheet with commas, semicolons or tabs, as spreadsheets write it. Rows without any answer are left out."""
    sheet = _Sheet(label)
    rows = _rows(sheet, content)
    given = [one for one in (_given_row(sheet, row) for row in rows) if one is not None]
    packs = {row.cell(PACK): row for row in reversed(rows) if row.cell(PACK)}
    if rows and not packs:
        sheet.note(Place(1, 1), "responses/no-pack", "names no pack", "leave the column PACK as it was exported")
    for name in list(packs)[:-1]:
        where = packs[name].place(PACK)
        sheet.note(
            where, "responses/other-pack", "rows of several packs", "import each pack's rows as a file of its own"
        )
    for name, row in packs.items():
        if not _ID.fullmatch(name):
            fix = "leave it as it was exported"
            sheet.note(row.place(PACK), "responses/unknown-pack", f"'{shown(name)}' is no name of a pack", fix)
    if not given and not sheet.findings:
        sheet.note(Place(1, 1), "responses/no-answers", "holds no answer", "fill in yes or no, row by row")
    if sheet.findings:
        return ReadResponses(None, tuple(sorted(sheet.findings)))
    pack, row = next(iter(packs.items()))
    return ReadResponses(Submission(label, pack, tuple(given), row.place(PACK)), ())


def _rows(sheet: _Sheet, content: bytes) -> list[_Row]:
    text = _text(sheet, content)
    if text is None:
        return []
    numbered = _lines(sheet, text)
    head = next(numbered, None)
    if head is not None and head[1][0].lower().startswith("sep="):
        head = next(numbered, None)
    sheet.columns = [name.strip() for name in head[1]] if head else []
    _check_header(sheet, head[0] if head else 1)
    if sheet.findings:
        return []
    numbers = {name: number for number, name in enumerate(sheet.columns, 1) if name}
    rows = []
    for line, cells in numbered:
        named = {name: restored(cell) for name, cell in zip(sheet.columns, cells, strict=False) if name}
        if any(cell.strip() for cell in cells[len(sheet.columns) :]):
            fix = "put texts that hold a delimiter in double quotes"
            sheet.note(Place(line, len(sheet.columns) + 1), "responses/ragged", "more cells than columns", fix)
        elif any(cell.strip() for cell in named.values()):
            rows.append(_Row(line, named, numbers))
    return rows


def _text(sheet: _Sheet, content: bytes) -> str | None:
    if len(content) > MAX_BYTES:
        sheet.note(
            Place(1, 1), "responses/size", f"is larger than {MAX_BYTES} bytes", "export the rows of one pack only"
        )
        return None
    encoding = _BOMS.get(content[:2], "utf-8-sig")
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        fix = "save it as 'CSV UTF-8'"
        sheet.note(Place(1, 1), "responses/encoding", "is not a UTF-8 text", fix)
        return None


def _lines(sheet: _Sheet, text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the line it begins on."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    line = 1
    try:
        for cells in reader:
            if cells:
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        sheet.note(Place(line, 1), "responses/not-a-sheet", f"not CSV: {error}", "save it from a spreadsheet as CSV")


def _delimiter(text: str) -> str:
    """Return what separates the names in the first line that has any."""
    lines = (line for line in text.splitlines() if line.strip())
    first = next(lines, "")
    if first.lower().startswith("sep=") and first[4:] in _DELIMITERS:
        return first[4:]
    return max(_DELIMITERS, key=first.count)


def _check_header(sheet: _Sheet, line: int) -> None:
    columns = sheet.columns
    for name in (PACK, ENTRY):
        if name not in columns:
            fix = "leave the first row as it was exported"
            sheet.note(Place(line, 1), "responses/no-column", f"has no column '{name}'", fix)
    for number, name in enumerate(columns, 1):
        if name and name in columns[: number - 1]:
            fix = "leave the first row as it was exported"
            sheet.note(Place(line, number), "responses/column-twice", f"has column '{shown(name)}' twice", fix)
        base, colon, part = name.rpartition(":")
        if colon and (part not in (REASON, REMARK) or base not in sheet.dimensions):
            known = f"a column '<dimension>:{REASON}' or '<dimension>:{REMARK}' stands beside '<dimension>'"
            sheet.note(Place(line, number), "responses/unknown-column", f"has an unknown column '{shown(name)}'", known)


def _given_row(sheet: _Sheet, row: _Row) -> GivenReview | None:
    """Return what a row says; None for one without any answer, reason or note."""
    own = [name for name in sheet.columns if name not in (PACK, ENTRY, INPUT, "")]
    if not any(row.cell(name) for name in own):
        return None
    if not row.cell(ENTRY):
        sheet.note(row.place(ENTRY), "responses/no-entry", "answers without an entry", "leave the column as exported")
        return None
    answers = {}
    for name in sheet.dimensions:
        passed = _passed(sheet, row, name)
        if passed is not None:
            reason = row.cell(f"{name}:{REASON}").lower() or NO_REASON
            answers[name] = Answer(passed, reason, note_of(row.cells.get(f"{name}:{REMARK}")))
    return GivenReview(
        entry=row.cell(ENTRY),
        answers=answers,
        note=note_of(row.cells.get(NOTE)),
        place=row.place(ENTRY),
        places={name: row.place(name) for name in sheet.dimensions},
    )


def _passed(sheet: _Sheet, row: _Row, name: str) -> bool | None:
    word = row.cell(name).lower()
    if word in YES or word in NO:
        return word in YES
    if word:
        said = f"'{shown(row.cell(name))}' is neither yes nor no"
        sheet.note(row.place(name), "responses/not-an-answer", said, "write yes or no (or true, false, 1, 0)")
    return None
