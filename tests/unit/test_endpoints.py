"""Asking endpoints: redirects, listings, load. Servers are on the loopback address; no test waits."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping

import pytest

from tamesu.base.model.endpoint import EngineLoad
from tamesu.base.model.load import LoadSummary
from tamesu.core.routes import Protocol, find_route
from tamesu.edge.credentials import Environment, read_access
from tamesu.edge.endpoints.access import HttpAccess, http_access
from tamesu.edge.endpoints.client import MOST_REDIRECTS, Answer, EndpointClient, NoAnswer, is_loopback
from tamesu.edge.endpoints.engine import parse_load, read_load, server_version, wait_idle
from tamesu.edge.endpoints.listing import list_models
from tamesu.edge.endpoints.load_sampler import LoadSampler
from tamesu.edge.endpoints.patience import Patience
from tests.servers import ModelServer
from tests.servers.model_server import Received

Special = tuple[int, Mapping[str, str], bytes]
BUSY = 'vllm:num_requests_running{model_name="a"} 2.0\nvllm:num_requests_waiting{model_name="a"} 1.0\n'
IDLE = BUSY.replace("2.0", "0.0").replace("1.0", "0.0")


class Clock:
    """Time that passes only when it is waited for."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    def patience(self, seconds: float) -> Patience:
        return Patience(seconds, lambda: self.now, self.wait)


@pytest.fixture
def key() -> str:
    return f"canary-{secrets.token_hex(16)}"


def client(url: str, key: str = "none") -> EndpointClient:
    return EndpointClient(HttpAccess(url, {"authorization": f"Bearer {key}"}), timeout_seconds=5.0)


def redirecting(status: int, target: Callable[[Received], str | None]) -> Callable[[Received], Special | None]:
    def other(received: Received) -> Special | None:
        location = target(received)
        return None if location is None else (status, {"location": location}, b"")

    return other


def sequence(*specials: Special) -> Callable[[Received], Special | None]:
    """Answer with each in turn, then as the server would."""
    left: Iterator[Special] = iter(specials)
    return lambda _: next(left, None)


