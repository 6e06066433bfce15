"""Reading a rubric and its rationale."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tamesu.base.canonical import digest
from tamesu.base.model.manifest import Dimension, Rubric
from tamesu.core.lint.repetition import repeated
from tamesu.edge.documents.document import Document
from tamesu.edge.documents.reading import Reading
from tamesu.edge.documents.schemas import DocumentKind


def read_rubric(reading: Reading, path: Path) -> Rubric | None:
    """Return a rubric; its digest covers parsed content and rationale, so formatting does not count."""
    document = reading.document(path, DocumentKind.RUBRIC)
    if document is None or not isinstance(document.value, dict):
        return None
    value: dict[str, Any] = document.value
    rationale: str | None = ""
    if "rationale" in value:
        target = reading.file(document, ("rationale",), value["rationale"])
        rationale = None if target is None else reading.text(target)
    _check_names(reading, document, value["dimensions"])
    for number, dimension in enumerate(value["dimensions"]):
        if "none" in dimension.get("reason_codes", []):
            reading.note(
                document, ("dimensions", number, "reason_codes"), "rubric/reserved-code",
                "reason code 'none' is reserved for a pass", "choose another code",
            )  # fmt: skip
    content = {name: part for name, part in value.items() if name != "rationale"}
    return Rubric(
        path=reading.relative(path),
        name=value["name"],
        dimensions=tuple(_dimension(one) for one in value["dimensions"]),
        digest=digest({"rubric": content, "rationale": rationale}),
        rationale=rationale or "",
    )


def _dimension(value: dict[str, Any]) -> Dimension:
    return Dimension(value["id"], value["question"], tuple(value.get("reason_codes", ())))


def _check_names(reading: Reading, document: Document, dimensions: list[dict[str, Any]]) -> None:
    for number in repeated([dimension["id"] for dimension in dimensions]):
        message = f"dimension '{dimensions[number]['id']}' appears twice"
        reading.note(document, ("dimensions", number, "id"), "id/repeated", message, "give each dimension its own ID")
    for number, dimension in enumerate(dimensions):
        at, codes = ("dimensions", number, "reason_codes"), dimension.get("reason_codes")
        if codes == []:
            message = f"dimension '{dimension['id']}' has no reason code, and a fail needs one"
            reading.note(document, at, "rubric/no-code", message, "add a code, or remove the field")
        for place in repeated(codes or ()):
            message = f"reason code '{dimension['reason_codes'][place]}' is listed twice"
            reading.note(document, (*at, place), "id/repeated", message, "list it once")
