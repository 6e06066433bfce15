"""Parameters that would not reach the wire: their route has no name for them."""

from __future__ import annotations

from collections.abc import Iterator

from tamesu.base.model.manifest import Eval
from tamesu.core.lint.layers import Place, SetParameter, set_parameters
from tamesu.core.lint.remark import Remark
from tamesu.core.parameter_values import PROVIDER_DEFAULT
from tamesu.core.parameters import CONFIG_FIELDS
from tamesu.core.routes import Protocol, find_route
from tamesu.core.wire_names import WIRE_NAMES, travel

_SPOKEN = {"openai": (Protocol.CHAT, Protocol.RESPONSES)}  # which of both depends on the model


def unsent_remarks(evaluation: Eval) -> Iterator[Remark]:
    """Yield a warning for each declared parameter that no request of its route carries."""
    if evaluation.execution.backend != "inspect":
        return
    told: set[Place] = set()
    for one in set_parameters(evaluation):
        if one.place not in told and _is_unsent(one):
            told.add(one.place)
            model = f"{one.entry.provider}/{one.entry.model}"
            yield Remark(
                one.place,
                "parameter/not-sent",
                f"parameter '{one.name}' does not reach {model}, so that {_consequence(one.place)}",
                f"remove it, or write {PROVIDER_DEFAULT} to leave it out on purpose (docs/routes.md)",
                "warning",
            )


def _consequence(place: Place) -> str:
    return "no verdict of it counts" if place[:2] == ("evaluation", "model_judges") else "preflight refuses"


def _is_unsent(one: SetParameter) -> bool:
    route = find_route(one.entry.provider)
    if route is None or one.value == PROVIDER_DEFAULT or one.name not in CONFIG_FIELDS - {"extra_body"}:
        return False
    protocols = [protocol for protocol in _SPOKEN.get(route.provider, (route.protocol,)) if protocol in WIRE_NAMES]
    ways = [travel(protocol, one.name) for protocol in protocols]
    return bool(ways) and not any(way.names or way.local for way in ways)
