"""Reading the prompt of a judge: a template whatever it is called, which names only what a judge may see."""

from __future__ import annotations

from pathlib import Path

from tamesu.base.model.finding import Finding
from tamesu.base.model.manifest import Prompt
from tamesu.core.judging.prompts import FIELDS, prompt_faults
from tamesu.edge.documents.reading import Reading

_SEEN = ", ".join(f"{owner}.{field}" for owner, fields in FIELDS.items() for field in fields)


def read_judge_prompt(reading: Reading, path: Path) -> Prompt | None:
    """Return a judge's prompt; None, with a finding, when it is no text. What it may not name is an error."""
    text = reading.text(path)
    if text is None:
        return None
    prompt = Prompt(reading.relative(path), text, template=True)
    if not text.strip():
        reading.findings.append(Finding(prompt.path, 1, 1, "error", "prompt/empty", "is empty", "write the prompt"))
    for fault in prompt_faults(text):
        fix = f"a judge sees {_SEEN}, and nothing of who made an output"
        reading.findings.append(Finding(prompt.path, fault.line, 1, "error", "judge/not-blind", fault.message, fix))
    return prompt
