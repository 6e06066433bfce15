"""What to tell about each keyword of a schema that a document violates."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import TypeAlias

from tamesu.edge.documents.decoding import shortened
from tamesu.edge.documents.unknown_fields import LONGEST_COMPARED, similar
from tamesu.edge.documents.violation import Advice, Violation, listed

Teller: TypeAlias = Callable[[Violation], Advice]

_NOUNS = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "nothing",
    "number": "a number",
    "object": "a mapping",
    "string": "text",
}
_OLD_BOOLEANS = {
    **dict.fromkeys(("y", "yes", "on"), "true"),
    **dict.fromkeys(("n", "no", "off"), "false"),
}
_SLUGS = frozenset({"a kebab-case id", "a code"})


def advice(violation: Violation) -> Advice:
    """Return what to tell about a violation of one keyword, unions and unknown fields excepted."""
    return _TELLERS.get(violation.keyword, _otherwise)(violation)


def _type(violation: Violation) -> Advice:
    types = [violation.wanted] if isinstance(violation.wanted, str) else list(violation.wanted)
    expected = listed((_NOUNS[name] for name in types), "or")
    message = f"{violation.field}expected {expected}, found {violation.found}"
    return Advice(message, _type_fix(violation, types, expected))


def _type_fix(violation: Violation, types: list[str], expected: str) -> str:
    value = violation.value
    if "string" in types and violation.literal:
        return f"quote it: '{shortened(violation.literal)}'"
    if value is None and not violation.path:
        return "the file is empty: write its fields"
    if value is None:
        return f"write {expected}, or remove the field"
    if types == ["boolean"] and isinstance(value, str):
        return f"write {_OLD_BOOLEANS.get(value.lower(), 'true or false')}"
    if isinstance(value, str) and {"integer", "number"} & set(types):
        return f"write it without quotes, leading zeros, underscores or units{_meaning(violation)}"
    if types == ["array"] and not isinstance(value, dict):
        return f"write a list: [{shortened(violation.literal or str(value))}]"
    return f"write {expected}"


def _meaning(violation: Violation) -> str:
    about = str(violation.schema.get("description", "")).removesuffix(".")
    return f" ({about})" if about else ""


def _required(violation: Violation) -> Advice:
    # jsonschema reports each missing field on its own, but names it in its message only.
    said = violation.error.message
    missing = next((name for name in violation.wanted if said.startswith(repr(name))), "")
    field = violation.schema.get("properties", {}).get(missing, {})
    about = listed(field.get("enum", ()), "or") or field.get("description") or violation.schema.get("x-fix")
    fix = f"add {missing}: {about}" if about else f"add {missing}"
    return Advice(f"the required field '{missing}' is missing", fix)


def _dependent(violation: Violation) -> Advice:
    for name, partners in violation.wanted.items():
        for partner in partners:
            if name in violation.value and partner not in violation.value:
                return Advice(f"'{name}' needs '{partner}' beside it", f"add '{partner}'", (name,))
    return _otherwise(violation)


def _enum(violation: Violation) -> Advice:
    known = [str(value) for value in violation.wanted]
    wanted = listed(known, "or")
    near = similar(str(violation.value), known)
    message = f"{violation.field}expected {wanted}, found {violation.found}"
    return Advice(message, f"did you mean '{near}'?" if near else f"write {wanted}")


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


def _format(violation: Violation) -> Advice:
    form = violation.schema.get("title", "in the expected form")
    message = f"{violation.field}'{shortened(violation.value)}' is in no calendar"
    return Advice(message, f"write {form}")


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
    return slug if plain.isascii() and len(slug) <= LONGEST_COMPARED else ""


def _refused(violation: Violation) -> Advice:
    return Advice(f"{violation.field}this field is refused", violation.schema.get("x-fix", "remove it"))


def _bound(words: str) -> Teller:
    def tell(violation: Violation) -> Advice:
        wanted = f"a number {words} {json.dumps(violation.wanted)}"
        message = f"{violation.field}expected {wanted}, found {violation.found}"
        return Advice(message, f"write {wanted}{_meaning(violation)}")

    return tell


def _length(words: str, one: str, many: str, fix: str) -> Teller:
    def tell(violation: Violation) -> Advice:
        wanted = f"{words} {violation.wanted} {one if violation.wanted == 1 else many}"
        message = f"{violation.field}expected {wanted}, found {len(violation.value)}"
        return Advice(message, fix)

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
    "format": _format,
    "maxItems": _length("at most", "entry", "entries", "remove some"),
    "maxLength": _length("at most", "character", "characters", "shorten it"),
    "maxProperties": _length("at most", "entry", "entries", "write each as an entry of its own"),
    "maximum": _bound("of at most"),
    "minItems": _length("at least", "entry", "entries", "add an entry"),
    "minLength": _length("at least", "character", "characters", "write it out, or remove the field"),
    "minProperties": _length("at least", "entry", "entries", "add an entry"),
    "minimum": _bound("of at least"),
    "not": _refused,
    "pattern": _pattern,
    "required": _required,
    "type": _type,
}
