"""Access: how the models of a launch are reached, read before the process gives up its environment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tamesu.base.errors import ChangedSincePlan
from tamesu.base.model.endpoint import EndpointFacts
from tamesu.base.model.plan import RunSpec
from tamesu.core.roles import models_of
from tamesu.core.routes import Protocol, canonical_provider, find_route
from tamesu.edge.credentials import Access, read_access, read_environment
from tamesu.edge.documents.reading import Reading
from tamesu.edge.documents.settings_reader import read_setting
from tamesu.edge.store.paths import Project

_UNSTATED = EndpointFacts("")


def read_accesses(project: Project, specs: Iterable[RunSpec]) -> Mapping[str, Access]:
    """Return how each live provider of the runs is reached, by provider.

    Raises ChangedSincePlan when a provider answers elsewhere than the run was planned for.
    """
    found: dict[str, Access] = {}
    for spec in (model for run in specs for model in models_of(run)):
        route = find_route(spec.provider)
        if route is None or route.protocol is Protocol.RECORDED:
            continue
        if spec.provider not in found:
            configured = endpoints_of(project).get(canonical_provider(spec.provider), _UNSTATED).base_url
            found[spec.provider] = read_access(route, read_environment(project.root), configured)
        origin = route.origin(found[spec.provider].base_url)
        if origin != spec.base_url_origin:
            was, now = spec.base_url_origin or "the provider's own", origin or "the provider's own"
            raise ChangedSincePlan(
                f"{spec.run_id}: was planned for base URL {was}, and now it is {now}; plan again under one setting"
            )
    return found


def endpoints_of(project: Project) -> Mapping[str, EndpointFacts]:
    """Return what config/config.yaml says about endpoints, by canonical provider."""
    return read_setting(Reading(project.root), project.config, project.models).endpoints
