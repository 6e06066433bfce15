"""The load of an engine of one's own while an attempt runs; nothing where none is offered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tamesu.base.model.load import LoadSummary
from tamesu.base.model.plan import RunSpec
from tamesu.core.preflight.pressure import is_own
from tamesu.core.routes import find_route
from tamesu.edge.credentials import Access
from tamesu.edge.endpoints.access import http_access
from tamesu.edge.endpoints.client import EndpointClient
from tamesu.edge.endpoints.engine import read_load
from tamesu.edge.endpoints.load_sampler import LoadSampler


@contextmanager
def sampled_load(spec: RunSpec, access: Access | None) -> Iterator[list[LoadSummary]]:
    """Sample within; the list holds the summary afterwards, when there is one."""
    found: list[LoadSummary] = []
    route = find_route(spec.provider)
    http = None if route is None or access is None else http_access(route, access)
    if route is None or http is None or http.base_url is None or not is_own(route, http.base_url):
        yield found
        return
    with EndpointClient(http) as client, LoadSampler(lambda: read_load(client)) as sampler:
        try:
            yield found
        finally:
            summary = sampler.summary()
            if summary is not None:
                found.append(summary)
