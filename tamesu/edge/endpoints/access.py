"""How an endpoint is asked over plain HTTP: its base URL and the headers that open it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field

from tamesu.core.routes import Protocol, Route
from tamesu.edge.credentials import Access

ANTHROPIC_VERSION = "2023-06-01"
_OWN_HEADERS = {Protocol.MESSAGES: "x-api-key", Protocol.GEMINI: "x-goog-api-key"}


@dataclass(frozen=True, slots=True)
class HttpAccess:
    """A base URL without credentials, None where none is known, and headers whose values are not shown.

    `secrets` are replaced in whatever the endpoint says, the longest first.
    """

    base_url: str | None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)


def http_access(route: Route, access: Access) -> HttpAccess:
    """Return how the endpoint of a route is asked with the credentials of a provider."""
    place = access.base_url
    headers: dict[str, str] = {}
    if route.protocol is Protocol.MESSAGES:
        headers["anthropic-version"] = ANTHROPIC_VERSION
    if access.key is not None:
        own = _OWN_HEADERS.get(route.protocol)
        headers |= {own: access.key} if own else {"authorization": f"Bearer {access.key}"}
    if place is not None and place.user is not None:
        pair = b64encode(f"{place.user}:{place.password or ''}".encode()).decode()
        headers["authorization"] = f"Basic {pair}"
    return HttpAccess(route.base_url if place is None else place.url, headers, access.secrets)
