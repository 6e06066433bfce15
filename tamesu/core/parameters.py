"""Model parameters: which names Inspect's GenerateConfig knows, and which belong to Tamesu."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tamesu.base.canonical import Json
from tamesu.core.parameter_values import KINDS, PROVIDER_DEFAULT
from tamesu.core.routes import Protocol
from tamesu.core.wire_names import NOT_SENT, travel

CONFIG_FIELDS = frozenset(KINDS)

REFUSED = {
    "adaptive_connections": "concurrency is explicit; set defaults.concurrency",
    "attempt_timeout": "set defaults.timeout_seconds",
    "batch": "not supported yet",
    "cache": "an answer from a cache is no independent draw",
    "fallback_models": "another model's answer would count as this one's",
    "max_connections": "set defaults.concurrency",
    "max_retries": "set defaults.retries",
    "num_choices": "one answer per item; use repetitions",
    "system_message": "set arms[].prompts.system",
    "timeout": "set defaults.timeout_seconds",
}

# Read by Tamesu and never sent.
OWN = frozenset({"recordings"})


@dataclass(frozen=True, slots=True)
class SplitParameters:
    """Parameters by the way they travel: fields of GenerateConfig, and what rides in `extra_body`."""

    config: Mapping[str, Json]
    extra_body: Mapping[str, Json]


def split_parameters(parameters: Mapping[str, Json], protocol: Protocol | None = None) -> SplitParameters:
    """Return known fields and the rest; an explicit `extra_body` is merged below the unknown names.

    What Inspect would drop on the way to an endpoint of that protocol rides in the body. What is left to the provider
    on purpose is in neither.
    """
    parameters = {name: value for name, value in parameters.items() if value != PROVIDER_DEFAULT}
    declared = parameters.get("extra_body")
    body: dict[str, Json] = dict(declared) if isinstance(declared, dict) else {}
    config: dict[str, Json] = {}
    for name, value in parameters.items():
        if name in OWN or name == "extra_body":
            continue
        way = NOT_SENT if protocol is None else travel(protocol, name)
        if name not in CONFIG_FIELDS or way.by_body:
            body[name] = value
        else:
            config[way.config or name] = value
    return SplitParameters(config, body)
