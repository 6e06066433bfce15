"""The records of the Agent Client Protocol: made ready when an eval serves it, which none of ours does.

Inspect imports them for every eval. Pydantic builds a validator for each of some 270 and reads its source for texts of
fields, which takes longer than a run of recorded answers.
"""

from __future__ import annotations

import sys
from typing import Any

import pydantic


def import_protocol_unbuilt() -> None:
    """Import the records so that each is built at its first use, the same as ever but for texts of fields."""
    if "acp" in sys.modules:
        return
    settings = pydantic.ConfigDict

    def deferred(**given: Any) -> pydantic.ConfigDict:
        return settings(**{**given, "defer_build": True, "use_attribute_docstrings": False})

    pydantic.ConfigDict = deferred  # type: ignore[assignment,misc]
    try:
        import acp  # noqa: F401
    finally:
        pydantic.ConfigDict = settings  # type: ignore[misc]
