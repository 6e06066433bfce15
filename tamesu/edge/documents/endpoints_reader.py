"""Reading what config/config.yaml says about endpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tamesu.base.model.endpoint import EndpointFacts
from tamesu.core.base_url import split_base_url
from tamesu.core.lint.remark import nearest
from tamesu.core.routes import canonical_provider, find_route, route_names
from tamesu.edge.documents.document import Document
from tamesu.edge.documents.reading import Reading


def read_endpoints(reading: Reading, document: Document) -> Mapping[str, EndpointFacts]:
    """Return the endpoints of a configuration that has the right shape, by canonical provider.

    A base URL that is none, or that holds a user, a password, a query or a fragment, is noted and left out.
    """
    assert isinstance(document.value, dict)
    entries: Any = document.value.get("endpoints", [])
    found: dict[str, EndpointFacts] = {}
    for number, entry in enumerate(entries):
        provider, place = entry["provider"], ("endpoints", number)
        if find_route(provider) is None:
            reading.note(
                document, (*place, "provider"), "provider/no-route",
                f"provider '{provider}' has no Inspect route", nearest(provider, route_names()),
            )  # fmt: skip
        key = canonical_provider(provider)
        if key in found:
            reading.note(
                document, place, "endpoint/repeated", f"provider '{key}' has two endpoints",
                "keep one entry per provider",
            )  # fmt: skip
        wrong = None if "base_url" not in entry else _wrong_base_url(provider, entry["base_url"])
        if wrong is not None:
            fix = "write scheme, host, port and path, as in http://gpu-1:8000/v1; credentials are read by name"
            reading.note(document, (*place, "base_url"), "endpoint/base-url", wrong, fix)
        found[key] = _facts(key, entry if wrong is None else {**entry, "base_url": None})
    return found


def _wrong_base_url(provider: str, text: str) -> str | None:
    """Say what is wrong with a base URL without repeating it, as it may hold a password."""
    route = find_route(provider)
    if route is not None and route.base_url_variable is None:
        return f"provider '{provider}' calls no HTTP endpoint"
    split = split_base_url(text)
    if split is None:
        return "the base URL is no http(s) URL without query and fragment"
    return None if split.user is None and split.password is None else "the base URL holds a user or a password"


def _facts(provider: str, entry: Mapping[str, Any]) -> EndpointFacts:
    return EndpointFacts(
        provider=provider,
        base_url=entry.get("base_url"),
        owner=entry.get("owner"),
        shared=entry.get("shared"),
        replicas=entry.get("replicas"),
        requests_per_replica=entry.get("requests_per_replica"),
        max_connections=entry.get("max_connections"),
    )
