"""An eval on Inspect without a task file: whether its task is one of Tamesu's own, and what would do nothing then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tamesu.core.tasks import BUNDLE
from tamesu.edge.documents.document import Document, NodePath
from tamesu.edge.documents.reading import Reading

_AT: NodePath = ("execution",)
# What only code of one's own, its tools or its sandbox could use.
_OF_A_FILE = ("allow_mutable_images", "model_roles", "sources", "task_args")
_OPTIONS_OF_A_FILE = ("approval", "max_sandboxes", "review", "sandbox", "sandbox_prebuilt")


def check_without_file(reading: Reading, document: Document, execution: dict[str, Any], task: str) -> None:
    """Note a bundle that nobody makes, and every option that one call per item has no use for."""
    if task == BUNDLE:
        fix = "name the module of the Inspect task in execution.file, its function in execution.task"
        reading.note(document, _AT, "eval/missing-field", "'file' is missing, and only code makes a bundle", fix)
        return
    for path in _unused(execution):
        message = f"'{path[-1]}' is of no use without a task file: one call per item has no tools and no sandbox"
        reading.note(document, path, "task/no-file", message, "name `file` and `task` in execution, or remove it")


def _unused(execution: dict[str, Any]) -> Iterator[NodePath]:
    yield from ((*_AT, name) for name in _OF_A_FILE if execution.get(name))
    options = execution.get("inspect", {})
    yield from ((*_AT, "inspect", name) for name in _OPTIONS_OF_A_FILE if name in options)
