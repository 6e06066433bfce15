"""Which names a reviewer must not see, and where a text says one of them all the same.

What a model wrote is shown as it is, so nothing is cut out; whoever makes the pack is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tamesu.base.model.plan import RunSpec

_SHORTEST_BRAND = 4


@dataclass(frozen=True, slots=True)
class Secret:
    """A name that gives a run away, and what it is the name of."""

    name: str
    what: str


def secret_names(specs: Iterable[RunSpec]) -> tuple[Secret, ...]:
    """Return the names of runs, models, their makers, arms and providers; of a model its parts as well."""
    found: dict[str, str] = {}
    for spec in specs:
        found.setdefault(spec.run_id.lower(), "a run")
        found.setdefault(spec.provider.lower(), "a provider")
        found.setdefault(spec.arm.lower(), "an arm")
        for name in _model_names(spec.model):
            found.setdefault(name.lower(), "a model")
    return tuple(Secret(name, what) for name, what in sorted(found.items()))


def _model_names(model: str) -> Iterable[str]:
    """A model by its full name, by each part of a path, and by the word that it begins with."""
    yield model
    for part in model.split("/"):
        yield part
        brand = re.match(r"[^\W\d_]*", part)
        if brand is not None and len(brand.group()) >= _SHORTEST_BRAND:
            yield brand.group()


def names_said(text: str, secrets: Iterable[Secret]) -> tuple[Secret, ...]:
    """Return the names that a text says as words of their own, whatever their case."""
    low = text.lower()
    return tuple(one for one in secrets if one.name in low and _as_word(one.name).search(low))


def _as_word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])")


def name_warnings(texts: Mapping[tuple[str, str], str], secrets: tuple[Secret, ...]) -> tuple[str, ...]:
    """Return one line per name and kind of place that says it; `texts` maps entry and kind of place to a text."""
    entries: dict[tuple[str, Secret], list[str]] = {}
    for (entry, place), text in texts.items():
        for secret in names_said(text, secrets):
            entries.setdefault((place, secret), []).append(entry)
    return tuple(
        f"{_listed(found)}: {place} says '{secret.name}', the name of {secret.what}; its reviewer will see that"
        for (place, secret), found in entries.items()
    )


def _listed(entries: list[str]) -> str:
    first = ", ".join(entries[:3])
    return f"{first} and {len(entries) - 3} more" if len(entries) > 3 else first
