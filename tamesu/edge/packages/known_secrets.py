"""The values that no package may hold: credentials of this process, and what a project and its owner keep in `.env`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote

from tamesu.core.packages.leaks import Needle, Search, needle
from tamesu.core.routes import ROUTES
from tamesu.edge.credentials import kept_variables, read_environment
from tamesu.edge.documents.secrets import issued_shapes

_SHORTEST = 8  # characters of a value; shorter ones stand in many a file by chance
_SHORTEST_UNNAMED = 16  # of a value whose name says nothing
_HOLDS_SECRET = re.compile(
    r"(?i)(^|_)(key|apikey)$|token|secret|passw|credential|(^|_)(pass|passphrase|auth|cookie|dsn)($|_)"
)
_PLACE = re.compile(r"[~.]{0,2}/\S*|[\w+.-]+:.*[/=].*")  # a path, a URL, the address of a socket


def search_of(root: Path) -> Search:
    """Return the search of a project: its environment, and its `.env` files even where the process says otherwise."""
    return search_for(read_environment(root).values, kept_variables(root))


def search_for(variables: Mapping[str, str], kept: Iterable[tuple[str, str]] = ()) -> Search:
    """Return the search for shapes of issued keys and for the values of credentials.

    `variables` are told by their names; of those that are `kept` in files for secrets, whatever looks like one counts.
    """
    found = [one for name, value in sorted(variables.items()) for one in _needles(name, value)]
    for name, value in sorted(set(kept)):
        found += _needles(name, value) or ([needle(name, value.strip())] if _looks_random(value.strip()) else [])
    return Search(list(dict.fromkeys(found)), issued_shapes())


def _needles(name: str, value: str) -> list[Needle]:
    value = value.strip()
    found = [needle(name, password) for password in _passwords(value)]
    if _names_secret(name) and len(value) >= _SHORTEST and not (_PLACE.fullmatch(value) and _weak_name(name)):
        found.insert(0, needle(name, value))
    return found


def _names_secret(name: str) -> bool:
    return name in {one for route in ROUTES.values() for one in route.credentials} or bool(_HOLDS_SECRET.search(name))


def _weak_name(name: str) -> bool:
    """Return whether a name is used for places as well, as SSH_AUTH_SOCK is."""
    return re.search(r"(?i)token|secret|passw|credential|key$", name) is None


def _looks_random(value: str) -> bool:
    """Return whether a value without a telling name may be a secret: long, letters and digits in one, and no place."""
    mixed = re.search(r"[A-Za-z]", value) and re.search(r"[0-9]", value) and not re.search(r"\s", value)
    return len(value) >= _SHORTEST_UNNAMED and bool(mixed) and not _PLACE.fullmatch(value)


def _passwords(value: str) -> Iterator[str]:
    """Yield the password of a URL as it is spelt and as it is meant."""
    _, there, rest = value.partition("://")
    user, at, _ = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")
    password = user.partition(":")[2]
    if there and at:
        yield from (one for one in dict.fromkeys((password, unquote(password))) if len(one) >= _SHORTEST)
