"""Model parameters: which names Inspect's GenerateConfig knows, and which belong to Tamesu."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tamesu.base.canonical import Json
from tamesu.core.parameter_values import KINDS, PROVIDER_DEFAULT

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


def split_parameters(parameters: Mapping[str, Json]) -> SplitParameters:
    """Return known fields and the rest; an explicit `extra_body` is merged below the unknown names.

    What is left to the provider on purpose is in neither.
    """
    parameters = {name: value for name, value in parameters.items() if value != PROVIDER_DEFAULT}
    config = {name: value for name, value in parameters.items() if name in CONFIG_FIELDS - {"extra_body"}}
    declared = parameters.get("extra_body")
    unknown = {name: value for name, value in parameters.items() if name not in CONFIG_FIELDS and name not in OWN}
    body = {**(declared if isinstance(declared, dict) else {}), **unknown}
    return SplitParameters(config, body)
