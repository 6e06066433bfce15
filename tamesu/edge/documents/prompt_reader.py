"""Reading a prompt file: what it says, and whether it looks like what its name says it is."""

from __future__ import annotations

import re
from pathlib import Path

from tamesu.base.model.finding import Finding
from tamesu.base.model.manifest import Prompt
from tamesu.edge.documents.reading import Reading

_TEMPLATE = re.compile(r"\{\{-?\s*item\b|\{%-?\s")


def read_prompt(reading: Reading, path: Path) -> Prompt | None:
    """Return a prompt, a template if its name ends in `.j2`; None, with a finding, when it is no text."""
    text = reading.text(path)
    if text is None:
        return None
    prompt = Prompt(reading.relative(path), text, template=path.suffix == ".j2")
    if not text.strip():
        reading.findings.append(Finding(prompt.path, 1, 1, "error", "prompt/empty", "is empty", "write the prompt"))
    found = None if prompt.template else _TEMPLATE.search(text)
    if found is not None:
        line = text.count("\n", 0, found.start()) + 1
        column = found.start() - (text.rfind("\n", 0, found.start()) + 1) + 1
        message = f"'{found.group()}' is sent as it stands: the file is no template"
        fix = f"if it should be filled in, rename it to {path.name}.j2"
        reading.findings.append(Finding(prompt.path, line, column, "warning", "prompt/not-a-template", message, fix))
    return prompt
