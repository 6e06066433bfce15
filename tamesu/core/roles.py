"""Further models of a run, which its task or its scorers ask by role, each seen as a run of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tamesu.base.canonical import Json
from tamesu.base.model.plan import RoleRun, RunSpec

_OWN_OPTIONS = frozenset({"model_args"})  # said of the run's own model alone


def as_run(spec: RunSpec, role: RoleRun) -> RunSpec:
    """Return the run as if the model of a role were its own, so that all that asks or checks a model serves both."""
    cap = role.max_connections
    options: Mapping[str, Json] = {name: value for name, value in spec.options.items() if name not in _OWN_OPTIONS}
    return replace(
        spec,
        provider=role.provider,
        model=role.model,
        model_uri=role.model_uri,
        base_url_origin=role.base_url_origin,
        parameters=role.parameters,
        recordings=role.recordings,
        concurrency=spec.concurrency if cap is None else min(spec.concurrency, cap),
        max_connections=cap,
        options=options,
        price=role.price,
        largest_call_usd=role.largest_call_usd,
        roles=(),
    )


def models_of(spec: RunSpec) -> tuple[RunSpec, ...]:
    """Return the run for each model that it asks, its own first; none of them has roles."""
    if not spec.roles:
        return (spec,)
    return (replace(spec, roles=()), *(as_run(spec, role) for role in spec.roles))
