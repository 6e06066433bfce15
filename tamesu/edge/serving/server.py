"""An HTTP server on the loopback address alone: GET and HEAD of what a function gives, and nothing else.

A page of another site can name 127.0.0.1 by a host of its own (DNS rebinding), so only this server's own names are
answered. Nothing is listed, and no path leads to a file by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

from tamesu.base.errors import UsageError

ADDRESS = "127.0.0.1"
_LONGEST_PATH = 2_000


@dataclass(frozen=True, slots=True)
class Reply:
    """What is sent: bytes of a media type, under a content security policy; or where to go instead."""

    body: bytes
    media_type: str
    policy: str = "default-src 'none'"
    status: int = 200
    location: str | None = None


Answer = Callable[[str], Reply | None]


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that listens; `serve` answers until it is closed."""

    port: int
    serve: Callable[[], None] = field(repr=False)
    close: Callable[[], None] = field(repr=False)

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self.port}/"


def listen(port: int, answer: Answer) -> LocalServer:
    """Return a server on a port of the loopback address, 0 for any that is free.

    `answer` gives the reply to an absolute, decoded path, None where there is nothing. Raises UsageError for a port
    that is not to be had.
    """
    try:
        server = _Server((ADDRESS, port), _handler(answer))
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or "is no port"
        raise UsageError(f"--port {port}: {why.lower()}; choose another, or 0 for any that is free") from None
    return LocalServer(server.server_port, lambda: server.serve_forever(poll_interval=0.1), server.shutdown)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # a port that another process listens on is not shared with it
    allow_reuse_port = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away is no event."""


def _handler(answer: Answer) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        given = staticmethod(answer)

    return Handler


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = 30
    given: Answer

    def do_GET(self) -> None:
        self._reply()

    def do_HEAD(self) -> None:
        self._reply()

    def _refuse(self) -> None:
        # what may follow as a body is not read, so the connection cannot be used again
        self.close_connection = True
        self._send(_error(405, "only GET and HEAD are answered"), {"Allow": "GET, HEAD"})

    do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_CONNECT = do_TRACE = _refuse

    def _reply(self) -> None:
        port = self.server.server_port
        if self.headers.get_all("Host", []) not in ([f"{ADDRESS}:{port}"], [f"localhost:{port}"]):
            self.close_connection = True
            self._send(_error(421, f"this is {ADDRESS}:{port}, and answers to no other name"))
            return
        self._send(self.given(_decoded(self.path)) or _error(404, "there is no such page"))

    def _send(self, reply: Reply, more: dict[str, str] | None = None) -> None:
        self.send_response(reply.status)
        headers = {
            "Content-Type": reply.media_type,
            "Content-Length": str(len(reply.body)),
            "Content-Security-Policy": reply.policy,
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cross-Origin-Opener-Policy": "same-origin",
            **({"Location": reply.location} if reply.location else {}),
            **(more or {}),
        }
        for name, value in headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    def version_string(self) -> str:
        return "tamesu"

    def log_message(self, format: str, *args: Any) -> None:
        """Requests of the user's own browser are not told."""


def _decoded(target: str) -> str:
    """Return the path of a request, decoded once; empty for one that is no path."""
    if not target.startswith("/") or target.startswith("//") or len(target) > _LONGEST_PATH:
        return ""
    try:
        return unquote(urlsplit(target).path, errors="strict")
    except (UnicodeDecodeError, ValueError):
        return ""


def _error(status: int, line: str) -> Reply:
    return Reply(f"{line}\n".encode(), "text/plain; charset=utf-8", status=status)
