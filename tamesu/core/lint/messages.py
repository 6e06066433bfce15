"""Messages as they would be sent: none to the model may be empty."""

from __future__ import annotations

from collections.abc import Iterator

from tamesu.base.model.manifest import Eval
from tamesu.core.lint.remark import Remark
from tamesu.core.matrix import Matrix


def message_remarks(evaluation: Eval, runs: Matrix) -> Iterator[Remark]:
    """Yield each arm in which a user message says nothing, with the first item of which that is true."""
    for number, arm in enumerate(evaluation.arms):
        empty = [
            sample.item
            for sample in runs.datasets[arm.id].samples
            if any(message.role == "user" and not message.content.strip() for message in sample.messages)
        ]
        if empty:
            more = f" (and of {len(empty) - 1} more)" if len(empty) > 1 else ""
            message = f"arm '{arm.id}': the user message of item '{empty[0]}'{more} is empty"
            yield Remark(("arms", number), "prompt/empty", message, "correct the prompt or the item's input")
