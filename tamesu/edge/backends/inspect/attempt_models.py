"""The models of one attempt: the run's own, and those of its roles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inspect_ai.model import Model, get_model

from tamesu.base.model.plan import RunSpec
from tamesu.core.roles import as_run
from tamesu.edge.backends.protocol import AttemptRequest
from tamesu.edge.credentials import Access
from tamesu.edge.providers.models import live_model, model_arguments, register_price
from tamesu.edge.providers.settings import generate_config
from tamesu.edge.providers.wire_log import WireLog


@dataclass(frozen=True, slots=True)
class AttemptModels:
    """The models of one attempt: the run's own, and further ones by role."""

    own: Model
    roles: Mapping[str, Model]


def attempt_models(request: AttemptRequest) -> AttemptModels:
    """Return the models of an attempt, none of them shared with another run of the process."""
    spec = request.spec
    wire = WireLog(request.paths.wire, request.attempt)
    return AttemptModels(
        own=_model(request, spec, request.access, wire, None),
        roles={
            role.role: _model(
                request, as_run(spec, role), request.role_accesses.get(role.role), wire.of_role(role.role), role.role
            )
            for role in spec.roles
        },
    )


def _model(request: AttemptRequest, spec: RunSpec, access: Access | None, wire: WireLog, role: str | None) -> Model:
    """Return one model of an attempt; `spec` is the run as this model sees it."""
    register_price(spec)
    arguments = model_arguments(spec)
    if spec.provider != "replay":
        return live_model(spec, access, wire, arguments)
    paths = request.paths
    recorded: dict[str, Any] = {
        "recordings": str(paths.recordings if role is None else paths.role_recordings(role)),
        "dataset": str(paths.dataset),
        "arm": spec.arm,
        "repetition": spec.repetition,
        "calls": str(request.replay_calls),
    }
    own: dict[str, Any] = {"pictures": str(paths.recorded_pictures)} if role is None else {"for_role": role}
    arguments |= recorded | own
    return get_model(spec.model_uri, config=generate_config(spec), memoize=False, **arguments)
