"""wire.jsonl while an attempt runs: a line when a request leaves, a line when its reply is here or will never be."""

from __future__ import annotations

import copy
import itertools
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from tamesu.base.model.wire import Way, WireReply, WireRequest
from tamesu.core.reply_shape import ReplyProblem
from tamesu.core.wire_body import ReducedBody
from tamesu.edge.store.files import append_unsynced, drop_torn_line

_LONGEST = 200


@dataclass(slots=True)
class Call:
    """A model call under way: its number, the item it is for, its requests without a reply yet.

    Of its last reply: `problem` says why it is no answer, `no_content` that its message has none, `status` its status.
    """

    number: int
    item: str | None
    open: dict[int, float] = field(default_factory=dict)
    problem: ReplyProblem | None = None
    no_content: bool = False
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What is kept of a reply; `served` is the model that it names."""

    status: int
    served: str | None
    server_ms: float | None = None
    request_id: str | None = None
    redirects: int = 0
    problem: ReplyProblem | None = None
    no_content: bool = False


class WireLog:
    """Appends the lines of one attempt; a request that cannot be recorded must not leave, so errors are raised."""

    def __init__(self, path: Path, attempt: int) -> None:
        drop_torn_line(path)
        self._path = path
        self._attempt = attempt
        self._requests = itertools.count(1)
        self._calls = itertools.count(1)
        self._current: ContextVar[Call | None] = ContextVar("call", default=None)
        self._outside: dict[int, float] = {}
        self._role: str | None = None

    def of_role(self, role: str) -> WireLog:
        """Return the same log for the model of a role: one file, one count, and requests that name the role."""
        own = copy.copy(self)
        own._role = role
        return own

    @contextmanager
    def call(self, item: str | None) -> Iterator[Call]:
        """Attribute the requests made within to one model call; those it leaves without a reply never get one."""
        call = Call(next(self._calls), item)
        token = self._current.set(call)
        error = "NoReply"
        try:
            yield call
        except BaseException as raised:
            error = type(raised).__name__
            raise
        finally:
            self._current.reset(token)
            for request in tuple(call.open):
                self._answered(call.open, request, None, error)

    def sent(self, way: Way, path: str, body: ReducedBody) -> int:
        """Record a request that leaves now; return its number. Raises StorageFull when it cannot be recorded."""
        call = self._current.get()
        number = next(self._requests)
        self._write(
            WireRequest(
                id=number,
                attempt=self._attempt,
                time=_now(),
                way=way,
                path=path,
                item=None if call is None else call.item,
                call=None if call is None else call.number,
                model=body.model,
                parameters=body.parameters,
                contents=body.contents,
                role=self._role,
            )
        )
        self._open(call)[number] = time.monotonic()
        return number

    def answered(self, request: int, reply: Reply) -> None:
        """Record the reply to a request; a second one does not count."""
        call = self._current.get()
        if call is not None:
            call.problem, call.no_content, call.status = reply.problem, reply.no_content, reply.status
        place = self._open(call)
        error = None if reply.problem is None else reply.problem.name
        self._answered(place if request in place else self._outside, request, reply, error)

    def unreached(self, request: int, error: str) -> None:
        """Record that a request never left, as no connection came about."""
        place = self._open(self._current.get())
        self._answered(place if request in place else self._outside, request, None, error)

    def _open(self, call: Call | None) -> dict[int, float]:
        return self._outside if call is None else call.open

    def _answered(self, place: dict[int, float], request: int, reply: Reply | None, error: str | None) -> None:
        started = place.pop(request, None)
        if started is None:
            return
        self._write(
            WireReply(
                id=request,
                attempt=self._attempt,
                time=_now(),
                status=None if reply is None else reply.status,
                served=None if reply is None else _short(reply.served),
                seconds=round(time.monotonic() - started, 4),
                server_ms=None if reply is None else reply.server_ms,
                request_id=None if reply is None else _short(reply.request_id),
                redirects=0 if reply is None else reply.redirects,
                error=error,
            )
        )

    def _write(self, line: WireRequest | WireReply) -> None:
        append_unsynced(self._path, msgspec.json.encode(line))


def _short(text: str | None) -> str | None:
    return None if text is None else "".join(c if c.isprintable() else " " for c in text[:_LONGEST])


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
