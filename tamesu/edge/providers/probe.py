"""One tiny request over the run's own model: what it says, and whether it left as the plan says."""

from __future__ import annotations

import re
import time
from pathlib import Path

import anyio
from inspect_ai.model import ChatMessageUser, ModelOutput

from tamesu.base.canonical import digest_bytes
from tamesu.base.errors import ImpossibleUsage, TamesuError
from tamesu.base.model.endpoint import ProbeFinding
from tamesu.base.model.evidence import Usage
from tamesu.base.model.plan import RunSpec
from tamesu.core.pricing import rent, usage_cost
from tamesu.core.probe import PROBE_PROMPT, was_cut_short
from tamesu.core.routes import find_route
from tamesu.core.wire import check_wire
from tamesu.edge.credentials import Access, without_secrets
from tamesu.edge.providers.causes import root_cause, without_addresses
from tamesu.edge.providers.models import live_model, model_arguments
from tamesu.edge.providers.usage import model_usage
from tamesu.edge.providers.wire_log import WireLog
from tamesu.edge.store.wire import read_wire

_LONGEST_ERROR = 300
_ERROR = re.compile(r"\b[A-Z]\w*Error[(:]")


def probe(spec: RunSpec, access: Access, wire: Path) -> ProbeFinding:
    """Return what one request with the fields of `spec` yields; `wire` is written anew and read back.

    Raises UsageError when the provider's client is not installed.
    """
    wire.parent.mkdir(parents=True, exist_ok=True)
    wire.write_bytes(b"")
    started = time.monotonic()
    output, error = _ask(spec, access, wire)
    seconds = round(time.monotonic() - started, 3)
    lines = read_wire(wire, 0)
    checked = check_wire(spec, lines.requests, lines.replies, None)
    usage = None if output is None else _usage(spec, output)
    route = find_route(spec.provider)
    return ProbeFinding(
        answered=output is not None or was_cut_short(error),
        text_sha256=None if output is None else digest_bytes(output.completion.encode()),
        seconds=seconds,
        usage=usage,
        cost_usd=_cost(spec, usage, seconds),
        problems=tuple(f"{one.name} {one.detail}" for one in checked.differences),
        way="call" if route is None else route.way,
        error=error,
    )


def _ask(spec: RunSpec, access: Access, wire: Path) -> tuple[ModelOutput | None, str | None]:
    async def call() -> ModelOutput:
        model = live_model(spec, access, WireLog(wire, 0), model_arguments(spec))
        return await model.generate([ChatMessageUser(content=PROBE_PROMPT)])

    try:
        output = anyio.run(call)
    except TamesuError:
        raise
    except Exception as error:
        return None, error_line(error, access)
    if output.error is not None:
        return None, plain_line(output.error, access)[:_LONGEST_ERROR]
    return output, None


def plain_line(text: str, access: Access) -> str:
    """Return a text in one line, without any key that a library may have quoted and without addresses in memory."""
    return without_addresses(" ".join(without_secrets(text, access.secrets).split()))


def error_line(error: BaseException, access: Access) -> str:
    """Return the error that the provider's client raised, in one line; Inspect puts the request around it."""
    error = root_cause(error)
    text = plain_line(str(error), access)
    named = [found.start() for found in _ERROR.finditer(text)]
    return (text[named[-1] :] if named else f"{type(error).__name__}: {text}")[:_LONGEST_ERROR]


def _usage(spec: RunSpec, output: ModelOutput) -> Usage | None:
    try:
        return None if output.usage is None else model_usage(spec.model_uri, output.usage)
    except ImpossibleUsage:
        return None


def _cost(spec: RunSpec, usage: Usage | None, seconds: float) -> float | None:
    price = spec.price
    if price is None:
        return None
    if price.usd_per_hour is not None:
        return rent(price.usd_per_hour, round(1000 * seconds), 1.0)
    return 0.0 if price.free else None if usage is None else usage_cost(usage, price)
