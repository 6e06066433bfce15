"""How fast an attempt was served against what was configured, and where a queue may stand."""

from __future__ import annotations

from collections.abc import Iterator

from tamesu.base.model.evidence import AttemptRecord
from tamesu.base.model.plan import RunSpec

_QUEUE_RATIO = 3.0  # wall time over the server's own time
_SLOW_MS = 1000.0  # below that the client itself is what takes time
_FEWEST_SAMPLES = 5  # of the engine's load; fewer may have missed what it worked on
_REMEDY = "raise the requests that one container serves at once before adding replicas"


def speed_remarks(spec: RunSpec, record: AttemptRecord) -> tuple[str, ...]:
    """Return a sentence for each thing that made an attempt slower than it was configured to be."""
    quick = record.wire is not None and record.wire.way == "http" and (record.wire.wall_ms or 0.0) < _SLOW_MS
    if spec.provider == "replay" or quick:
        return ()
    return (*_concurrency(spec, record), *_queue(spec, record))


def _concurrency(spec: RunSpec, record: AttemptRecord) -> Iterator[str]:
    possible = min(spec.concurrency, len(record.asked))
    reached = record.concurrency_reached
    if reached is not None and 2 * reached < possible:
        yield f"{reached} calls at once were reached of {possible} configured; {_REMEDY}, or lower concurrency"


def _queue(spec: RunSpec, record: AttemptRecord) -> Iterator[str]:
    wire, load = record.wire, record.load
    if wire is not None and wire.queue_ratio is not None and wire.wall_ms is not None:
        if wire.queue_ratio > _QUEUE_RATIO:
            ratio = f"{wire.queue_ratio:.0f} times the server's own time"
            yield f"replies took {ratio}: a queue stands in front of it; {_REMEDY}"
    elif (
        load is not None
        and load.samples >= _FEWEST_SAMPLES
        and 2 * load.max_running < min(spec.concurrency, len(record.asked))
        and load.max_waiting == 0
    ):
        yield (
            f"the engine worked on {load.max_running} requests at most and none waited there: a queue stands in front "
            f"of it; {_REMEDY}"
        )
