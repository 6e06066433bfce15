"""Credentials and base URLs, read by name: from this process, the folder of --config-dir, or the project's .env.

Their values go to the provider's client alone; they are never put into the environment of an execution, and whatever
a server says is freed of them before it is kept.
"""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from tamesu.base.errors import UsageError
from tamesu.core.base_url import BaseUrl, split_base_url
from tamesu.core.routes import Protocol, Route, find_route
from tamesu.core.situation import MissingCredential

CONFIG_DIR = "TAMESU_CONFIG_DIR"
_AWS = re.compile(r"AWS_[A-Z_]+")
_UNSENDABLE = re.compile(r"[^\x21-\x7e]")  # what no header can carry, and what a library would quote in its error
_SHORTEST_SECRET = 6
_NO_KEY = "unset"  # a client wants some key even where the endpoint asks for none


@dataclass(frozen=True, slots=True)
class Environment:
    """The variables that routes are read from; the values are not shown."""

    values: Mapping[str, str] = field(repr=False)

    def first(self, names: Iterable[str]) -> tuple[str, str] | None:
        """Return the first of these names that is set, with its value."""
        return next(((name, self.values[name]) for name in names if self.values.get(name)), None)


@dataclass(frozen=True, slots=True)
class Access:
    """How one provider is reached: its base URL (None: the client's own), and what opens it, which is not shown.

    `variables` are those that its client reads from the environment, for the one that takes no key as argument.
    """

    provider: str
    base_url: BaseUrl | None
    key: str | None = field(default=None, repr=False)
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def origin(self) -> str | None:
        return None if self.base_url is None else self.base_url.origin

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that may appear in no file, the longest first."""
        own = () if self.base_url is None else _forms(self.base_url)
        found = {self.key, *own, *(value for name, value in self.variables.items() if _is_secret(name))}
        return tuple(sorted((s for s in found if s and len(s) >= _SHORTEST_SECRET), key=len, reverse=True))


def _forms(url: BaseUrl) -> tuple[str, ...]:
    """Return a base URL's password in every form in which an endpoint may say it: plain, quoted, as a header."""
    if url.password is None:
        return ()
    header = b64encode(f"{url.user or ''}:{url.password}".encode()).decode()
    return (url.password, quote(url.password, safe=""), header)


def _is_secret(name: str) -> bool:
    return name.endswith(("_KEY", "_TOKEN")) or "_TOKEN_" in name


def read_environment(project_root: Path) -> Environment:
    """Return the variables of this process before those of the config folder before those of the project's .env."""
    values = dict(kept_variables(project_root))
    return Environment(values | {name: value for name, value in os.environ.items() if value})


def kept_variables(project_root: Path) -> tuple[tuple[str, str], ...]:
    """Return what the project's .env holds, then what that of the config folder does, whatever this process says."""
    own = Path(os.environ[CONFIG_DIR]) / ".env" if os.environ.get(CONFIG_DIR) else None
    files = (project_root / ".env", *(() if own is None else (own,)))
    return tuple(pair for file in files for pair in _file_values(file).items())


def missing_credentials(
    providers: Iterable[str], environment: Environment, placed: Collection[str] = ()
) -> tuple[MissingCredential, ...]:
    """Return the providers of which no credential is set, or no base URL where one is needed.

    An empty value counts as not set. `placed` are the providers whose base URL the project states.
    """
    routes = ((provider, find_route(provider)) for provider in sorted(set(providers)))
    needed = (
        (provider, names)
        for provider, route in routes
        if route is not None
        for names in _needed(route, route.provider in placed)
    )
    return tuple(MissingCredential(provider, names) for provider, names in needed if environment.first(names) is None)


def _needed(route: Route, placed: bool) -> Iterator[tuple[str, ...]]:
    """Yield the groups of variables of which one each must be set."""
    if route.credentials:
        yield route.credentials
    if route.needs_base_url and not placed and route.base_url_variable is not None:
        yield (route.base_url_variable,)


def base_url(route: Route, environment: Environment, configured: str | None = None) -> BaseUrl | None:
    """Return the base URL that the environment sets, else the configured one, else None: the route's own.

    Raises UsageError for a value that is no http(s) URL; the value is not shown, as it may hold a password.
    """
    if route.base_url_variable is None:
        return None
    found = environment.first([route.base_url_variable])
    text = configured if found is None else found[1]
    if text is None:
        return None
    where = "config/config.yaml" if found is None else found[0]
    split = split_base_url(text)
    if split is None:
        raise UsageError(f"{where}: holds no http(s) URL without query for provider {route.provider}; correct it")
    return split


def read_access(route: Route, environment: Environment, configured: str | None = None) -> Access:
    """Return how a provider is reached.

    Raises UsageError for a credential that no header can carry, which a client would quote in its error.
    """
    found = environment.first(route.credentials if route.key is None else (route.key,))
    key = None if found is None else found[1].strip()
    if found is not None and key is not None and _UNSENDABLE.search(key):
        raise UsageError(f"{found[0]}: holds a blank, a line break or a letter that no header can carry; set it again")
    where = base_url(route, environment, configured)
    if route.protocol is Protocol.CONVERSE:
        named = {name: value for name, value in environment.values.items() if _AWS.fullmatch(name)}
        return Access(route.provider, where, None, {**named, "AWS_MAX_ATTEMPTS": "1"})  # retries live in one layer
    return Access(route.provider, where, key or _NO_KEY)


def _file_values(file: Path) -> dict[str, str]:
    if not file.is_file():
        return {}
    from dotenv import dotenv_values

    try:
        # without interpolation, so that no other variable is looked up
        values = dotenv_values(file, interpolate=False)
    except (OSError, UnicodeDecodeError):
        return {}
    return {name: value for name, value in values.items() if value}


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """Return the text with every secret replaced."""
    for secret in secrets:
        text = text.replace(secret, "[redacted]")
    return text