class TestRedirects:
    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    def test_on_the_same_origin_is_followed(self, status: int, key: str) -> None:
        other = redirecting(status, lambda r: "/v1/models" if r.path == "/models" else None)
        with ModelServer(models=("m",), other=other) as server, client(server.url, key) as asking:
            answer = asking.get(f"{server.url}/models")
            assert isinstance(answer, Answer)
            assert (answer.status, answer.redirects) == (200, 1)
            assert [(r.method, r.path) for r in server.requests] == [("GET", "/models"), ("GET", "/v1/models")]
            assert {r.headers["authorization"] for r in server.requests} == {f"Bearer {key}"}

    @pytest.mark.parametrize("form", ["{url}/v1/models", "{scheme_less}/v1/models", "{url}/v1/models?token=hidden"])
    def test_to_another_origin_is_refused_and_gets_no_request(self, form: str, key: str) -> None:
        with ModelServer(models=("m",)) as stranger:
            target = form.format(url=stranger.url, scheme_less=stranger.url.removeprefix("http:"))
            with ModelServer(other=redirecting(303, lambda _: target)) as server, client(server.url, key) as asking:
                found = asking.get(f"{server.url}/v1/models")
            assert stranger.requests == []
        assert isinstance(found, NoAnswer)
        assert found.kind == "refused-redirect"
        assert found.message == f"redirects to another origin, {stranger.url}, which gets no request"
        assert key not in repr(found)

    def test_another_scheme_or_port_is_another_origin(self, key: str) -> None:
        other = redirecting(302, lambda _: "https://127.0.0.1/v1/models")
        with ModelServer(other=other) as server, client(server.url, key) as asking:
            found = asking.get(f"{server.url}/v1/models")
        assert isinstance(found, NoAnswer)
        assert "https://127.0.0.1:443" in found.message

    def test_a_loop_ends_at_the_bound(self, key: str) -> None:
        with ModelServer(other=redirecting(303, lambda r: r.path)) as server, client(server.url, key) as asking:
            found = asking.get(f"{server.url}/v1/models")
            assert len(server.requests) == MOST_REDIRECTS + 1
        assert found == NoAnswer("refused-redirect", "redirects more than 10 times")

    def test_nobody_there_is_told_without_a_header(self, key: str) -> None:
        with ModelServer() as server:
            url = server.url
        with client(url, key) as asking:
            assert asking.get(f"{url}/v1/models") == NoAnswer("silent", "takes no connection")

    def test_a_proxy_of_the_environment_is_not_used_for_this_machine(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with ModelServer(models=("m",)) as proxy, ModelServer(models=("m",)) as server:
            for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
                monkeypatch.setenv(name, proxy.url)
            with client(server.url) as asking:
                answer = asking.get(f"{server.url}/v1/models")
            assert isinstance(answer, Answer)
            assert (len(proxy.requests), len(server.requests)) == (0, 1)

    @pytest.mark.parametrize(
        ("host", "local"),
        [
            ("localhost", True),
            ("127.0.0.9", True),
            ("::1", True),
            ("gpu-1", False),
            ("10.0.0.1", False),
        ],
    )
    def test_loopback(self, host: str, local: bool) -> None:
        assert is_loopback(host) is local


class TestListing:
    def ask(self, url: str, model: str = "m", protocol: Protocol = Protocol.CHAT, seconds: float = 0.0) -> object:
        with client(url) as asking:
            return list_models(asking, protocol, model, Clock().patience(seconds))

    @pytest.mark.parametrize(
        ("provider", "path", "header", "value"),
        [
            ("openai", "/v1/models", "authorization", "Bearer {key}"),
            ("anthropic", "/v1/models", "x-api-key", "{key}"),
            ("google", "/v1beta/models", "x-goog-api-key", "{key}"),
            ("mistral", "/v1/models", "authorization", "Bearer {key}"),
            ("grok", "/v1/models", "authorization", "Bearer {key}"),
        ],
    )
    def test_each_protocol_asks_in_its_own_way(
        self, provider: str, path: str, header: str, value: str, key: str
    ) -> None:
        route = find_route(provider)
        assert route is not None
        assert route.base_url_variable is not None
        with ModelServer(models=("a", "b")) as server:
            url = f"{server.url}/v1" if provider == "openai" else server.url
            environment = Environment({route.credentials[0]: key, route.base_url_variable: url})
            access = http_access(route, read_access(route, environment))
            assert key not in repr(access)
            with EndpointClient(access) as asking:
                listing = list_models(asking, route.protocol, "b", Clock().patience(0))
            assert (listing.state, listing.models, server.requests[0].path) == ("listed", ("a", "b"), path)
            assert server.requests[0].headers[header] == value.format(key=key)
            assert ("anthropic-version" in server.requests[0].headers) is (provider == "anthropic")

    def test_bedrock_is_not_asked(self) -> None:
        with ModelServer() as server:
            listing = self.ask(server.url, protocol=Protocol.CONVERSE)
            assert server.requests == []
        assert getattr(listing, "state", None) == "unasked"

    def test_pages_are_followed(self) -> None:
        pages = [{"models": [{"name": "models/a"}], "nextPageToken": "x y"}, {"models": [{"name": "models/b"}]}]
        specials = [(200, {"content-type": "application/json"}, json.dumps(page).encode()) for page in pages]
        with ModelServer(other=sequence(*specials)) as server:
            listing = self.ask(server.url, protocol=Protocol.GEMINI)
        assert getattr(listing, "models", None) == ("a", "b")

    @pytest.mark.parametrize(
        ("status", "body", "state"),
        [
            (401, b"", "refused"),
            (403, b"", "refused"),
            (404, b"", "absent"),
            (503, b"", "warming"),
            (400, b'{"error": "Model is not ready yet"}', "warming"),
            (400, b'{"error": "bad request"}', "broken"),
            (200, b"<html>", "broken"),
            (200, b'{"data": 3}', "broken"),
        ],
    )
    def test_what_a_status_means(self, status: int, body: bytes, state: str) -> None:
        with ModelServer(other=lambda _: (status, {}, body)) as server:
            listing = self.ask(server.url)
        assert getattr(listing, "state", None) == state

    def test_c34_a_cold_endpoint_is_asked_again_until_it_serves(self) -> None:
        clock = Clock()
        cold = (400, {}, b'{"detail": "Model is not ready yet"}')
        with ModelServer(models=("m",), other=sequence(*[cold] * 6)) as server, client(f"{server.url}/v1") as asking:
            listing = list_models(asking, Protocol.CHAT, "m", clock.patience(120))
        assert (listing.state, listing.models, listing.waited_seconds) == ("listed", ("m",), 45.0)
        assert clock.waits == [1, 2, 4, 8, 15, 15]

    def test_c34_patience_ends_at_the_deadline(self) -> None:
        clock = Clock()
        with ModelServer(other=lambda _: (503, {}, b"")) as server, client(server.url) as asking:
            listing = list_models(asking, Protocol.CHAT, "m", clock.patience(20))
        assert (listing.state, listing.detail, listing.waited_seconds) == ("warming", "HTTP 503, not ready", 20.0)

    def test_what_it_says_about_the_model_is_kept_without_long_texts(self) -> None:
        entry = {"id": "m", "max_model_len": 4096, "root": "/models/m", "text": "x" * 300, "nested": {"a": 1}}
        body = json.dumps({"data": [{"id": "other"}, entry]}).encode()
        with ModelServer(other=lambda _: (200, {}, body)) as server:
            listing = self.ask(server.url)
        assert getattr(listing, "entry", None) == {"id": "m", "max_model_len": 4096, "root": "/models/m"}


class TestEngine:
    def test_the_series_of_all_models_are_added_up(self) -> None:
        text = (
            "# TYPE vllm:num_requests_running gauge\n"
            'vllm:num_requests_running{engine="0",model_name="a}b"} 2.0\n'
            'vllm:num_requests_running{engine="1",model_name="c"} 3.0\n'
            'vllm:num_requests_waiting{engine="0",model_name="a}b"} 4.0\n'
            "vllm:num_requests_running_total 99.0\n"
        )
        assert parse_load(text) == EngineLoad(5, 4)

    @pytest.mark.parametrize("text", ["", "up 1\n", "vllm:num_requests_running NaN\n", "vllm:num_requests_running x\n"])
    def test_what_tells_no_load_is_none(self, text: str) -> None:
        assert parse_load(text) is None

    def test_metrics_and_version_stand_beside_the_api(self) -> None:
        versions = {"/version": (200, {}, b'{"version": "0.11.0"}')}
        with (
            ModelServer(metrics=BUSY, other=lambda r: versions.get(r.path)) as server,
            client(f"{server.url}/v1") as asking,
        ):
            assert read_load(asking) == EngineLoad(2, 1)
            assert server_version(asking) == "0.11.0"
            assert [r.path for r in server.requests] == ["/metrics", "/version"]

    def test_without_metrics_nothing_is_known(self) -> None:
        with ModelServer() as server, client(f"{server.url}/v1") as asking:
            assert (read_load(asking), server_version(asking)) == (None, None)
            assert wait_idle(asking, Clock().patience(60)).load is None

    def test_a_busy_engine_is_waited_for(self) -> None:
        clock, specials = Clock(), [(200, {}, BUSY.encode())] * 3
        with ModelServer(metrics=IDLE, other=sequence(*specials)) as server, client(server.url) as asking:
            found = wait_idle(asking, clock.patience(60))
        assert (found.load, found.waited_seconds) == (EngineLoad(0, 0), 7.0)

    def test_the_wait_ends_at_its_deadline(self) -> None:
        with ModelServer(metrics=BUSY) as server, client(server.url) as asking:
            assert wait_idle(asking, Clock().patience(0)).load == EngineLoad(2, 1)
            assert len(server.requests) == 1
            found = wait_idle(asking, Clock().patience(10))
        assert (found.load, found.waited_seconds) == (EngineLoad(2, 1), 10.0)


class TestLoadSampler:
    def test_means_and_peaks_and_errors_are_counted(self) -> None:
        looks: list[object] = [EngineLoad(1, 0), NoAnswer("silent", "x"), None, EngineLoad(4, 3)]
        left, ended = list(looks), threading.Event()

        def read() -> object:
            if left:
                return left.pop(0)
            raise OSError("gone")

        def pause(_: float) -> bool:
            if not left:
                ended.set()
            return not left

        with LoadSampler(read, 5.0, pause) as sampler:
            assert ended.wait(10)
        assert sampler.summary() == LoadSummary(2, 2, 4, 2.5, 3, 1.5)

    def test_a_reader_that_raises_is_an_error_and_nothing_else(self) -> None:
        def read() -> object:
            raise RuntimeError("boom")

        with LoadSampler(read, 5.0, lambda _: True) as sampler:
            pass
        assert (sampler.summary(), sampler.errors) == (None, 1)

    def test_the_end_of_the_run_ends_a_long_pause(self) -> None:
        looked = threading.Event()

        def read() -> object:
            looked.set()
            return EngineLoad(1, 1)

        with LoadSampler(read, 3600.0) as sampler:
            assert looked.wait(10)
        assert sampler.summary() == LoadSummary(1, 0, 1, 1.0, 1, 1.0)
