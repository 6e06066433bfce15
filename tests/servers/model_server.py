"""A server of models on the loopback address: answers, counts, misbehaves on demand, remembers what it was asked."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tamesu.core.probe import PROBE_PROMPT
from tests.servers.replies import Asked, Reply, encode

Answer = Callable[[Asked], Reply]
_LONGEST_WAIT = 120.0  # seconds after which even a silent answer ends, so that no thread outlives a test run
_GENERATE = re.compile(r"/models/([^/:]+):(?:stream)?[gG]enerateContent$|/model/([^/]+)/converse$")


@dataclass(frozen=True)
class Received:
    """One request as it arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any] | None


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is no fault of the server."""


class ModelServer:
    """Serves as a context manager; `answer` decides replies, `models` is what it lists, `metrics` what vLLM would say.

    `probe` answers the tiny requests of a preflight, which are kept apart in `probes`. `other` is asked first for
    everything and returns status, headers and body, or None; `instead` is asked for answers alone, probes left out.
    """

    def __init__(
        self,
        answer: Answer | Reply = Reply(),  # noqa: B008
        probe: Answer | Reply = Reply(),  # noqa: B008
        models: tuple[str, ...] = (),
        metrics: str | None = None,
        other: Callable[[Received], tuple[int, Mapping[str, str], bytes] | None] | None = None,
        instead: Callable[[Received], tuple[int, Mapping[str, str], bytes] | None] | None = None,
    ) -> None:
        self._answer = _answering(answer)
        self._probe = _answering(probe)
        self.models = models
        self.metrics = metrics
        self._other = other
        self._instead = instead
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self.requests: list[Received] = []
        self.asked: list[Asked] = []
        self.probes: list[Asked] = []
        self.in_flight = 0
        self.peak_in_flight = 0
        self._tries: Counter[str] = Counter()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                owner._serve(self)

            def do_POST(self) -> None:
                owner._serve(self)

            def log_message(self, format: str, *args: object) -> None:
                """Nothing is printed."""

        self._http = _Http(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._http.shutdown()
        self._http.server_close()

    @property
    def url(self) -> str:
        """The origin; OpenAI-like clients want `/v1` behind it."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def calls(self) -> list[Received]:
        """What asked for an answer, the probes of a preflight left out."""
        return [one for one in self.requests if one.method == "POST" and _prompt(one.body or {}) != PROBE_PROMPT]

    def prompts(self) -> list[str]:
        """Return the prompts that were asked, in order of arrival."""
        return [asked.prompt for asked in self.asked]

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("content-length") or 0)
        content = handler.rfile.read(length)
        if len(content) < length:  # the client died between head and body: nothing was asked
            handler.close_connection = True
            return
        try:
            body = json.loads(content) if content else None
        except ValueError:
            body = None
        path = handler.path.partition("?")[0]
        received = Received(handler.command, path, {k.lower(): v for k, v in handler.headers.items()}, body)
        with self._lock:
            self.requests.append(received)
        special = None if self._other is None else self._other(received)
        is_call = handler.command == "POST" and _prompt(received.body or {}) != PROBE_PROMPT
        if special is None and self._instead is not None and is_call:
            special = self._instead(received)
        if special is not None:
            _send(handler, *special)
        elif handler.command == "GET":
            self._listing(handler, path)
        else:
            self._generate(handler, received)

    def _listing(self, handler: BaseHTTPRequestHandler, path: str) -> None:
        if path == "/metrics" and self.metrics is not None:
            _send(handler, 200, {"content-type": "text/plain"}, self.metrics.encode())
        elif path.endswith("/models") and self.models:
            data = [{"id": name, "object": "model", "type": "model", "created": 1} for name in self.models]
            gemini = [{"name": f"models/{name}"} for name in self.models]
            listing = {"object": "list", "data": data, "models": gemini, "has_more": False}
            _send(handler, 200, {"content-type": "application/json"}, json.dumps(listing).encode())
        else:
            _send(handler, 404, {"content-type": "application/json"}, b'{"error": {"message": "no such path"}}')

    def _generate(self, handler: BaseHTTPRequestHandler, received: Received) -> None:
        body = received.body or {}
        prompt = _prompt(body)
        in_path = _GENERATE.search(received.path)
        model = str(body.get("model") or (in_path[1] or in_path[2] if in_path else ""))
        is_probe = prompt == PROBE_PROMPT
        with self._lock:
            self._tries[prompt] += 1
            place = self.probes if is_probe else self.asked
            asked = Asked(len(place) + 1, self._tries[prompt], received.path, body, prompt, model, received.headers)
            place.append(asked)
            self.in_flight += 1
            self.peak_in_flight = max(self.peak_in_flight, self.in_flight)
        try:
            reply = self._probe(asked) if is_probe else self._answer(asked)
            if reply.silent:
                self._ended.wait(_LONGEST_WAIT)
                return
            if reply.seconds:
                self._ended.wait(reply.seconds)
            content, media = encode(asked, reply)
            _send(handler, reply.status, {"content-type": media, **reply.headers}, content)
        finally:
            with self._lock:
                self.in_flight -= 1


def _answering(answer: Answer | Reply) -> Answer:
    return (lambda _: answer) if isinstance(answer, Reply) else answer


def _send(handler: BaseHTTPRequestHandler, status: int, headers: Mapping[str, str], body: bytes) -> None:
    try:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)
    except (BrokenPipeError, ConnectionResetError):
        handler.close_connection = True


def _prompt(body: Mapping[str, Any]) -> str:
    """Return the last text that a user wrote, in any of the protocols."""
    for key in ("messages", "input", "contents"):
        turns = body.get(key)
        if isinstance(turns, str):
            return turns
        users = [turn for turn in turns or [] if turn.get("role") == "user"]
        if users:
            content = users[-1].get("content", users[-1].get("parts"))
            return content if isinstance(content, str) else "".join(str(p.get("text", "")) for p in content)
    return ""
