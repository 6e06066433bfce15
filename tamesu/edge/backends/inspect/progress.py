"""What an attempt tells while it is at work: a hook of Inspect that appends to the progress file.

Inspect keeps one instance of a hook per process and asks it at every event; it is registered only when somebody
looks, and answers for the attempt that `watched` names. Errors of a hook are swallowed by Inspect.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from inspect_ai.event import ModelEvent
from inspect_ai.hooks import Hooks, SampleEnd, SampleEvent, hooks

from tamesu.base.errors import ImpossibleUsage
from tamesu.base.model.evidence import Usage
from tamesu.base.model.plan import RunSpec
from tamesu.base.model.progress import CallsEnded, ItemEnded
from tamesu.core.pricing import known_sample_cost, token_prices, usage_cost
from tamesu.core.usage import total_usage
from tamesu.core.verdict import item_verdict
from tamesu.edge.backends.inspect.logs import sample_evidence
from tamesu.edge.backends.protocol import AttemptRequest
from tamesu.edge.providers.usage import model_usage
from tamesu.edge.store.progress import tell_progress

_SECONDS_BETWEEN_CALLS = 1.0


class _Watch:
    """The attempt under way: what its ended items cost, and the calls of those at work."""

    def __init__(self, spec: RunSpec, attempt: int, file: Path) -> None:
        self._spec, self._attempt, self._file = spec, attempt, file
        self._known: list[float] = []
        # by execution of a sample, then by event, since every event arrives twice
        self._at_work: dict[str, dict[str, tuple[str, Usage]]] = {}
        self._told = 0.0

    def call_ended(self, data: SampleEvent) -> None:
        event = data.event
        if not self._spec.priced_by_tokens or not isinstance(event, ModelEvent) or event.output.usage is None:
            return
        calls = self._at_work.setdefault(data.sample_id, {})
        calls[str(event.uuid)] = event.model, model_usage(event.model, event.output.usage)
        if time.monotonic() - self._told >= _SECONDS_BETWEEN_CALLS:
            self._told = time.monotonic()
            cost = self._cost()
            tell_progress(self._file, CallsEnded(_now(), self._spec.run_id, self._attempt, cost))

    def item_ended(self, data: SampleEnd) -> None:
        self._at_work.pop(data.sample_id, None)
        sample = sample_evidence(data.sample)
        if sample.interrupted or sample.in_flight:
            return
        self._known.append(known_sample_cost(self._spec, sample, self._spec.concurrency))
        failed = item_verdict(self._spec, sample).state == "failed"
        ended = ItemEnded(_now(), self._spec.run_id, self._attempt, sample.item, failed, self._cost())
        tell_progress(self._file, ended)

    def _cost(self) -> float | None:
        """Return the cost so far; the closed attempt states it from the log, this one may be short of it."""
        calls = [cost for cost in map(self._calls_cost, self._at_work.values()) if cost is not None]
        known = [*self._known, *calls]
        return round(math.fsum(known), 9) if known and self._spec.paid else None

    def _calls_cost(self, calls: dict[str, tuple[str, Usage]]) -> float | None:
        prices = token_prices(self._spec)
        try:
            return math.fsum(
                usage_cost(total_usage(usage for name, usage in calls.values() if name == model), price)
                for model in {name for name, _ in calls.values()}
                if (price := prices.get(model, self._spec.price)) is not None
            )
        except ImpossibleUsage:
            return None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


_watched: list[_Watch] = []


@contextmanager
def watched(request: AttemptRequest) -> Iterator[None]:
    """Tell what ends of an attempt while it is executed; does nothing when nobody looks."""
    if request.progress is None or not request.progress.exists():
        yield
        return
    _registered()
    _watched.append(_Watch(request.spec, request.attempt, request.progress))
    try:
        yield
    finally:
        _watched.pop()


@functools.cache
def _registered() -> type[Hooks]:
    @hooks(name="tamesu_progress", description="tells `tamesu run` what ended")
    class Progress(Hooks):
        def enabled(self) -> bool:
            return bool(_watched)

        async def on_sample_event(self, data: SampleEvent) -> None:
            _watched[-1].call_ended(data)

        async def on_sample_end(self, data: SampleEnd) -> None:
            _watched[-1].item_ended(data)

    return Progress
