"""responses.csv: the same answers for people who work in a spreadsheet.

One row per entry; per dimension the columns `<dimension>`, `<dimension>:reason` and `<dimension>:note`. A spreadsheet
takes a cell that begins with `=`, `+`, `-`, `@`, a tab or a return for a formula, so such a text gets an apostrophe
in front, which reading takes away again.
"""

from __future__ import annotations

import csv
import io

from tamesu.core.review.pack import Pack, PackEntry

FORMULA = ("=", "+", "-", "@", "\t", "\r")
LONGEST_INPUT = 200
PACK, ENTRY, INPUT, NOTE = "PACK", "ENTRY", "INPUT", "NOTE"  # in capitals, as no dimension is
REASON, REMARK = "reason", "note"


def neutralised(text: str) -> str:
    """Return a text that no spreadsheet computes; `restored` is its inverse."""
    return f"'{text}" if text.startswith((*FORMULA, "'")) else text


def restored(cell: str) -> str:
    """Return what a cell said before it was neutralised."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith((*FORMULA, "'")) else cell


def header(dimensions: tuple[str, ...]) -> list[str]:
    """Return the columns of a sheet."""
    answers = [name for one in dimensions for name in (one, f"{one}:{REASON}", f"{one}:{REMARK}")]
    return [PACK, ENTRY, INPUT, *answers, NOTE]


def empty_sheet(pack: Pack) -> bytes:
    """Return responses.csv without answers: UTF-8 with a BOM and CRLF, as spreadsheets expect."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    columns = header(tuple(one.id for one in pack.rubric.dimensions))
    writer.writerow(columns)
    for entry in pack.entries:
        row = [pack.name, entry.id, neutralised(_input(entry))]
        writer.writerow(row + [""] * (len(columns) - len(row)))
    return b"\xef\xbb\xbf" + buffer.getvalue().encode("utf-8", "replace")


def _input(entry: PackEntry) -> str:
    """The beginning of an input on one line, so that a row can be told from others."""
    text = " ".join(" ".join(one.text for one in entry.inputs if one.text is not None).split())
    text = "".join(character for character in text if character.isprintable())
    return f"{text[:LONGEST_INPUT]}…" if len(text) > LONGEST_INPUT else text
