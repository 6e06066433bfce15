"""Field by field: what a schema names, what was expected there, and what came."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tamesu.base.canonical import Json
from tamesu.base.model.manifest import OutputSchema

_MAX_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an output by its dotted path; `values` are those that an enum allows, empty when it is none."""

    path: str
    values: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """The value at a path; `there` tells a null from nothing."""

    there: bool
    value: Json = None


@dataclass(frozen=True, slots=True)
class FieldMatch:
    """One field of one item: `expected` and `actual` as compared; `missing` says that the output has no such field."""

    path: str
    expected: Json
    actual: Json
    missing: bool

    @property
    def equal(self) -> bool:
        return not self.missing and same(self.expected, self.actual)


def schema_fields(schema: OutputSchema | None) -> tuple[Field, ...]:
    """Return every field that an output's schema names, parents before their parts, local references followed."""
    if schema is None:
        return ()
    found = {field.path: field for field in _fields(schema.schema, schema.schema, "", _MAX_DEPTH)}
    return tuple(found.values())


def at_path(value: Json, path: str) -> Found:
    """Return what stands at a dotted path of an output or an expectation."""
    for name in path.split("."):
        if not isinstance(value, dict) or name not in value:
            return Found(False)
        value = value[name]
    return Found(True, value)


def field_matches(fields: tuple[Field, ...], expected: Json, actual: Json) -> tuple[FieldMatch, ...]:
    """Return one match per field that the item expects something for; others cannot be judged."""
    matches = []
    for field in fields:
        wanted = at_path(expected, field.path)
        if wanted.there:
            came = at_path(actual, field.path)
            matches.append(FieldMatch(field.path, wanted.value, came.value, not came.there))
    return tuple(matches)


def expected_paths(fields: tuple[Field, ...], expected: Mapping[str, Json]) -> dict[str, frozenset[str]]:
    """Return by item ID the paths at which an item expects something; equal sets of paths are one object."""
    shared: dict[frozenset[str], frozenset[str]] = {}
    found = {}
    for item, wanted in expected.items():
        paths = frozenset(field.path for field in fields if at_path(wanted, field.path).there)
        found[item] = shared.setdefault(paths, paths)
    return found


def same(one: Json, other: Json) -> bool:
    """Return whether two JSON values are equal as JSON: 1 is 1.0, and true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(part, other[name]) for name, part in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def _fields(schema: Json | Mapping[str, Json], root: Mapping[str, Json], prefix: str, depth: int) -> Iterator[Field]:
    schema = _resolved(schema, root)
    properties = schema.get("properties") if schema is not None else None
    if not isinstance(properties, dict) or depth == 0:
        return
    for name, part in properties.items():
        inner = _resolved(part, root)
        yield Field(f"{prefix}{name}", _values(inner))
        yield from _fields(part, root, f"{prefix}{name}.", depth - 1)


def _resolved(schema: Json | Mapping[str, Json], root: Mapping[str, Json]) -> Mapping[str, Json] | None:
    """Return a schema behind up to a few local references."""
    for _ in range(_MAX_DEPTH):
        if not isinstance(schema, Mapping):
            return None
        target = schema.get("$ref")
        if not isinstance(target, str):
            return schema
        found = at_pointer(root, target)
        schema = found.value if found.there else None
    return None


def at_pointer(root: Mapping[str, Json], reference: str) -> Found:
    """Return what a local reference (`#/$defs/name`) points at."""
    value: Json = dict(root)
    if not reference.startswith("#/"):
        return Found(reference == "#", value)
    for part in reference.removeprefix("#/").split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(value, dict) or name not in value:
            return Found(False)
        value = value[name]
    return Found(True, value)


def _values(schema: Mapping[str, Json] | None) -> tuple[Json, ...]:
    values = None if schema is None else schema.get("enum")
    return tuple(values) if isinstance(values, list) else ()
