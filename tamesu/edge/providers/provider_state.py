"""State that Inspect keeps per sample for two providers, made only where such a provider is at work.

Inspect makes it at the start of every sample for each client that is installed, and so imports both clients,
which takes longer than a run of recorded answers.
"""

from __future__ import annotations

import sys

from inspect_ai.model import _assistant_internal

# Inspect's names of what it asks before it imports a client.
CLIENTS = {"_HAS_OPENAI": "openai", "_HAS_ANTHROPIC": "anthropic"}


class _IfImported:
    """True once the client was imported, as every model of its provider does; never by itself."""

    def __init__(self, client: str) -> None:
        self._client = client

    def __bool__(self) -> bool:
        return self._client in sys.modules


def import_no_idle_client() -> None:
    """Let Inspect keep the state of a provider only in a process that uses it."""
    for name, client in CLIENTS.items():
        if getattr(_assistant_internal, name, False):
            setattr(_assistant_internal, name, _IfImported(client))
