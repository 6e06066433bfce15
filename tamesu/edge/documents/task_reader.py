"""Checking the task module that a manifest names, by its text alone."""

from __future__ import annotations

from pathlib import Path

from tamesu.base.errors import meant
from tamesu.base.model.finding import Finding
from tamesu.edge.documents.document import Document
from tamesu.edge.documents.reading import Reading
from tamesu.edge.documents.task_outline import bare_functions, module_names, syntax_problem, task_functions

_AT = ("execution", "task")


def check_task(reading: Reading, document: Document, file: Path, task: str) -> None:
    """Tell a module that is not Python and a task that it does not hold; what only execution can know is left to it."""
    content = reading.read(file)
    if content is None:
        return
    problem = syntax_problem(content)
    if problem is not None:
        label, message = reading.relative(file), f"is not Python: {problem.message}"
        fix = "correct it; the run would fail at its start"
        reading.findings.append(Finding(label, problem.line, 1, "error", "task/not-python", message, fix))
        return
    known = module_names(content)
    if known is not None and task not in known:
        fix = meant("task", task, task_functions(content) or known)
        reading.note(document, _AT, "task/unknown", f"{file.name} holds no '{task}'", fix)
    elif task in bare_functions(content):
        message = f"the function '{task}' of {file.name} carries no @task"
        reading.note(document, _AT, "task/unknown", message, "put @task of inspect_ai above it")
