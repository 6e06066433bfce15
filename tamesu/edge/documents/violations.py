"""Violations of a schema, told as findings: where, what was found, and what to write instead."""

from __future__ import annotations

import difflib
import itertools
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from jsonschema.exceptions import ValidationError

from tamesu.base.canonical import Json
from tamesu.base.model.finding import Finding
from tamesu.edge.documents.decoding import shortened
from tamesu.edge.documents.document import Document, NodePath

_NOUNS = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "nothing",
    "number": "a number",
    "object": "a mapping",
    "string": "text",
}
_CLASSES = {"integer": int, "string": str}
_OLD_BOOLEANS = {
    **dict.fromkeys(("y", "yes", "on"), "true"),
    **dict.fromkeys(("n", "no", "off"), "false"),
}
_LONGEST_COMPARED = 100
_MOST_UNKNOWN = 200
_SLUGS = frozenset({"a kebab-case id", "a code"})


@dataclass(frozen=True, slots=True)
class Shape:
    """A document and the dotted names of all fields that its kind knows."""

    document: Document
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Violation:
    """One schema error.

    `wanted` is what the keyword demands of `value`, `schema` the object that holds the keyword.
    """

    shape: Shape
    path: NodePath
    keyword: str
    wanted: Any
    value: Any
    schema: Mapping[str, Any]
    error: ValidationError

    @property
    def field(self) -> str:
        """The field in question as the start of a message; empty for list elements and for the whole."""
        name = self.path[-1] if self.path else 0
        return f"'{shortened(name)}': " if isinstance(name, str) else ""

    @property
    def found(self) -> str:
        """What stands in the document, as it is spelled there."""
        return _described(self.value, self.literal)

    @property
    def literal(self) -> str | None:
        return self.shape.document.literals.get(self.path)

    def finding(self, advice: Advice) -> Finding:
        place = self.shape.document.position((*self.path, *advice.below))
        rule = f"schema/{self.keyword}"
        label = self.shape.document.label
        return Finding(label, place.line, place.column, "error", rule, advice.message, advice.fix)


@dataclass(frozen=True, slots=True)
class Advice:
    """What to tell; `below` leads from the violation to the place in question."""

    message: str
    fix: str
    below: NodePath = ()


Teller: TypeAlias = Callable[[Violation], Advice]


def findings(shape: Shape, error: ValidationError) -> Iterator[Finding]:
    """Yield the findings of one schema error: one, except where several fields are unknown."""
    violation = _violation(shape, error)
    if violation.keyword == "additionalProperties":
        yield from map(violation.finding, _unknown_fields(violation))
    elif violation.keyword in ("anyOf", "oneOf"):
        yield from _union(violation)
    elif not _told_by_type(violation):
        yield violation.finding(_TELLERS.get(violation.keyword, _otherwise)(violation))


def _violation(shape: Shape, error: ValidationError) -> Violation:
    schema = error.schema if isinstance(error.schema, Mapping) else {}
    path, keyword = tuple(error.absolute_path), str(error.validator)
    return Violation(shape, path, keyword, error.validator_value, error.instance, schema, error)


def _told_by_type(violation: Violation) -> bool:
    """Say whether the keyword `type` of the same schema tells the same mistake."""
    expected = _CLASSES.get(str(violation.schema.get("type")))
    return violation.keyword in ("const", "enum") and expected not in (None, type(violation.value))


def _described(value: Json, literal: str | None) -> str:
    if isinstance(value, str):
        return f"the text '{shortened(value)}'"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return shortened(literal) if literal else "nothing"
    spelled = shortened(literal or json.dumps(value))
    return spelled if isinstance(value, bool) else f"the number {spelled}"


def _unknown_fields(violation: Violation) -> Iterator[Advice]:
    properties: Mapping[str, Any] = violation.schema.get("properties", {})
    known = [name for name, schema in properties.items() if "not" not in schema]
    unknown = (name for name in violation.value if name not in properties)
    for name in itertools.islice(unknown, _MOST_UNKNOWN):
        fix = _nearest(name, known, violation.shape.fields)
        yield Advice(f"unknown field '{shortened(name)}'", fix, (name,))


