"""Model parameters: which names Inspect's GenerateConfig knows, and which belong to Tamesu."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tamesu.base.canonical import Json
from tamesu.core.parameter_values import KINDS, PROVIDER_DEFAULT
from tamesu.core.picture_request import IMAGE, OPTIONS, PictureRequest, picture_request
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
_BODIES = frozenset({"extra_body", OPTIONS})


@dataclass(frozen=True, slots=True)
class SplitParameters:
    """Parameters by the way they travel: fields of GenerateConfig, what rides in `extra_body`, what has no way."""

    config: Mapping[str, Json]
    extra_body: Mapping[str, Json]
    unsent: tuple[str, ...] = ()


def split_parameters(parameters: Mapping[str, Json], protocol: Protocol | None = None) -> SplitParameters:
    """Return known fields and the rest; an explicit `extra_body` is merged below the unknown names.

    `provider_options` ride in the body as they are, and a wish for a picture travels as its route wants it.

    What Inspect would drop on the way to an endpoint of that protocol rides in the body. What is left to the provider
    on purpose is in neither.
    """
    parameters = {name: value for name, value in parameters.items() if value != PROVIDER_DEFAULT}
    body: dict[str, Json] = {}
    for declared in (parameters.get("extra_body"), parameters.get(OPTIONS)):
        body = _merged(body, declared) if isinstance(declared, dict) else body
    config: dict[str, Json] = {}
    image = parameters.get(IMAGE)
    asked = picture_request(image, protocol) if isinstance(image, dict) else PictureRequest()
    for name, value in parameters.items():
        if name in OWN or name in _BODIES or (name == IMAGE and isinstance(value, dict)):
            continue
        way = NOT_SENT if protocol is None else travel(protocol, name)
        if name not in CONFIG_FIELDS or way.by_body:
            body[name] = value
        else:
            config[way.config or name] = value
    return SplitParameters({**config, **asked.config}, _merged(body, asked.body), asked.unsent)


def _merged(below: Mapping[str, Json], above: Mapping[str, Json]) -> dict[str, Json]:
    """Return two mappings as one, mappings within them too; of two values the second counts."""
    merged = dict(below)
    for name, value in above.items():
        known = merged.get(name)
        merged[name] = _merged(known, value) if isinstance(known, dict) and isinstance(value, dict) else value
    return merged
