"""Credentials by name: whether they are set, in this process or in the project's .env. Their values are not kept."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from tamesu.core.routes import find_route
from tamesu.core.situation import MissingCredential


def missing_credentials(providers: Iterable[str], env_file: Path) -> tuple[MissingCredential, ...]:
    """Return the providers of which no credential is set; an empty value counts as not set."""
    needed = {provider: route.credentials for provider in providers if (route := find_route(provider)) is not None}
    if not any(needed.values()):
        return ()
    known = {name for name, value in os.environ.items() if value} | _named_in(env_file)
    return tuple(
        MissingCredential(provider, names)
        for provider, names in sorted(needed.items())
        if names and not known.intersection(names)
    )


def _named_in(env_file: Path) -> frozenset[str]:
    if not env_file.is_file():
        return frozenset()
    from dotenv import dotenv_values

    try:
        # without interpolation, so that no other variable is looked up
        values = dotenv_values(env_file, interpolate=False)
    except (OSError, UnicodeDecodeError):
        return frozenset()
    return frozenset(name for name, value in values.items() if value)
