"""Fields that a kind of document does not know: what was probably meant, or where it belongs."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from tamesu.edge.documents.decoding import shortened
from tamesu.edge.documents.violation import Advice, Violation, listed

LONGEST_COMPARED = 100
_MOST_UNKNOWN = 200


def unknown_fields(violation: Violation) -> Iterator[Advice]:
    """Yield what to tell about each unknown field of a mapping, at most 200."""
    properties: Mapping[str, Any] = violation.schema.get("properties", {})
    known = [name for name, schema in properties.items() if "not" not in schema]
    unknown = (name for name in violation.value if name not in properties)
    for name in itertools.islice(unknown, _MOST_UNKNOWN):
        fix = _nearest(name, known, violation.shape.fields)
        yield Advice(f"unknown field '{shortened(name)}'", fix, (name,))


def _nearest(name: str, known: list[str], everywhere: tuple[str, ...]) -> str:
    near = similar(name, known, 0.75)
    if near:
        return f"did you mean '{near}'?"
    within = [candidate for candidate in known if name in candidate.split("_")]
    if len(within) == 1:
        return f"did you mean '{within[0]}'?"
    last_names = [field.rpartition(".")[2] for field in everywhere]
    meant = similar(name, last_names, 0.85)
    elsewhere = [field for field, last in zip(everywhere, last_names, strict=True) if last == meant]
    if elsewhere:
        return f"it belongs at {' or '.join(elsewhere[:3])}"
    candidates = [f"'{candidate}'" for candidate in _most_similar(name, known, 0.6)]
    if candidates:
        return f"did you mean {listed(candidates, 'or')}?"
    hint = "; a setting of the model belongs below 'parameters'" if "parameters" in known else ""
    return f"known here: {', '.join(sorted(known))}{hint}"


def similar(name: str, known: list[str], likeness: float = 0.6) -> str:
    """Return the name that is most like another, or nothing; likeness from 0 to 1, as difflib has it."""
    return next(iter(_most_similar(name, known, likeness)), "")


def _most_similar(name: str, known: list[str], likeness: float) -> list[str]:
    """Return up to two names that are most like another."""
    return difflib.get_close_matches(name, known, n=2, cutoff=likeness) if len(name) <= LONGEST_COMPARED else []
