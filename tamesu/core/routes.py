"""Routes: the providers that an eval may name, and how each is reached. docs/routes.md is made from this table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from tamesu.base.model.wire import Way
from tamesu.core.base_url import BaseUrl, split_base_url

ALIASES = {"gemini": "google"}


class Protocol(StrEnum):
    """The language of an endpoint, which decides under which name a parameter travels and a reply names its model."""

    RECORDED = "recorded"
    CHAT = "OpenAI Chat Completions"
    RESPONSES = "OpenAI Responses"
    MESSAGES = "Anthropic Messages"
    GEMINI = "Gemini generateContent"
    MISTRAL = "Mistral chat"
    GRPC = "xAI gRPC"
    CONVERSE = "Bedrock Converse"


@dataclass(frozen=True, slots=True)
class Route:
    """A way to a model.

    `credentials` are the names of environment variables, any of which suffices; empty where none is needed.
    `base_url_variable` overrides `base_url`; both None where no HTTP endpoint is called. `service` is what Inspect
    calls the provider. `extra` is the optional dependency that brings the provider's client.
    `needs_base_url` says that there is no place to call without one; `key` is a credential that may be left out.
    """

    provider: str
    credentials: tuple[str, ...]
    protocol: Protocol
    service: str
    extra: str | None
    base_url_variable: str | None = None
    base_url: str | None = None
    needs_base_url: bool = False
    key: str | None = None

    @property
    def way(self) -> Way:
        """Where its requests are seen: at the HTTP client, or in the call that a client without one returns."""
        return "call" if self.protocol in {Protocol.GRPC, Protocol.CONVERSE} else "http"

    def origin(self, base_url: BaseUrl | None) -> str | None:
        """Return where the models answer; None for the route's own place, whether it was named or not."""
        own = None if self.base_url is None else split_base_url(self.base_url)
        return None if base_url is None or (own is not None and base_url.origin == own.origin) else base_url.origin

    def model_uri(self, model: str) -> str:
        """Return the model as Inspect names it."""
        return f"{self.service}/{model}"


_AWS = ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK")
_NAMED = (
    Route("replay", (), Protocol.RECORDED, "replay", None),
    Route(
        "meta", ("META_API_KEY",), Protocol.CHAT, "openai-api/meta", "meta", "META_BASE_URL", "https://api.meta.ai/v1"
    ),
    Route(
        "openai",
        ("OPENAI_API_KEY",),
        Protocol.CHAT,
        "openai",
        "openai",
        "OPENAI_BASE_URL",
        "https://api.openai.com/v1",
    ),
    Route(
        "anthropic",
        ("ANTHROPIC_API_KEY",),
        Protocol.MESSAGES,
        "anthropic",
        "anthropic",
        "ANTHROPIC_BASE_URL",
        "https://api.anthropic.com",
    ),
    Route(
        "google",
        ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        Protocol.GEMINI,
        "google",
        "google",
        "GOOGLE_BASE_URL",
        "https://generativelanguage.googleapis.com",
    ),
    Route("grok", ("XAI_API_KEY", "GROK_API_KEY"), Protocol.GRPC, "grok", "grok", "XAI_BASE_URL", "https://api.x.ai"),
    Route("bedrock", _AWS, Protocol.CONVERSE, "bedrock", "bedrock", "BEDROCK_BASE_URL"),
    Route(
        "mistral",
        ("MISTRAL_API_KEY",),
        Protocol.MISTRAL,
        "mistral",
        "mistral",
        "MISTRAL_BASE_URL",
        "https://api.mistral.ai",
    ),
    Route(
        "openrouter",
        ("OPENROUTER_API_KEY",),
        Protocol.CHAT,
        "openrouter",
        "openrouter",
        "OPENROUTER_BASE_URL",
        "https://openrouter.ai/api/v1",
    ),
    # Inspect's own vllm provider would start a server where it finds none
    Route(
        "vllm", (), Protocol.CHAT, "openai-api/vllm", "vllm", "VLLM_BASE_URL", needs_base_url=True, key="VLLM_API_KEY"
    ),
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
        variable = service[1].upper().replace("-", "_")
        return Route(
            provider,
            (f"{variable}_API_KEY",),
            Protocol.CHAT,
            provider,
            "openai",
            f"{variable}_BASE_URL",
            needs_base_url=True,
        )
    return ROUTES.get(canonical_provider(provider))


def protocol_of(provider: str) -> Protocol | None:
    """Return the language that a provider's endpoint speaks; None without a route."""
    route = find_route(provider)
    return None if route is None else route.protocol


def provider_of_uri(model_uri: str) -> str | None:
    """Return the provider of a model as Inspect names it; None where no route leads to it."""
    named = (route.provider for route in _NAMED if model_uri.startswith(f"{route.service}/"))
    service = "/".join(model_uri.split("/")[:2])
    return next(named, service if SERVICE.fullmatch(service) else None)


def route_names() -> tuple[str, ...]:
    """Return what may stand as a provider, for messages."""
    return (*ROUTES, "openai-api/<service>")