def _nearest(name: str, known: list[str], everywhere: tuple[str, ...]) -> str:
    near = _similar(name, known, 0.75)
    if near:
        return f"did you mean '{near}'?"
    last_names = [field.rpartition(".")[2] for field in everywhere]
    meant = _similar(name, last_names, 0.85)
    elsewhere = [field for field, last in zip(everywhere, last_names, strict=True) if last == meant]
    if elsewhere:
        return f"it belongs at {' or '.join(elsewhere[:3])}"
    near = _similar(name, known, 0.5)
    return f"did you mean '{near}'?" if near else f"known here: {', '.join(sorted(known))}"


def _similar(name: str, known: list[str], likeness: float = 0.6) -> str:
    """Return the name that is most like another, or nothing; likeness from 0 to 1, as difflib has it."""
    if len(name) > _LONGEST_COMPARED:
        return ""
    return next(iter(difflib.get_close_matches(name, known, n=1, cutoff=likeness)), "")


def _union(violation: Violation) -> Iterator[Finding]:
    branches: list[Mapping[str, Any]] = violation.wanted
    if all(branch.keys() == {"required"} for branch in branches):
        if not isinstance(violation.value, dict):
            return  # told by the keyword `type`; `required` accepts what is no mapping
        names = [name for branch in branches for name in branch["required"]]
        yield violation.finding(_one_of_fields(violation, names))
        return
    context = violation.error.context
    inner = [[child for child in context if child.schema_path[0] == index] for index in range(len(branches))]
    fitting = [children for children in inner if not any(map(_is_wrong_type, children))]
    if len(fitting) == 1:
        for child in fitting[0]:
            yield from findings(violation.shape, child)
        return
    expected = _listed((branch.get("title", "another form") for branch in branches), "or")
    message = f"{violation.field}expected {expected}, found {violation.found}"
    yield violation.finding(Advice(message, f"write {expected}"))


def _is_wrong_type(child: ValidationError) -> bool:
    return child.validator == "type" and not child.relative_path


def _one_of_fields(violation: Violation, names: list[str]) -> Advice:
    present = [f"'{name}'" for name in names if name in violation.value]
    wanted = _listed((f"'{name}'" for name in names), "or")
    message = f"{_listed(present, 'and')} exclude each other" if present else f"one of {wanted} is required"
    return Advice(message, f"give exactly one of {wanted}")


def _type(violation: Violation) -> Advice:
    types = [violation.wanted] if isinstance(violation.wanted, str) else list(violation.wanted)
    expected = _listed((_NOUNS[name] for name in types), "or")
    message = f"{violation.field}expected {expected}, found {violation.found}"
    return Advice(message, _type_fix(violation, types, expected))


def _type_fix(violation: Violation, types: list[str], expected: str) -> str:
    value = violation.value
    if "string" in types and violation.literal:
        return f"quote it: '{shortened(violation.literal)}'"
    if value is None:
        return f"write {expected}, or remove the field"
    if types == ["boolean"] and isinstance(value, str):
        return f"write {_OLD_BOOLEANS.get(value.lower(), 'true or false')}"
    if isinstance(value, str) and {"integer", "number"} & set(types):
        return "write it without quotes, leading zeros, underscores or units"
    return f"write {expected}"


def _required(violation: Violation) -> Advice:
    # jsonschema reports each missing field on its own, but names it in its message only.
    said = violation.error.message
    missing = next((name for name in violation.wanted if said.startswith(repr(name))), "")
    field = violation.schema.get("properties", {}).get(missing, {})
    about = field.get("description")
    return Advice(
        f"the required field '{missing}' is missing", f"add {missing}: {about}" if about else f"add {missing}"
    )


