"""Names of providers: what is the same provider under another name."""

from __future__ import annotations

_ALIASES = {"gemini": "google"}


def canonical_provider(name: str) -> str:
    """Return the one name of a provider that has several."""
    return _ALIASES.get(name, name)
