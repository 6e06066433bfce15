"""A model that is ready for single calls."""

from __future__ import annotations

from pathlib import Path

from tamesu.base.model.plan import RunSpec
from tamesu.edge.credentials import Access
from tamesu.edge.providers.calls import Caller


def open_caller(spec: RunSpec, access: Access, wire: Path, session: int, role: str | None) -> Caller:
    """Return the model of a run for single calls; its requests are appended to `wire` as those of `session`.

    Raises UsageError when the provider's client is not installed. Imports Inspect only now.
    """
    from tamesu.edge.providers.calling import InspectCaller

    return InspectCaller(spec, access, wire, session, role)
