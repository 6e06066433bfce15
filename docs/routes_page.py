"""docs/routes.md from the table of routes and the names on the wire."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tamesu.core.parameters import CONFIG_FIELDS
from tamesu.core.routes import ROUTES, Protocol, Route, find_route
from tamesu.core.wire_names import WIRE_NAMES, Travel, travel

Table = Callable[[Iterable[str], Iterable[Iterable[str]]], str]

_HEAD = """# Routes

{made}

A provider in `runs[].provider` is a route: whose client is called, which variables hold its key and its base URL, and
under which name each declared parameter leaves. `pip install 'tamesu[<extra>]'` brings the client, `tamesu[all]` all.

Variables are read by name from the process, then from `<dir>/.env` of `--config-dir <dir>`, then from the project's
`.env`; `endpoints` in config/config.yaml may state a base URL. A key goes to the client alone: it is in no environment
of a task, and replies lose it before anything is kept. The origin of a base URL is part of a run's identity.
Calls follow redirects at most ten times and on the same origin only.
"""
_WIRE = """## What leaves

Every request is written to `runs/<run-id>/wire.jsonl` when it leaves: parameters in clear, everything else as SHA-256,
no headers. A request that carries less, more or other than the plan says makes the run `drifted`: kept, not banked.
`provider-default` as value says that a field is left out on purpose. `(body)` marks what Inspect drops and Tamesu puts
into the body; `-` is not sent, so that lint warns and preflight refuses. Parameters of no known name travel in the body
of OpenAI Chat Completions and Anthropic Messages, and nowhere else. `openai` speaks Chat Completions or Responses,
depending on the model. Acted upon by Inspect and never sent: {local}.
"""


def routes_page(made: str, table: Table) -> str:
    """Return docs/routes.md."""
    routes = [*(route for route in ROUTES.values()), _service()]
    local = sorted(name for name in CONFIG_FIELDS if all(travel(protocol, name).local for protocol in WIRE_NAMES))
    names = sorted(CONFIG_FIELDS - set(local) - {"extra_body"})
    protocols = list(WIRE_NAMES)
    rows = [[f"`{name}`", *(_told(travel(protocol, name)) for protocol in protocols)] for name in names]
    return "\n".join(
        [
            _HEAD.format(made=made),
            table(("Provider", "Key", "Base URL", "Default", "Protocol", "Extra"), map(_row, routes)),
            "",
            _WIRE.format(local=", ".join(f"`{name}`" for name in local)),
            table(("Parameter", *(protocol.value for protocol in protocols)), rows),
            "",
        ]
    )


def _service() -> Route:
    route = find_route("openai-api/service")
    assert route is not None
    return route


def _row(route: Route) -> list[str]:
    provider = "openai-api/<service>" if route.provider.startswith("openai-api/") else route.provider
    keys = route.credentials or ((route.key,) if route.key else ())
    key = " or ".join(f"`{name}`" for name in keys) or "none"
    base = f"`{route.base_url_variable}`" if route.base_url_variable else "none"
    default = "must be set" if route.needs_base_url else route.base_url or "the client's own"
    if route.protocol is Protocol.RECORDED:
        default = "no network"
    optional = " (optional)" if route.key else ""
    return [f"`{provider}`", f"{key}{optional}", base, default, route.protocol.value, route.extra or ""]


def _told(way: Travel) -> str:
    if way.local:
        return "kept here"
    if not way.names:
        return "-"
    told = " or ".join(f"`{name}`" for name in way.names)
    return told + (" (body)" if way.by_body else "") + (" with tools" if way.only_with_tools else "")
