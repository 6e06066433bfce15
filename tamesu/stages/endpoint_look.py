"""Looking at an endpoint before a run: its load, its models, its version. Nothing is generated."""

from __future__ import annotations

from dataclasses import dataclass

from tamesu.base.model.endpoint import Check, EndpointFacts, EngineFinding, ModelListing
from tamesu.base.model.plan import Holder, RunSpec
from tamesu.core.preflight.answers import models_check, server_check
from tamesu.core.preflight.lines import passed, unknown
from tamesu.core.preflight.pressure import idle_check, is_own, orphans_check, ownership_check
from tamesu.core.routes import Protocol, Route
from tamesu.edge.endpoints.access import HttpAccess
from tamesu.edge.endpoints.client import EndpointClient
from tamesu.edge.endpoints.engine import server_version, wait_idle
from tamesu.edge.endpoints.listing import list_models
from tamesu.edge.endpoints.patience import Patience

ENDPOINT_CHECKS = ("idle", "orphans", "models", "server", "ownership")
_RECORDED = "recorded answers: no endpoint is called"


@dataclass(frozen=True, slots=True)
class Look:
    """What an endpoint said."""

    engine: EngineFinding | None
    listing: ModelListing
    version: str | None


def look_at(route: Route, access: HttpAccess, model: str, idle: Patience, warm_up: Patience) -> Look:
    """Return what the endpoint of a route says; only one of one's own is asked for its load and version."""
    if access.base_url is None:
        return Look(None, ModelListing("unasked", detail="no base URL is known, so it is not asked"), None)
    own = is_own(route, access.base_url)
    with EndpointClient(access) as client:
        engine = wait_idle(client, idle) if own else None
        listing = list_models(client, route.protocol, model, warm_up)
        version = server_version(client) if own and listing.state == "listed" else None
    return Look(engine, listing, version)


def endpoint_checks(
    spec: RunSpec, route: Route, base_url: str | None, look: Look, facts: EndpointFacts, holder: Holder | None
) -> tuple[Check, ...]:
    """Return the lines about an endpoint that was looked at."""
    own = is_own(route, base_url)
    idle = idle_check(own, look.engine)
    models = models_check(spec, look.listing)
    if models.state == "fail":
        server = unknown("server", "not told, since the model is not there")
    else:
        server = server_check(spec, own, look.version, dict(look.listing.entry))
    return (
        idle,
        orphans_check(own, holder, idle),
        models,
        server,
        ownership_check(own, facts, spec.concurrency, spec.retries),
    )


def recorded_checks(route: Route) -> tuple[Check, ...]:
    """Return the lines of recorded answers, which no endpoint gives; none for a live route."""
    names = (*ENDPOINT_CHECKS, "probe", "sampling", "variety")
    return tuple(passed(name, _RECORDED) for name in names) if route.protocol is Protocol.RECORDED else ()
