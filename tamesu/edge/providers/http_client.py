"""The HTTP client of a provider: what leaves is recorded, redirects stay on their origin, replies lose every secret."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Sequence
from functools import cache
from ssl import SSLContext
from typing import Any, cast
from urllib.parse import urljoin

import httpx2

from tamesu.base.model.wire import UNREACHED
from tamesu.core.base_url import split_base_url
from tamesu.core.reply_shape import lacks_content, reply_problem
from tamesu.core.served_model import served_model
from tamesu.core.wire_body import reduce_body
from tamesu.edge.credentials import Access
from tamesu.edge.providers.wire_log import Reply, WireLog

MOST_REDIRECTS = 10
_ID, _HOPS = "tamesu.request", "tamesu.redirects"
_KEPT_BYTES = 4_000_000
_SERVER_TIMES = ("openai-processing-ms", "x-envoy-upstream-service-time", "x-processing-ms")
_REQUEST_IDS = ("x-request-id", "request-id", "x-amzn-requestid", "mistral-correlation-id")
_ANY_ZLIB = 47
_CONNECT_SECONDS = 60.0  # the event loop may be busy for a while, and a connection costs nothing
_BEYOND_TIMEOUT_SECONDS = 30.0
_MOST_CONNECTIONS = 1000


def observed_client(access: Access, wire: WireLog, timeout_seconds: float) -> httpx2.AsyncClient:
    """Return a client for the calls of one attempt; Inspect ends a call first, so that one layer decides."""
    observer = Observer(wire, access.secrets)
    url = access.base_url
    return _Client(
        observer,
        verify=_trusted(),
        timeout=httpx2.Timeout(timeout_seconds + _BEYOND_TIMEOUT_SECONDS, connect=_CONNECT_SECONDS),
        limits=httpx2.Limits(max_connections=_MOST_CONNECTIONS, max_keepalive_connections=_MOST_CONNECTIONS),
        follow_redirects=True,
        max_redirects=MOST_REDIRECTS,
        headers={"accept-encoding": "identity"},
        auth=None if url is None or url.user is None else (url.user, url.password or ""),
        event_hooks={"request": [observer.on_request], "response": [observer.clean_headers, observer.on_response]},
    )


@cache
def _trusted() -> SSLContext:
    """Return the certificates that are trusted; reading them takes longer than all else that a client needs."""
    return httpx2.create_ssl_context()


class _Client(httpx2.AsyncClient):
    """A client that tells requests without a connection from those that may have been worked on."""

    def __init__(self, observer: Observer, **settings: Any) -> None:
        super().__init__(**settings)
        self._observer = observer

    async def send(self, request: httpx2.Request, **how: Any) -> httpx2.Response:
        self._clean_first()
        try:
            return await super().send(request, **how)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout):
            self._observer.unreached(request)
            raise

    def _clean_first(self) -> None:
        """Inspect puts its own hook before ours, and would read headers as they came."""
        hooks, clean = self.event_hooks["response"], self._observer.clean_headers
        if hooks[0] != clean:
            self.event_hooks = {**self.event_hooks, "response": [clean, *(hook for hook in hooks if hook != clean)]}


class Observer:
    """The hooks of one client; `secrets` are replaced in whatever a server says, the longest first."""

    def __init__(self, wire: WireLog, secrets: Sequence[str]) -> None:
        self._wire = wire
        self._secrets = [secret.encode() for secret in secrets]

    async def on_request(self, request: httpx2.Request) -> None:
        """Record a request before it leaves; a hop of a redirect belongs to the request that led to it."""
        if _ID not in request.extensions:
            content = await request.aread()
            request.extensions[_ID] = self._wire.sent("http", request.url.path, reduce_body(content))

    def unreached(self, request: httpx2.Request) -> None:
        if _ID in request.extensions:
            self._wire.unreached(request.extensions[_ID], UNREACHED)

    async def on_response(self, response: httpx2.Response) -> None:
        """Let a redirect go on within its origin, a bounded number of times; watch the body of any other reply."""
        extensions = response.request.extensions
        hops = extensions.get(_HOPS, 0)
        if response.has_redirect_location:
            if hops < MOST_REDIRECTS and _same_origin(str(response.request.url), response.headers["location"]):
                extensions[_HOPS] = hops + 1
                return
            # without its target the redirect is an ordinary reply, which the provider's client reports as an error
            del response.headers["location"]
        response.stream = _Body(self, response, hops)

    async def clean_headers(self, response: httpx2.Response) -> None:
        """Free the headers of secrets; Inspect keeps those that name a request."""
        for name, value in list(response.headers.items()):
            cleaned = self.clean(value.encode()).decode()
            if cleaned != value:
                response.headers[name] = cleaned

    def clean(self, content: bytes) -> bytes:
        for secret in self._secrets:
            content = content.replace(secret, b"[redacted]")
        return content

    def finish(self, response: httpx2.Response, content: bytes, hops: int) -> None:
        headers = response.headers
        ok = 200 <= response.status_code < 300
        path = response.request.url.path
        whole = ok and len(content) < _KEPT_BYTES
        reply = Reply(
            status=response.status_code,
            served=served_model(content) if ok else None,
            server_ms=_number(next((headers[name] for name in _SERVER_TIMES if name in headers), None)),
            request_id=next((headers[name] for name in _REQUEST_IDS if name in headers), None),
            redirects=hops,
            problem=reply_problem(path, content) if whole else None,
            no_content=whole and lacks_content(path, content),
        )
        self._wire.answered(response.request.extensions[_ID], reply)


class _Body(httpx2.AsyncByteStream):
    """The body of a reply as it arrives, line by line, since a secret holds no line break.

    A client may stop after the last event and iterate again for the rest, so what was read so far belongs to the body.
    """

    def __init__(self, observer: Observer, response: httpx2.Response, hops: int) -> None:
        self._observer = observer
        self._response = response
        self._inner = cast(httpx2.AsyncByteStream, response.stream)
        self._hops = hops
        self._kept, self._pending = bytearray(), b""
        self._unpack = None
        if response.headers.get("content-encoding", "") in {"gzip", "deflate"}:
            self._unpack = zlib.decompressobj(_ANY_ZLIB)
            del response.headers["content-encoding"]

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            plain = chunk if self._unpack is None else self._unpack.decompress(chunk)
            lines, joint, self._pending = (self._pending + plain).rpartition(b"\n")
            if joint:
                yield self._keep(lines + joint)
        rest, self._pending = self._pending, b""
        last = self._keep(rest + (b"" if self._unpack is None else self._unpack.flush()))
        self._observer.finish(self._response, bytes(self._kept), self._hops)
        if last:
            yield last

    def _keep(self, content: bytes) -> bytes:
        ready = self._observer.clean(content)
        self._kept += ready[: max(0, _KEPT_BYTES - len(self._kept))]
        return ready

    async def aclose(self) -> None:
        await self._inner.aclose()


def _same_origin(url: str, target: str) -> bool:
    here, there = split_base_url(_without_query(url)), split_base_url(_without_query(urljoin(url, target)))
    return here is not None and there is not None and here.origin == there.origin


def _without_query(url: str) -> str:
    return url.partition("#")[0].partition("?")[0]


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
