"""What a serving engine of one's own says about itself: its load and its version, as vLLM tells them."""

from __future__ import annotations

import json
import math
import re

from tamesu.base.model.endpoint import EngineFinding, EngineLoad
from tamesu.edge.endpoints.client import EndpointClient, NoAnswer
from tamesu.edge.endpoints.patience import Patience

_GAUGE = re.compile(r"vllm:num_requests_(running|waiting)(?:\{.*\})?\s+(\S+)(?:\s+\d+)?\s*")


def read_load(client: EndpointClient) -> EngineLoad | NoAnswer | None:
    """Return the load of the engine over all models that it serves; None where it tells none."""
    answer = client.get(f"{_root(client)}/metrics")
    if isinstance(answer, NoAnswer):
        return answer
    return parse_load(answer.content.decode("utf-8", "replace")) if answer.status == 200 else None


def parse_load(text: str) -> EngineLoad | None:
    """Return what Prometheus text says about vLLM's queue, its series added up; None when it says nothing."""
    found: dict[str, float] = {}
    for line in text.split("\n"):
        series = _GAUGE.fullmatch(line)
        if series is not None:
            try:
                found[series[1]] = found.get(series[1], 0.0) + float(series[2])
            except ValueError:
                return None
    if not found or not all(math.isfinite(value) for value in found.values()):
        return None
    return EngineLoad(round(found.get("running", 0.0)), round(found.get("waiting", 0.0)))


def wait_idle(client: EndpointClient, patience: Patience) -> EngineFinding:
    """Return the load when the engine got idle, or when patience ended; looks once at least."""
    found, waited = patience.until(lambda: read_load(client), lambda load: not _is_busy(load))
    if isinstance(found, NoAnswer):
        return EngineFinding(None, round(waited, 1), found.message)
    return EngineFinding(found, round(waited, 1))


def _is_busy(load: EngineLoad | NoAnswer | None) -> bool:
    return isinstance(load, EngineLoad) and load.running + load.waiting > 0


def server_version(client: EndpointClient) -> str | None:
    """Return the version of the server where it tells one."""
    answer = client.get(f"{_root(client)}/version")
    if isinstance(answer, NoAnswer) or answer.status != 200:
        return None
    try:
        found = json.loads(answer.content)
    except (ValueError, RecursionError):
        return None
    version = found.get("version") if isinstance(found, dict) else None
    return version[:100] if isinstance(version, str) and version.isprintable() else None


def _root(client: EndpointClient) -> str:
    """Metrics and version stand beside the API, not below its `/v1`."""
    return client.base_url.removesuffix("/v1")
