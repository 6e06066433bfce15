"""The corpus of manifests in tests/schemas, each with the findings that it yields.

A YAML file tells them in its first lines, any other file in `<name>.expect` beside it, one a line:
`line:column rule text`, or `line:column warning rule text`; the text is part of the message or of the fix.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tamesu.base.model.finding import Finding
from tamesu.edge.documents.document import DocumentFault
from tamesu.edge.documents.jsonl import read_csv_records, read_records
from tamesu.edge.documents.schemas import DocumentKind, validate
from tamesu.edge.documents.yaml_reader import read_yaml

FOLDER = Path(__file__).parent / "schemas"
_HEADER = re.compile(rb"(?:# expect: [^\n]*\n)*")
_EXPECTED = re.compile(r"(\d+):(\d+) (warning )?(\S+) (.+)")


@dataclass(frozen=True)
class Expected:
    """One finding that a file yields; `text` is a part of what it says."""

    line: int
    column: int
    severity: str
    rule: str
    text: str


@dataclass(frozen=True)
class Sample:
    """A file of the corpus, called `<kind>--<what is the matter with it>`."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def kind(self) -> DocumentKind:
        return DocumentKind(self.path.name.partition("--")[0])

    @property
    def content(self) -> bytes:
        return self.path.read_bytes()

    @property
    def expected(self) -> tuple[Expected, ...]:
        beside = self.path.with_name(self.name + ".expect")
        if beside.exists():
            lines = beside.read_text(encoding="utf-8").split("\n")[:-1]
        else:
            header = _HEADER.match(self.content)
            assert header is not None
            lines = [line.removeprefix("# expect: ") for line in header.group().decode().split("\n")[:-1]]
        return tuple(map(_expected, lines))

    def findings(self) -> tuple[Finding, ...]:
        """Return what the readers and the schema of the kind say about the file."""
        try:
            if self.kind is not DocumentKind.ITEM:
                return validate(read_yaml(self.name, self.content), self.kind)
            read = read_csv_records if self.path.suffix == ".csv" else read_records
            records = read(self.name, self.content)
        except DocumentFault as error:
            return (error.finding,)
        return tuple(finding for record in records for finding in validate(record.document(self.name), self.kind))


def _expected(line: str) -> Expected:
    found = _EXPECTED.fullmatch(line)
    assert found is not None, f"not an expectation: {line}"
    return Expected(int(found[1]), int(found[2]), (found[3] or "error").strip(), found[4], found[5])


def _samples(folder: str) -> tuple[Sample, ...]:
    return tuple(Sample(path) for path in sorted((FOLDER / folder).iterdir()) if path.suffix != ".expect")


INVALID = _samples("invalid")
VALID = _samples("valid")
