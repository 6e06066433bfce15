"""The model of a run: its provider's real client, with the key handed over and every request observed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import httpx2
from inspect_ai.model import Model, ModelCost, ModelInfo, get_model, set_model_info

from tamesu.base.canonical import Json
from tamesu.base.errors import UsageError
from tamesu.base.model.plan import Price, RunSpec
from tamesu.core.parameters import split_parameters
from tamesu.core.pricing import rates_up_to
from tamesu.core.routes import Protocol, Route, find_route
from tamesu.edge.credentials import Access
from tamesu.edge.providers.http_client import observed_client
from tamesu.edge.providers.known_models import read_no_list_unasked
from tamesu.edge.providers.observing import observe
from tamesu.edge.providers.settings import body_is_argument, generate_config
from tamesu.edge.providers.wire_log import WireLog


def live_model(spec: RunSpec, access: Access | None, wire: WireLog, arguments: Mapping[str, Any]) -> Model:
    """Return a model over its provider's client. Raises UsageError when that client is not installed."""
    route = find_route(spec.provider)
    if route is None or access is None:
        raise UsageError(f"{spec.ref}: provider '{spec.provider}' has no route; see docs/routes.md")
    # what takes no key as an argument reads it from the environment
    os.environ.update(access.variables)
    client = observed_client(access, wire, spec.timeout_seconds)
    model: Model = get_model(
        spec.model_uri,
        base_url=_place(route, access),
        api_key=access.key,
        config=generate_config(spec),
        memoize=False,
        **{**_own_arguments(spec, route), **arguments, **_client_arguments(route, access, client)},
    )
    if route.protocol is Protocol.GEMINI:
        _hand_over(model, client, split_parameters(spec.parameters, route.protocol).extra_body)
    observe(model, wire, route.way, spec.task)
    return model


def _place(route: Route, access: Access) -> str | None:
    """Return where the client calls: a URL, and for gRPC a host."""
    if route.protocol is Protocol.GRPC:
        return None if access.base_url is None else access.base_url.origin.partition("://")[2]
    return route.base_url if access.base_url is None else access.base_url.url


def _without_tls(access: Access) -> bool:
    return access.base_url is not None and access.base_url.origin.startswith("http://")


def _own_arguments(spec: RunSpec, route: Route) -> dict[str, Any]:
    """Return the arguments that a manifest may change."""
    if route.protocol is Protocol.MISTRAL:
        return {"conversation_api": False}  # which keeps conversations on the server
    body = split_parameters(spec.parameters, route.protocol).extra_body
    return {"extra_body": dict(body)} if body and body_is_argument(spec.provider) else {}


def _client_arguments(route: Route, access: Access, client: httpx2.AsyncClient) -> dict[str, Any]:
    """Return what hands over the HTTP client; retries live in one layer, Inspect's."""
    if route.protocol is Protocol.GRPC:
        return {"disable_retry": True, "use_insecure_channel": _without_tls(access)}
    if route.protocol in {Protocol.CHAT, Protocol.MESSAGES}:
        return {"http_client": client, "max_retries": 0}
    return {"async_client": client} if route.protocol is Protocol.MISTRAL else {}


def _hand_over(model: Model, client: httpx2.AsyncClient, body: Mapping[str, Json]) -> None:
    """Google's client is made anew for each call, from options that may carry an HTTP client and more of the body."""
    api: Any = model.api
    inner = api.model_client

    def model_client(http_options: Any = None) -> Any:
        from google.genai.types import HttpOptions

        options = http_options or HttpOptions(base_url=api.base_url, api_version=api.api_version)
        options.httpx_async_client = client
        if body:
            options.extra_body = dict(body)
        return inner(options)

    api.model_client = model_client


def model_arguments(spec: RunSpec) -> dict[str, Any]:
    """Return the arguments that the manifest states for the provider."""
    stated = spec.options.get("model_args")
    return dict(stated) if isinstance(stated, dict) else {}


def register_price(spec: RunSpec) -> None:
    """Inspect enforces cost_limit only for models whose price it knows; a free one costs zero.

    It knows no tiers, so it gets the dearest rates that a sample within its token_limit can reach. Tokens of a
    rented endpoint cost nothing: there time_limit bounds the money.
    """
    rates = rates_up_to(spec.price or Price(0.0, 0.0), spec.limits.token_limit)
    read_no_list_unasked()
    cost = ModelCost(
        input=rates.input,
        output=rates.output,
        input_cache_write=rates.cache_write,
        input_cache_read=rates.cache_read,
    )
    set_model_info(spec.model_uri, ModelInfo(organization=spec.provider, cost=cost))
