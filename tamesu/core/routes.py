"""Routes: the providers that an eval may name, the credentials each needs, and which of them can be called."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

ALIASES = {"gemini": "google"}


@dataclass(frozen=True, slots=True)
class Route:
    """A way to a model.

    `credentials` are the names of environment variables, any of which suffices; empty where none is needed.
    `executable` says that this version makes calls over it.
    """

    provider: str
    credentials: tuple[str, ...]
    executable: bool = False


_NAMED = (
    Route("replay", (), executable=True),
    Route("meta", ("META_API_KEY",)),
    Route("openai", ("OPENAI_API_KEY",)),
    Route("anthropic", ("ANTHROPIC_API_KEY",)),
    Route("google", ("GOOGLE_API_KEY", "GEMINI_API_KEY")),
    Route("grok", ("XAI_API_KEY", "GROK_API_KEY")),
    Route("bedrock", ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK")),
    Route("mistral", ("MISTRAL_API_KEY",)),
    Route("openrouter", ("OPENROUTER_API_KEY",)),
    Route("vllm", ()),
)
ROUTES: Mapping[str, Route] = {route.provider: route for route in _NAMED}
SERVICE = re.compile(r"openai-api/([a-z0-9]+(?:[-_][a-z0-9]+)*)")


def canonical_provider(name: str) -> str:
    """Return the one name of a provider that has several."""
    return ALIASES.get(name, name)


def find_route(provider: str) -> Route | None:
    """Return the route of a provider, `openai-api/<service>` included; None when there is none."""
    service = SERVICE.fullmatch(provider)
    if service is not None:
        variable = re.sub(r"[^A-Z0-9]", "_", service[1].upper())
        return Route(provider, (f"{variable}_API_KEY",))
    return ROUTES.get(canonical_provider(provider))


def route_names() -> tuple[str, ...]:
    """Return what may stand as a provider, for messages."""
    return (*ROUTES, "openai-api/<service>")
