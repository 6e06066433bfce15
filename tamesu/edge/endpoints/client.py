"""Asking an endpoint: redirects on its own origin only and a bounded number of times, and every wait has an end."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from ssl import SSLContext
from typing import Literal

import httpx

from tamesu.edge.endpoints.access import HttpAccess

MOST_REDIRECTS = 10
_MOST_BYTES = 8_000_000
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; `redirects` counts the hops that led to it."""

    status: int
    content: bytes
    redirects: int = 0


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Why nothing usable came back, in one line without header or query; `silent` may be otherwise a moment later."""

    kind: Literal["silent", "refused-redirect", "broken"]
    message: str


@cache
def _trusted(from_environment: bool) -> SSLContext:
    """Return the certificates that are trusted, read once; that takes longer than all else that a client needs."""
    return httpx.create_ssl_context(trust_env=from_environment)


class EndpointClient:
    """Asks one endpoint as a context manager; timeouts are in seconds, `total` bounds one request with its redirects.

    Nothing of it goes through a proxy of the environment when the endpoint is on this machine.
    """

    def __init__(self, access: HttpAccess, timeout_seconds: float = 15.0, total_seconds: float = 60.0) -> None:
        self._total = total_seconds
        self._secrets = [secret.encode() for secret in access.secrets]
        self._base = httpx.URL((access.base_url or "").rstrip("/"))
        own = is_loopback(self._base.host)
        self._client = httpx.Client(
            verify=_trusted(not own),
            headers={"accept": "application/json, text/plain", "user-agent": "tamesu", **access.headers},
            timeout=timeout_seconds,
            follow_redirects=False,
            trust_env=not own,
        )

    def __enter__(self) -> EndpointClient:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    @property
    def base_url(self) -> str:
        return str(self._base)

    def get(self, url: str) -> Answer | NoAnswer:
        """Return the answer to a GET; what goes wrong is data. A URL on another origin than the base is not asked."""
        deadline = time.monotonic() + self._total
        here = httpx.URL(url)
        for hops in range(MOST_REDIRECTS + 1):
            if _origin(here) != _origin(self._base):
                return NoAnswer(
                    "refused-redirect", f"redirects to another origin, {_origin(here)}, which gets no request"
                )
            answer = self._once(here, hops, deadline)
            if not isinstance(answer, _Redirect):
                return answer
            try:
                here = here.join(answer.location)
            except httpx.InvalidURL:
                return NoAnswer("broken", "redirects to what is no URL")
        return NoAnswer("refused-redirect", f"redirects more than {MOST_REDIRECTS} times")

    def _clean(self, content: bytes) -> bytes:
        """An endpoint may quote the key that it was sent."""
        for secret in self._secrets:
            content = content.replace(secret, b"[redacted]")
        return content

    def _once(self, url: httpx.URL, hops: int, deadline: float) -> Answer | NoAnswer | _Redirect:
        try:
            # a GET stays one whatever the redirect, which is what 303 asks for
            with self._client.stream("GET", url) as response:
                if response.status_code in _REDIRECTS and "location" in response.headers:
                    return _Redirect(response.headers["location"])
                content = bytearray()
                for chunk in response.iter_bytes():
                    content += chunk
                    if len(content) > _MOST_BYTES:
                        return NoAnswer("broken", "answers with more than 8 MB")
                    if time.monotonic() > deadline:
                        return NoAnswer("silent", f"did not end its answer within {self._total:.0f} s")
                return Answer(response.status_code, self._clean(bytes(content)), hops)
        except httpx.TimeoutException:
            return NoAnswer("silent", "does not answer in time")
        except httpx.ConnectError:
            return NoAnswer("silent", "takes no connection")
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            # the text of such an error may quote what was sent
            return NoAnswer("silent", f"breaks off ({type(error).__name__})")


@dataclass(frozen=True, slots=True)
class _Redirect:
    location: str


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine by its name or number."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _origin(url: httpx.URL) -> str:
    port = url.port or {"http": 80, "https": 443}.get(url.scheme)
    return f"{url.scheme}://{url.host}:{port}"
