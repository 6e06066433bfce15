"""Whether what is executed asks the models that a manifest gives it by role; nothing is imported, texts are searched.

Inspect answers for a role that is not there with the model under test, which would then judge itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tamesu.edge.documents.document import Document, DocumentFault
from tamesu.edge.documents.reading import Reading

_GRADING = "model_graded"  # Inspect's scorers of that name ask the role `grader` unasked
_GRADER = "grader"


def check_role_names(reading: Reading, document: Document, execution: dict[str, Any], files: Iterable[Path]) -> None:
    """Note roles that no declared source names, and a grading scorer without any role."""
    roles = execution.get("model_roles") or {}
    text = "\n".join(_text(reading, file) for file in sorted(files))
    if _GRADING in text and not roles:
        message = (
            f"the task grades by `{_GRADING}…` and no role is declared, so the model under test would grade itself"
        )
        fix = f"declare `model_roles: {{{_GRADER}: {{provider: …, model: …}}}}`"
        reading.note(document, ("execution",), "role/no-grader", message, fix, "warning")
    for name in roles:
        named = f'"{name}"' in text or f"'{name}'" in text or (name == _GRADER and _GRADING in text)
        if not named:
            message = f"no declared source names the role '{name}', so perhaps nothing asks it"
            fix = "write the role's name as the task does; what it asks instead falls back to the model under test"
            reading.note(document, ("execution", "model_roles", name), "role/unused", message, fix, "warning")


def _text(reading: Reading, file: Path) -> str:
    try:
        return reading.content(file).decode("utf-8", "replace") if file.suffix == ".py" else ""
    except DocumentFault:
        return ""  # found by what reads sources
