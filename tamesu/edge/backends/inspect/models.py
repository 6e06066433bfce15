"""The model of a run: its provider's real client, with the key handed over and every request observed."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any

from inspect_ai.model import Model, ModelCost, ModelInfo, get_model, set_model_cost, set_model_info

from tamesu.base.errors import UsageError
from tamesu.base.model.plan import Price, RunSpec
from tamesu.base.model.wire import Way
from tamesu.core.parameters import split_parameters
from tamesu.core.pricing import rates_up_to
from tamesu.core.routes import Protocol, Route, find_route, protocol_of
from tamesu.edge.backends.inspect.http_client import MOST_REDIRECTS, Observer
from tamesu.edge.backends.inspect.observing import observe
from tamesu.edge.backends.inspect.settings import body_is_argument, generate_config
from tamesu.edge.backends.inspect.wire_log import WireLog
from tamesu.edge.backends.protocol import AttemptRequest
from tamesu.edge.credentials import Access

_CONNECT_SECONDS = 60.0  # the event loop may be busy for a while, and a connection costs nothing
_BEYOND_TIMEOUT_SECONDS = 30.0  # Inspect ends a call first, so that one layer decides
_HTTP_CLIENTS = {Protocol.CHAT: "openai", Protocol.RESPONSES: "openai", Protocol.MESSAGES: "anthropic"}


def run_model(request: AttemptRequest) -> Model:
    """Return the run's model, never shared with another run of the process."""
    spec = request.spec
    register_price(spec)
    config = generate_config(spec)
    arguments = _arguments(spec.options.get("model_args"))
    if spec.provider == "replay":
        recorded: dict[str, Any] = {
            "recordings": str(request.paths.recordings),
            "dataset": str(request.paths.dataset),
            "arm": spec.arm,
            "repetition": spec.repetition,
            "calls": str(request.replay_calls),
        }
        arguments |= recorded
        return get_model(spec.model_uri, config=config, memoize=False, **arguments)
    return live_model(spec, request.access, WireLog(request.paths.wire, request.attempt), arguments)


def live_model(spec: RunSpec, access: Access | None, wire: WireLog, arguments: Mapping[str, Any]) -> Model:
    """Return a model over its provider's client. Raises UsageError when that client is not installed."""
    route = find_route(spec.provider)
    if route is None or access is None:
        raise UsageError(f"{spec.ref}: provider '{spec.provider}' has no route; see docs/routes.md")
    # what takes no key as an argument reads it from the environment
    os.environ.update(access.variables)
    observer = Observer(wire, access.secrets)
    model: Model = get_model(
        spec.model_uri,
        base_url=None if access.base_url is None else access.base_url.url,
        api_key=access.key,
        config=generate_config(spec),
        memoize=False,
        **_body_argument(spec),
        **arguments,
        **_client_arguments(spec, route, access, observer),
    )
    observe(model, wire, way(route))
    return model


def _body_argument(spec: RunSpec) -> dict[str, Any]:
    body = split_parameters(spec.parameters, protocol_of(spec.provider)).extra_body
    return {"extra_body": dict(body)} if body and body_is_argument(spec.provider) else {}


def way(route: Route) -> Way:
    """Return where the requests of a route are seen."""
    return "http" if route.protocol in _HTTP_CLIENTS else "call"


def _client_arguments(spec: RunSpec, route: Route, access: Access, observer: Observer) -> dict[str, Any]:
    library = _HTTP_CLIENTS.get(route.protocol)
    if library is None:
        return {}
    sdk = _installed(library, route)
    # the client of the SDK itself, since a client and its configuration must be of the same library
    http = importlib.import_module(sdk.DefaultAsyncHttpxClient.__mro__[1].__module__.partition(".")[0])
    user = None if access.base_url is None else access.base_url.user
    password = None if access.base_url is None else access.base_url.password
    client = sdk.DefaultAsyncHttpxClient(
        timeout=http.Timeout(spec.timeout_seconds + _BEYOND_TIMEOUT_SECONDS, connect=_CONNECT_SECONDS),
        follow_redirects=True,
        max_redirects=MOST_REDIRECTS,
        headers={"accept-encoding": "identity"},
        auth=None if user is None else (user, password or ""),
        event_hooks={"request": [observer.on_request], "response": [observer.on_response]},
    )
    # retries live in one layer, Inspect's
    return {"http_client": client, "max_retries": 0}


def _installed(library: str, route: Route) -> Any:
    try:
        return importlib.import_module(library)
    except ImportError:
        raise UsageError(
            f"provider '{route.provider}': its client is not installed; pip install 'tamesu[{route.extra}]'"
        ) from None


def _arguments(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else {}


def register_price(spec: RunSpec) -> None:
    """Inspect enforces cost_limit only for models whose price it knows; a free one costs zero.

    It knows no tiers, so it gets the dearest rates that a sample within its token_limit can reach. Tokens of a
    rented endpoint cost nothing: there time_limit bounds the money.
    """
    rates = rates_up_to(spec.price or Price(0.0, 0.0), spec.limits.token_limit)
    set_model_info(spec.model_uri, ModelInfo(organization=spec.provider))
    set_model_cost(
        spec.model_uri,
        ModelCost(
            input=rates.input,
            output=rates.output,
            input_cache_write=rates.cache_write,
            input_cache_read=rates.cache_read,
        ),
    )
