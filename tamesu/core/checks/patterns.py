"""Patterns of an output schema that could take for ever on a text that does not match them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import combinations
from typing import Any

from tamesu.base.canonical import Json

# Python has no other parser of its patterns. What it gives is only looked at here, never what a match is decided by.
_PARSER: Any = import_module("re._parser")
_VALUES = frozenset({"const", "enum", "default", "examples"})  # keywords whose content is no schema
_MANY = 4  # repetitions from which on a text can be split in too many ways
_SAMPLE = frozenset(map(chr, range(0x250)))
_REPEATS = frozenset({"MAX_REPEAT", "MIN_REPEAT"})


def schema_patterns(schema: Json) -> Iterator[str]:
    """Yield the patterns of a schema, those of property names included."""
    ahead: list[Json] = [schema]
    while ahead:
        one = ahead.pop()
        if isinstance(one, Mapping):
            if isinstance(found := one.get("pattern"), str):
                yield found
            if isinstance(named := one.get("patternProperties"), Mapping):
                yield from named
            ahead += [value for name, value in one.items() if name not in _VALUES]
        elif isinstance(one, (list, tuple)):
            ahead += one


def pattern_problem(pattern: str) -> str | None:
    """Return why a pattern cannot be used, None when it can.

    Refused is what does not parse, and what repeats something that can itself match one text in several ways, such as
    `(a+)+` or `(a|a)*`: it may take exponential time. A part that stands in every repetition and nowhere else, such as
    the hyphen of `(-[a-z]+)*`, tells repetitions apart. Found by structure, so some that would end are refused as well.
    """
    try:
        parsed = _PARSER.parse(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"is none that Python reads: {error}"
    if any(_splits_in_many_ways(body) for body in _repeated(parsed)):
        return "repeats what repeats, so that checking a text may take for ever"
    return None


def _repeated(parsed: Any) -> Iterator[Any]:
    """Yield the body of each part that repeats often."""
    for kind, value in parsed:
        if str(kind) in _REPEATS and value[1] >= _MANY:
            yield value[2]
        for part in _parts(str(kind), value):
            yield from _repeated(part)


def _parts(kind: str, value: Any) -> list[Any]:
    """Return the sequences that an element is made of."""
    if kind in _REPEATS or kind == "POSSESSIVE_REPEAT":
        return [value[2]]
    if kind == "SUBPATTERN":
        return [value[3]]
    if kind == "ATOMIC_GROUP":
        return [value]
    if kind == "BRANCH":
        return list(value[1])
    if kind in {"ASSERT", "ASSERT_NOT"}:
        return [value[1]]
    if kind == "GROUPREF_EXISTS":
        return [part for part in value[1:] if part is not None]
    return []


def _splits_in_many_ways(body: Any) -> bool:
    elements = _flat(body)
    if not any(_is_ambiguous(*each) for each in elements):
        return False
    return not (any(_tells_apart(place, elements) for place in range(len(elements))) and _is_settled(elements))


def _is_settled(elements: list[tuple[str, Any]]) -> bool:
    """Return whether one repetition, whose ends are known, can match in one way only."""
    loose = [place for place, each in enumerate(elements) if each[0] == "BRANCH" or _is_ambiguous(*each)]
    if not all(elements[place][0] == "BRANCH" or _is_simple(*elements[place]) for place in loose):
        return False
    if any(elements[place][0] == "BRANCH" and _is_ambiguous(*elements[place]) for place in loose):
        return False
    return len(loose) < 2 or all(_is_apart(place, elements) for place in loose)


def _is_simple(kind: str, value: Any) -> bool:
    """Return whether an element repeats one character."""
    body = _flat(value[2]) if kind in _REPEATS else []
    return len(body) == 1 and _characters(*body[0]) is not None


def _flat(body: Any) -> list[tuple[str, Any]]:
    """Return the elements of a sequence, those of its groups in their place."""
    found: list[tuple[str, Any]] = []
    for kind, value in body:
        found += _flat(value[3]) if str(kind) == "SUBPATTERN" else [(str(kind), value)]
    return found


def _is_ambiguous(kind: str, value: Any) -> bool:
    """Return whether an element can match from one place on in several ways."""
    if kind in _REPEATS:
        return bool(value[0] != value[1]) or any(_is_ambiguous(*each) for each in _flat(value[2]))
    if kind == "BRANCH":
        if _are_told_apart([_flat(branch) for branch in value[1]]):
            return False
        firsts = [_first(branch) for branch in value[1]]
        clash = any(one is None or other is None or one & other for one, other in combinations(firsts, 2))
        return clash or any(_is_ambiguous(*each) for branch in value[1] for each in _flat(branch))
    return kind in {"GROUPREF", "GROUPREF_EXISTS"}


def _are_told_apart(branches: list[list[tuple[str, Any]]]) -> bool:
    """Return whether branches are plain words of which none begins another."""
    if any(kind != "LITERAL" for branch in branches for kind, _ in branch):
        return False
    words = ["".join(chr(value) for _, value in branch) for branch in branches]
    return not any(one.startswith(other) or other.startswith(one) for one, other in combinations(words, 2))


def _first(branch: Any) -> frozenset[str] | None:
    elements = _flat(branch)
    return _characters(*elements[0]) if elements else None


def _tells_apart(place: int, elements: list[tuple[str, Any]]) -> bool:
    """Return whether a part is one character that stands in every repetition, and that no other part matches."""
    return _characters(*elements[place]) is not None and _is_apart(place, elements)


def _is_apart(place: int, elements: list[tuple[str, Any]]) -> bool:
    """Return whether no other part matches a character that this part matches."""
    own = frozenset[str]().union(*_all_characters(*elements[place]))
    others = elements[:place] + elements[place + 1 :]
    return not any(own & found for each in others for found in _all_characters(*each))


def _all_characters(kind: str, value: Any) -> Iterator[frozenset[str]]:
    own = _characters(kind, value)
    if own is not None:
        yield own
        return
    parts = _parts(kind, value)
    if not parts and kind != "AT":
        yield _SAMPLE
    for part in parts:
        for each in _flat(part):
            yield from _all_characters(*each)


def _characters(kind: str, value: Any) -> frozenset[str] | None:
    """Return what an element matches if it matches one character, out of a sample; None for any other element."""
    if kind == "LITERAL":
        return frozenset({chr(value)})
    if kind == "NOT_LITERAL":
        return _SAMPLE - {chr(value)}
    if kind == "ANY":
        return _SAMPLE
    return _of_class(value) if kind == "IN" else None


def _of_class(members: Any) -> frozenset[str]:
    found: set[str] = set()
    negated = False
    for kind, value in members:
        match str(kind):
            case "NEGATE":
                negated = True
            case "LITERAL":
                found.add(chr(value))
            case "RANGE":
                found |= {chr(code) for code in range(value[0], min(value[1], value[0] + len(_SAMPLE)) + 1)}
            case _:
                found |= _of_category(str(value))
    return _SAMPLE - found if negated else frozenset(found)


def _of_category(name: str) -> frozenset[str]:
    letter = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}[name.rpartition("_")[2]]
    wanted = re.compile(letter.upper() if "_NOT_" in name else letter)
    return frozenset(one for one in _SAMPLE if wanted.match(one))
