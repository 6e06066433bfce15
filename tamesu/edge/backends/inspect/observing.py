"""A model whose calls are attributed to items, and recorded where its HTTP client cannot be."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Any

from inspect_ai.log._samples import sample_active
from inspect_ai.model import Model, ModelCall, ModelOutput

from tamesu.base.model.wire import Way
from tamesu.core.wire_body import reduce_fields
from tamesu.edge.backends.inspect.wire_log import Reply, WireLog

_OK = 200
_FAILED = 599  # no status is told; some client or server error


def observe(model: Model, wire: WireLog, way: Way) -> None:
    """Wrap the provider's `generate`: each call is one model call of the running sample.

    With way `call` the request that the provider's client returns is read in memory and reduced to parameters.
    """
    inner: Callable[..., Awaitable[Any]] = model.api.generate

    @functools.wraps(inner)
    async def generate(*args: Any, **kwargs: Any) -> Any:
        with wire.call(_running_item()):
            result = await inner(*args, **kwargs)
            if way == "call":
                _record(wire, result)
            return result

    model.api.generate = generate  # type: ignore[method-assign]


def _running_item() -> str | None:
    sample = sample_active()
    return None if sample is None or sample.sample.id is None else str(sample.sample.id)


def _record(wire: WireLog, result: Any) -> None:
    output, call = result if isinstance(result, tuple) else (result, None)
    if not isinstance(call, ModelCall):
        return
    request = wire.sent("call", "", reduce_fields(call.request))
    served = output.model if isinstance(output, ModelOutput) else None
    wire.answered(request, Reply(_OK if served else _FAILED, served))
