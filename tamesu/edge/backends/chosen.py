"""The backend that an eval names."""

from __future__ import annotations

from tamesu.base.errors import UsageError
from tamesu.edge.backends.protocol import Backend


def backend(name: str) -> Backend:
    """Return the backend of that name; imports it only now, since Inspect takes a second to import."""
    if name == "inspect":
        from tamesu.edge.backends.inspect.adapter import InspectBackend

        return InspectBackend()
    if name == "native":
        from tamesu.edge.backends.native.adapter import NativeBackend

        return NativeBackend()
    raise UsageError(f"execution.backend: there is no backend '{name}'; use 'native' or 'inspect'")
