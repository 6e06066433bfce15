"""The form of an answer, sent to a provider as its structured output where its route can carry one."""

from __future__ import annotations

from collections.abc import Mapping

from tamesu.base.canonical import Json
from tamesu.base.model.manifest import OutputSchema
from tamesu.core.parameter_values import PROVIDER_DEFAULT
from tamesu.core.routes import Protocol, protocol_of
from tamesu.core.wire_names import travel

SCHEMA = "response_schema"
_ALLOWED_WHEN_STRICT = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "enum", "const", "description", "title",
     "anyOf", "$ref", "$defs", "$schema"}
)  # fmt: skip


def carries_schemas(provider: str) -> bool:
    """Return whether a provider's route carries the form of an answer."""
    protocol = protocol_of(provider)
    # on Bedrock it depends on the model; xAI's client reads the reply itself, and what it cannot read is lost
    unfit = protocol in {Protocol.RECORDED, Protocol.CONVERSE, Protocol.GRPC}
    return protocol is not None and not unfit and bool(travel(protocol, SCHEMA).names)


def with_schema(
    provider: str, parameters: Mapping[str, Json], name: str, schema: OutputSchema | None
) -> dict[str, Json]:
    """Return the parameters that are sent, the form of the answer among them unless one is stated.

    `response_schema: provider-default` leaves it out, for an endpoint that refuses it. A schema that providers would
    refuse as strict is sent as a wish.
    """
    sent = dict(parameters)
    if SCHEMA not in sent and schema is not None and carries_schemas(provider):
        sent[SCHEMA] = {"name": name, "json_schema": dict(schema.schema), "strict": fits_strict(schema.schema)}
    return {key: value for key, value in sent.items() if (key, value) != (SCHEMA, PROVIDER_DEFAULT)}


def fits_strict(schema: Json | Mapping[str, Json]) -> bool:
    """Return whether a schema stays within what strict structured output allows.

    Every object names all of its properties as required and allows no others; no further keywords.
    """
    if isinstance(schema, list):
        return all(fits_strict(part) for part in schema)
    if not isinstance(schema, Mapping):
        return True
    if not schema.keys() <= _ALLOWED_WHEN_STRICT:
        return False
    if "properties" in schema or schema.get("type") == "object":
        properties, required = schema.get("properties"), schema.get("required")
        if not isinstance(properties, dict) or schema.get("additionalProperties") is not False:
            return False
        if not isinstance(required, list) or {str(name) for name in required} != properties.keys():
            return False
    named = [part for key in ("properties", "$defs") if isinstance(part := schema.get(key), dict)]
    inner = [part for group in named for part in group.values()]
    return all(fits_strict(part) for part in (*inner, schema.get("items"), schema.get("anyOf")))
