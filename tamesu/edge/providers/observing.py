"""A model whose calls are attributed to items, and recorded where its HTTP client cannot be."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from inspect_ai.log._samples import sample_active
from inspect_ai.model import Model, ModelCall, ModelOutput

from tamesu.base.model.wire import NO_CONTENT, REFUSED, Way
from tamesu.core.reply_pictures import picture_facts
from tamesu.core.tasks import built_in_checks
from tamesu.core.wire_body import reduce_fields
from tamesu.edge.providers.reply_content import mark_pictures
from tamesu.edge.providers.wire_log import Reply, WireLog

_OK = 200
_REFUSALS = range(400, 500)
_FAILED = 599  # no status is told; some client or server error


class UnusableReply(Exception):
    """A reply of status 200 that is no answer; not retried within an attempt, as it says nothing of waiting."""


def observe(model: Model, wire: WireLog, way: Way, task: str) -> None:
    """Wrap the provider's `generate`: each call is one model call of the running sample.

    With way `call` the request that the provider's client returns is read in memory and reduced to parameters. Where a
    task of Tamesu's own says what an output means, one that Inspect makes of an error is marked as such.
    """
    inner: Callable[..., Awaitable[Any]] = model.api.generate

    @functools.wraps(inner)
    async def generate(*args: Any, **kwargs: Any) -> Any:
        with wire.call(running_item()) as call:
            try:
                result = await inner(*args, **kwargs)
            except Exception as error:
                # what a client says of a reply that is no answer helps nobody
                if call.problem is not None:
                    raise UnusableReply(call.problem.text) from error
                raise
            if call.problem is not None:
                raise UnusableReply(call.problem.text)
            if way == "call":
                _record(wire, result)
            elif call.no_content:
                _mark(result, NO_CONTENT)
            if call.status in _REFUSALS and built_in_checks(task):
                _mark(result, REFUSED)
            _mark_pictures(result)
            return result

    model.api.generate = generate  # type: ignore[method-assign]


def _mark(result: Any, what: str) -> None:
    """Say in the output, and so in the log, what its reply was: without content it becomes an empty text, say."""
    output = result[0] if isinstance(result, tuple) else result
    if isinstance(output, ModelOutput):
        output.metadata = {**(output.metadata or {}), what: True}


def _mark_pictures(result: Any) -> None:
    output, call = result if isinstance(result, tuple) else (result, None)
    if isinstance(output, ModelOutput) and isinstance(call, ModelCall):
        mark_pictures(output, picture_facts(call.response))


_called_for: ContextVar[str | None] = ContextVar("called_for", default=None)


@contextmanager
def called_for(name: str) -> Iterator[None]:
    """Attribute the calls made within, outside of any sample, to what they are made for."""
    token = _called_for.set(name)
    try:
        yield
    finally:
        _called_for.reset(token)


def running_item() -> str | None:
    """Return the item whose sample is under way, or what a single call is made for; None outside of any."""
    if (name := _called_for.get()) is not None:
        return name
    sample = sample_active()
    return None if sample is None or sample.sample.id is None else str(sample.sample.id)


def _record(wire: WireLog, result: Any) -> None:
    output, call = result if isinstance(result, tuple) else (result, None)
    if not isinstance(call, ModelCall):
        return
    request = wire.sent("call", "", reduce_fields(call.request))
    # an output repeats the name that was asked for; only the reply itself can say who answered
    served = (call.response or {}).get("model")
    status = _OK if isinstance(output, ModelOutput) else _FAILED
    wire.answered(request, Reply(status, served if isinstance(served, str) else None))
