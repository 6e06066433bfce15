"""A journal reduced to the evidence that ingestion and the end of an attempt need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from tamesu.base.model.evidence import Fault, SampleEvidence
from tamesu.base.model.provider_attempt import CallState, ProviderAttempt
from tamesu.base.model.wire import ModelCalls
from tamesu.core.pricing import samples_at_once
from tamesu.edge.backends.native.journal import Ended, Journal, read_journal
from tamesu.edge.backends.protocol import LogReading


def read_log(path: Path) -> LogReading:
    """Return the evidence of a journal; checks are made of what is stored, not here. Raises FrameworkFault."""
    journal = read_journal(path)
    ended = journal.ended.values()
    spans = [(one.started, one.time) for one in ended]
    worked = sum(round(1000 * (one.time - one.started)) for one in ended)
    return LogReading(
        status=journal.status,
        samples=(*map(sample_evidence, ended), *_cut(journal)),
        concurrency_reached=most_at_once(spans),
        samples_at_once=samples_at_once(spans, worked),
        calls=ModelCalls({one.item: 1 for one in ended if one.error is None and not one.refused}),
        provider_attempts=tuple(_calls(journal)),
    )


def sample_evidence(ended: Ended) -> SampleEvidence:
    """Return an item that came to its end as a sample without scores."""
    return SampleEvidence(
        item=ended.item,
        scores=(),
        error=ended.error,
        usage=ended.usage,
        stop_reason=ended.stop_reason,
        answered=ended.answered,
        limit=ended.limit,
        latency_ms=round(1000 * (ended.time - ended.started)),
        calls_without_usage=int(ended.error is None and ended.usage is None and ended.usage_problem is None),
        usage_problem=ended.usage_problem,
        no_content=ended.no_content,
    )


def _cut(journal: Journal) -> Iterator[SampleEvidence]:
    """Items that were being asked when the attempt ended: by the user, or by a death."""
    died = journal.status == "started"
    for item in journal.in_flight:
        fault = Fault("Interrupted", "the process ended before this item did")
        yield SampleEvidence(item, (), fault, None, None, False, None, None, interrupted=not died, in_flight=died)


def _calls(journal: Journal) -> Iterator[ProviderAttempt]:
    """Every call that was begun, in order, and how it ended."""
    cut: CallState = "lost" if journal.status == "started" else "interrupted"
    for item, begun in journal.begun.items():
        ended = journal.ended.get(item)
        if ended is None:
            yield ProviderAttempt(item, cut, begun.prompt, begun.messages, begun.time, None)
        else:
            yield ProviderAttempt(
                item=item,
                state="answered" if ended.error is None else "failed",
                sample=begun.prompt,
                messages=begun.messages,
                started=ended.started,
                ended=ended.time,
                request_id=ended.request_id,
                served=ended.served,
            )


def most_at_once(spans: Iterable[tuple[float, float]]) -> int | None:
    """Return the most items in flight at any time, None without any."""
    edges = sorted(edge for start, end in spans for edge in ((end, -1), (start, 1)))
    most = running = 0
    for _, step in edges:
        running += step
        most = max(most, running)
    return most or None