def _dependent(violation: Violation) -> Advice:
    for name, partners in violation.wanted.items():
        for partner in partners:
            if name in violation.value and partner not in violation.value:
                return Advice(f"'{name}' needs '{partner}' beside it", f"add '{partner}'", (name,))
    return _otherwise(violation)


def _enum(violation: Violation) -> Advice:
    known = [str(value) for value in violation.wanted]
    listed = _listed(known, "or")
    near = _similar(str(violation.value), known)
    message = f"{violation.field}expected {listed}, found {violation.found}"
    return Advice(message, f"did you mean '{near}'?" if near else f"write {listed}")


def _const(violation: Violation) -> Advice:
    wanted = json.dumps(violation.wanted)
    message = f"{violation.field}expected {wanted}, found {violation.found}"
    return Advice(message, violation.schema.get("x-fix", f"write {wanted}"))


def _pattern(violation: Violation) -> Advice:
    form = violation.schema.get("title", "in the expected form")
    message = f"{violation.field}'{shortened(violation.value)}' is not {form}{_foreign(violation)}"
    fix = violation.schema.get("x-fix", f"write {form}")
    slug = _slug(violation.value) if form in _SLUGS else ""
    return Advice(message, f"{fix}, such as '{slug}'" if slug else fix)


def _foreign(violation: Violation) -> str:
    """Name the character that only looks like the one that is due, if nothing else is wrong with a text."""
    text: str = violation.value
    if text.isascii() or not re.search(violation.wanted, re.sub("[^\x00-\x7f]", "a", text)):
        return ""
    character = next(c for c in text if not c.isascii())
    name = unicodedata.name(character, "a character without a name")
    return f", it holds {name} (U+{ord(character):04X})"


def _slug(text: str) -> str:
    """Return the id that is nearest to a text; nothing where letters other than a-z would be lost."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    slug = re.sub("[^a-z0-9]+", "-", plain.lower()).strip("-")
    return slug if plain.isascii() and len(slug) <= _LONGEST_COMPARED else ""


def _refused(violation: Violation) -> Advice:
    return Advice(f"{violation.field}this field is refused", violation.schema.get("x-fix", "remove it"))


def _bound(words: str) -> Teller:
    def tell(violation: Violation) -> Advice:
        wanted = f"a number {words} {json.dumps(violation.wanted)}"
        message = f"{violation.field}expected {wanted}, found {violation.found}"
        return Advice(message, f"write {wanted}")

    return tell


def _length(words: str, one: str, many: str) -> Teller:
    def tell(violation: Violation) -> Advice:
        wanted = f"{words} {violation.wanted} {one if violation.wanted == 1 else many}"
        message = f"{violation.field}expected {wanted}, found {len(violation.value)}"
        return Advice(message, f"give {wanted}")

    return tell


def _otherwise(violation: Violation) -> Advice:
    message = f"{violation.field}{shortened(violation.error.message, 200)}"
    return Advice(message, "see the schema of this kind of file")


_TELLERS: Mapping[str, Teller] = {
    "const": _const,
    "dependentRequired": _dependent,
    "enum": _enum,
    "exclusiveMaximum": _bound("below"),
    "exclusiveMinimum": _bound("above"),
    "maxItems": _length("at most", "entry", "entries"),
    "maxLength": _length("at most", "character", "characters"),
    "maxProperties": _length("at most", "entry", "entries"),
    "maximum": _bound("of at most"),
    "minItems": _length("at least", "entry", "entries"),
    "minLength": _length("at least", "character", "characters"),
    "minProperties": _length("at least", "entry", "entries"),
    "minimum": _bound("of at least"),
    "not": _refused,
    "pattern": _pattern,
    "required": _required,
    "type": _type,
}


def _listed(words: Iterable[str], last: str) -> str:
    listed = list(words)
    return f" {last} ".join((", ".join(listed[:-1]), listed[-1])) if len(listed) > 1 else "".join(listed)
