"""Base URLs: where the models of a provider answer, split into what may be shown and what may not."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit, urlunsplit

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class BaseUrl:
    """`url` is without user and password, `origin` is scheme, host and port; `user` and `password` are secret."""

    url: str
    origin: str
    user: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)


def split_base_url(text: str) -> BaseUrl | None:
    """Return the parts of a base URL; None for what is no http(s) URL, or has a query or a fragment."""
    try:
        parts = urlsplit(text.strip())
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not parts.hostname or parts.query or parts.fragment:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    place = host if port is None or port == _PORTS[parts.scheme] else f"{host}:{port}"
    return BaseUrl(
        url=urlunsplit((parts.scheme, place, parts.path.rstrip("/"), "", "")),
        origin=f"{parts.scheme}://{place}",
        user=None if parts.username is None else unquote(parts.username),
        password=None if parts.password is None else unquote(parts.password),
    )
