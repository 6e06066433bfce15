"""Further models by role: their names, and what a recorded one needs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tamesu.base.model.manifest import Eval
from tamesu.core.lint.remark import Remark

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")


def role_remarks(evaluation: Eval) -> Iterator[Remark]:
    """Yield role names that cannot be part of a file's name, and recorded models without recordings."""
    for name, role in evaluation.execution.model_roles.items():
        at = ("execution", "model_roles", name)
        if _NAME.fullmatch(name) is None:
            fix = "use at most 40 lowercase letters, digits, '-' and '_', a letter first"
            yield Remark(at, "role/name", f"'{name}' is no name of a role", fix)
        if role.provider == "replay" and "recordings" not in role.parameters:
            message = f"role '{name}' needs recorded answers"
            yield Remark(at, "replay/no-recordings", message, "name their file in its `parameters.recordings`")
