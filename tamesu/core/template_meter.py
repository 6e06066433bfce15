"""What one rendering of a template may do at most, counted so that every machine stops it at the same place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from jinja2.exceptions import SecurityError
from jinja2.utils import Namespace

MOST_STEPS = 1_000_000  # iterations, calls, and elements that filters and comparisons look at
MOST_MADE = 128 * 1024 * 1024  # characters, and eighths of elements, of all values that a rendering makes
LARGEST = 8 * 1024 * 1024  # characters of one text
LARGEST_LIST = 1_000_000  # elements of one list, those of its elements included
_PER_STEP = 64  # characters that are looked through in one step
_ELEMENTS_PER_STEP = 8
_PER_ELEMENT = 8
_LEAVES = frozenset({str, int, float, bool, type(None)})
_GROUPS = (list, tuple, dict, set, frozenset, Namespace)


@dataclass(slots=True)
class Meter:
    """How many steps one rendering took and how much it made, in characters."""

    steps: int = 0
    made: int = 0

    def step(self, steps: int = 1) -> None:
        """Count steps. Raises SecurityError above the bound."""
        self.steps += steps
        if self.steps > MOST_STEPS:
            raise SecurityError(f"it takes more than {MOST_STEPS} steps")

    def iterate(self, characters: int) -> None:
        """Count one step that writes so many characters."""
        self.steps += 1
        self.made += characters
        if self.steps > MOST_STEPS or self.made > MOST_MADE:
            self.step(0)
            self.make(0)

    def make(self, characters: int) -> None:
        """Count what is made, before it is made. Raises SecurityError for one that is too large, or too many."""
        if characters > LARGEST:
            raise SecurityError(f"it makes a text or a list of more than {LARGEST} characters")
        self.made += characters
        if self.made > MOST_MADE:
            raise SecurityError(f"it makes texts and lists of more than {MOST_MADE} characters")


_METER: ContextVar[Meter] = ContextVar("meter")


meter = _METER.get  # the meter of the rendering that goes on


class metered:
    """Counts what is rendered inside on a meter of its own."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = _METER.set(Meter())

    def __exit__(self, *_: object) -> None:
        _METER.reset(self._before)


def look_through(value: Any) -> None:
    """Count the steps of looking at every character or element of a value."""
    kind = type(value)
    if kind is str:
        if len(value) > _PER_STEP:
            meter().step(len(value) // _PER_STEP)
    elif kind in (int, float, bool):
        return
    elif isinstance(value, str):
        meter().step(len(value) // _PER_STEP)
    elif isinstance(value, (list, tuple, dict, set, frozenset, range)):
        meter().step(extent(value) // _ELEMENTS_PER_STEP)


def counted(values: Iterator[Any]) -> Iterator[Any]:
    """Yield the values of an iterator, each of which is a step."""
    step = meter().step
    for value in values:
        step()
        yield value


def extent(value: Any) -> int:
    """Return how many elements a value holds, those of its elements included. Raises SecurityError for too many."""
    if isinstance(value, range):
        return len(value)
    found, ahead, step = 0, [value], meter().step
    while ahead:
        parts = _parts(ahead.pop())
        found += len(parts)
        step()
        if found > LARGEST_LIST:
            raise SecurityError(f"it makes a list of more than {LARGEST_LIST} elements")
        ahead += [part for part in parts if type(part) not in _LEAVES]
    return found


def printed(value: Any) -> int:
    """Return about how many characters a value takes as a text, never less than a sixth of it."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, int):
        return value.bit_length() // 3 + 1
    found, ahead, elements = 0, [value], 0
    while ahead:
        one = ahead.pop()
        if isinstance(one, str):
            found += len(one) + 2
            continue
        parts = _parts(one)
        found += 8
        elements += len(parts)
        if found > LARGEST or elements > LARGEST_LIST:
            raise SecurityError(f"it makes a text of more than {LARGEST} characters")
        ahead += parts
    return found


def keep(value: Any) -> Any:
    """Return a value that was made, counted."""
    if isinstance(value, str):
        meter().make(len(value))
    elif isinstance(value, _GROUPS):
        size = extent(value)
        meter().step(size // _ELEMENTS_PER_STEP)
        meter().make(size * _PER_ELEMENT)
    elif isinstance(value, int):
        meter().make(value.bit_length() // 8)
    return value


def _parts(value: Any) -> list[Any]:
    if isinstance(value, Namespace):
        value = object.__getattribute__(value, "_Namespace__attrs")
    if isinstance(value, Mapping):
        return [*value, *value.values()]
    return list(value) if isinstance(value, _GROUPS) else []
