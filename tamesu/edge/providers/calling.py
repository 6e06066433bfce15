"""Single calls over a provider's real client, each checked against what was declared."""

from __future__ import annotations

import asyncio
import logging
import time
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path

from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentText,
    ModelOutput,
)
from inspect_ai.util._concurrency import init_concurrency

from tamesu.base.errors import ImpossibleUsage, TamesuError
from tamesu.base.model.evidence import Fault, Usage
from tamesu.base.model.plan import RunSpec
from tamesu.base.model.wire import NO_CONTENT, ModelCalls, WireReply, WireRequest
from tamesu.core.routes import find_route
from tamesu.core.wire import check_wire, unanswered_calls
from tamesu.edge.credentials import Access
from tamesu.edge.providers.calls import Called, ImagePart, Part, TextPart, Turn
from tamesu.edge.providers.models import live_model
from tamesu.edge.providers.observing import called_for
from tamesu.edge.providers.probe import error_line, plain_line
from tamesu.edge.providers.reply_content import (
    UNSTATED_TOOL,
    is_withheld,
    lacks_tool_tokens,
    reply_pictures,
    reply_words,
    withheld_by_error,
)
from tamesu.edge.providers.usage import model_usage
from tamesu.edge.providers.wire_log import WireLog

_LONGEST_WAIT_SECONDS = 60
_REFUSALS = range(400, 500)
_PASSING = frozenset({408, 409, 425, 429, *range(500, 600)})


class _Heard(WireLog):
    """A wire log whose lines are also handed to the call that they belong to."""

    def __init__(self, path: Path, session: int) -> None:
        super().__init__(path, session)
        self._lines: ContextVar[list[WireRequest | WireReply] | None] = ContextVar("lines", default=None)

    @contextmanager
    def heard(self) -> Iterator[list[WireRequest | WireReply]]:
        lines: list[WireRequest | WireReply] = []
        token = self._lines.set(lines)
        try:
            yield lines
        finally:
            self._lines.reset(token)

    def _write(self, line: WireRequest | WireReply) -> None:
        super()._write(line)
        lines = self._lines.get()
        if lines is not None:
            lines.append(line)


class InspectCaller:
    """The model of a run for single calls."""

    def __init__(self, spec: RunSpec, access: Access, wire: Path, session: int, role: str | None) -> None:
        wire.parent.mkdir(parents=True, exist_ok=True)
        # outside of an evaluation Inspect misses what it registers there, and says so at every call
        logging.getLogger("inspect_ai").setLevel(logging.ERROR)
        self._spec = spec
        self._access = access
        self._wire = _Heard(wire, session)
        # the role stands in the wire log alone, where it tells whose requests these are
        self._wire._role = role
        # a probe of the same endpoint left its own cap of one call behind, which would hold for the whole process
        init_concurrency()
        self._model = live_model(spec, access, self._wire, {})

    async def call(self, name: str, turns: Sequence[Turn]) -> Called:
        started = time.monotonic()
        output: ModelOutput | None = None
        error: str | None = None
        withheld = False
        with self._wire.heard() as lines, called_for(name):
            try:
                async with asyncio.timeout(_most_seconds(self._spec)):
                    output = await self._model.generate([_message(turn) for turn in turns])
            except TamesuError:
                raise
            except Exception as raised:
                error = error_line(raised, self._access)
                withheld = withheld_by_error(raised)
        if output is not None and output.error is not None:
            error = plain_line(output.error, self._access)
        called = self._called(name, output, error, lines, round(1000 * (time.monotonic() - started)))
        return replace(called, withheld=called.withheld or withheld)

    def _called(
        self,
        name: str,
        output: ModelOutput | None,
        error: str | None,
        lines: Sequence[WireRequest | WireReply],
        latency_ms: int,
    ) -> Called:
        requests = [line for line in lines if isinstance(line, WireRequest)]
        replies = [line for line in lines if isinstance(line, WireReply)]
        checked = check_wire(self._spec, requests, replies, None)
        usage, usage_problem = (None, None) if output is None else self._usage(output)
        last = max(replies, key=lambda reply: reply.id, default=None)
        return Called(
            text=None if output is None or error is not None else reply_words(output),
            stop_reason=None if output is None or not output.choices else output.stop_reason,
            usage=usage,
            latency_ms=latency_ms,
            fault=None if error is None else Fault(_kind(last), error[:500]),
            passing=error is not None and _may_pass(last),
            drift=tuple(f"{one.name} {one.detail}" for one in checked.differences),
            unaccounted=self._unaccounted(name, requests, replies, answered=usage is not None),
            served=None if last is None else last.served,
            request_id=None if last is None else last.request_id,
            no_content=output is not None and bool((output.metadata or {}).get(NO_CONTENT)),
            usage_problem=usage_problem,
            pictures=() if output is None or error is not None else reply_pictures(output),
            withheld=output is not None and is_withheld(output),
            refused=last is not None and last.status is not None and last.status in _REFUSALS,
        )

    def _usage(self, output: ModelOutput) -> tuple[Usage | None, str | None]:
        """Return the tokens of a reply, and a line about counts that cannot be."""
        if output.usage is None:
            return None, UNSTATED_TOOL if lacks_tool_tokens(output) else None
        try:
            return model_usage(self._spec.model_uri, output.usage), None
        except ImpossibleUsage as error:
            return None, str(error)

    def _unaccounted(
        self, name: str, requests: Sequence[WireRequest], replies: Sequence[WireReply], *, answered: bool
    ) -> int:
        route = find_route(self._spec.provider)
        if route is not None and route.way == "call" and not answered:
            return 1  # a request that failed was not seen, so it may have been worked on
        # counted as those of the run's own model, as which the model is seen here
        own = [replace(request, role=None) for request in requests]
        return max(0, unanswered_calls(own, replies, ModelCalls({name: int(answered)})).get(name, 0))


def _most_seconds(spec: RunSpec) -> float:
    """Return how long a call may take with its retries; a provider that asks to wait longer counts as unavailable."""
    return (spec.retries + 1) * spec.timeout_seconds + spec.retries * _LONGEST_WAIT_SECONDS


def _kind(last: WireReply | None) -> str:
    return "ProviderUnavailable" if _may_pass(last) else "ProviderRefused"


def _may_pass(last: WireReply | None) -> bool:
    return last is None or last.status is None or last.status in _PASSING


def _message(turn: Turn) -> ChatMessage:
    first = turn.parts[0]
    # a text alone travels as a text, as it does from a dataset
    only = first.text if len(turn.parts) == 1 and isinstance(first, TextPart) else None
    content = [_content(part) for part in turn.parts] if only is None else only
    return ChatMessageSystem(content=content) if turn.role == "system" else ChatMessageUser(content=content)


def _content(part: Part) -> Content:
    if isinstance(part, ImagePart):
        return ContentImage(image=f"data:{part.media_type};base64,{b64encode(part.content).decode()}")
    return ContentText(text=part.text)
