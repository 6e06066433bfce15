"""Answers that come back from reviewers: responses.yml as the page of a pack writes it, or its responses.csv.

Both become the same Submission, or findings with a place.
"""

from __future__ import annotations

from collections.abc import Mapping

from tamesu.base.model.judgement import NO_REASON, Answer
from tamesu.base.model.review import GivenReview, Place, Submission
from tamesu.edge.documents.document import Document, DocumentFault
from tamesu.edge.documents.responses_sheet import ReadResponses, note_of, read_sheet
from tamesu.edge.documents.schemas import DocumentKind, validate
from tamesu.edge.documents.yaml_reader import read_yaml


def read_responses(label: str, content: bytes) -> ReadResponses:
    """Read a file of answers, a sheet when its name ends in .csv; nothing is raised, whatever the bytes."""
    if label.lower().endswith(".csv"):
        return read_sheet(label, content)
    try:
        document = read_yaml(label, content)
    except DocumentFault as error:
        return ReadResponses(None, (error.finding,))
    findings = validate(document, DocumentKind.RESPONSES)
    if any(finding.severity == "error" for finding in findings):
        return ReadResponses(None, findings)
    return ReadResponses(_submission(document), findings)


def _submission(document: Document) -> Submission:
    value = document.value
    assert isinstance(value, dict)
    return Submission(
        document.label,
        value["pack"],  # type: ignore[arg-type]  # the schema says so
        tuple(_given(document, number, one) for number, one in enumerate(value["reviews"])),  # type: ignore
        _place(document, "pack"),
    )


def _given(document: Document, number: int, value: Mapping[str, object]) -> GivenReview:
    answers: Mapping[str, Mapping[str, object]] = value["answers"]  # type: ignore[assignment]
    return GivenReview(
        entry=str(value["entry"]),
        answers={name: _answer(answer) for name, answer in answers.items()},
        note=note_of(value.get("note")),
        place=_place(document, "reviews", number, "entry"),
        places={name: _place(document, "reviews", number, "answers", name) for name in answers},
    )


def _answer(value: Mapping[str, object]) -> Answer:
    return Answer(value["passed"] is True, str(value.get("reason", NO_REASON)), note_of(value.get("note")))


def _place(document: Document, *path: str | int) -> Place:
    position = document.position(path)
    return Place(position.line, position.column)
