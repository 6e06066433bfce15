"""Which provider of the price library stands behind a route."""

from __future__ import annotations

from tamesu.core.routes import canonical_provider

SERVICES = "openai-api/"
_LIBRARY_IDS = {
    "anthropic": "anthropic",
    "bedrock": "aws",
    "google": "google",
    "grok": "x-ai",
    "meta": "meta",
    "mistral": "mistral",
    "openai": "openai",
    "openrouter": "openrouter",
}
# Priced without the library: recorded answers are free, one's own engine is rented or declared.
_UNLISTED = ("replay", "vllm")


def library_id(provider: str) -> str | None:
    """Return the library's provider of a route, None when no list price can apply.

    `openai-api/<service>` is the service's own name; whether the library has it, it must say itself.
    """
    if provider.startswith(SERVICES):
        return provider.removeprefix(SERVICES) or None
    return _LIBRARY_IDS.get(canonical_provider(provider))


def priced_routes() -> tuple[str, ...]:
    """Return the routes that are named without a service."""
    return tuple(sorted((*_LIBRARY_IDS, *_UNLISTED)))
