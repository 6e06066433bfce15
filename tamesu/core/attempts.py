"""Closing an attempt: what it used up, what it finished, and what it cost."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from tamesu.base.model.evidence import AttemptRecord, AttemptState, SampleEvidence
from tamesu.base.model.plan import RunSpec
from tamesu.core.pricing import known_sample_cost, unstated_calls
from tamesu.core.verdict import item_verdict

_NO_CALLS: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Closing:
    """The verdict on one attempt; see AttemptRecord for the fields."""

    state: AttemptState
    used: tuple[str, ...]
    finished: tuple[str, ...]
    failed: int
    failure: str | None
    spent_usd: float
    lost_usd: float
    calls_lost: int


def attempt_state(log_status: str | None, *, survived: bool, any_sample: bool) -> AttemptState:
    """Return how an attempt ended; `survived` says that its own process closes it.

    One that ended by itself without a single sample asked nothing: it is faulted and uses up no try.

    A recovered log says 'error', so after a death that word means nothing.
    """
    if log_status == "cancelled":
        return "interrupted"
    if survived and not any_sample:
        return "faulted"
    if log_status == "success" or (survived and log_status == "error"):
        return "finished"
    return "died"


def close_attempt(
    spec: RunSpec,
    asked: Sequence[str],
    samples: Sequence[SampleEvidence],
    state: AttemptState,
    in_flight_known: bool,
    samples_at_once: float | None = None,
    unanswered: Mapping[str, int] = _NO_CALLS,
    unanswered_roles: Mapping[str, int] = _NO_CALLS,
) -> Closing:
    """Return the verdict on an attempt from the samples its log holds.

    An attempt that ended by itself uses up one try of every item it asked; a death uses up one of what was
    finished or in flight; an interruption by the user only of what was finished. Calls whose usage never
    arrived are charged at their upper bound, `unanswered` ones by item included; `unanswered_roles` are those of
    further models.
    When nobody knows which items were in flight, as many as the
    concurrency allowed are charged at the full exposure of a sample; of a log that cannot be read, all.
    A sample whose usage cannot be is charged at the exposure of a sample, since its cost limit could not act.
    On a rented endpoint only time counts, shared by the samples served at once.
    """
    of_roles = Counter({item: count for item, count in unanswered_roles.items() if count > 0})
    open_calls = {item: unanswered.get(item, 0) + of_roles[item] for item in {*unanswered, *of_roles}}
    finished = tuple(s.item for s in samples if _is_finished(s))
    in_flight = tuple(s.item for s in samples if s.in_flight)
    if state == "finished":
        used = tuple(asked)
    elif state == "died":
        used = (*finished, *in_flight, *(item for item, count in open_calls.items() if count > 0))
    else:
        used = finished
    failures = _failures(spec, samples)
    unread = len(asked) - len(finished) if state in {"died", "corrupt"} and not in_flight_known else 0
    calls_lost, lost_usd = _losses(
        spec, samples, unread if state == "corrupt" else min(unread, spec.concurrency), open_calls
    )
    apart = of_roles.total() if spec.rented else 0  # what one's own model costs by the clock, another costs by the call
    at_once = samples_at_once or spec.concurrency
    costs = (known_sample_cost(spec, sample, at_once) for sample in samples)
    return Closing(
        state=state,
        used=_in_order(asked, used),
        finished=_in_order(asked, finished),
        failed=len(failures),
        failure=failures[0] if failures else None,
        spent_usd=round(math.fsum(costs), 9),
        lost_usd=round(lost_usd + apart * spec.largest_token_call_usd, 9) if spec.paid else 0.0,
        calls_lost=calls_lost + apart,
    )


def _is_finished(sample: SampleEvidence) -> bool:
    return not sample.interrupted and not sample.in_flight


def _failures(spec: RunSpec, samples: Sequence[SampleEvidence]) -> list[str]:
    """Return a line for each finished item that has no verdict but an error."""
    verdicts = ((sample.item, item_verdict(spec, sample)) for sample in samples if _is_finished(sample))
    return [f"{item}: {verdict.error}" for item, verdict in verdicts if verdict.error is not None]


def _in_order(asked: Sequence[str], some: Iterable[str]) -> tuple[str, ...]:
    chosen = set(some)
    return tuple(item for item in asked if item in chosen)


def _losses(
    spec: RunSpec, samples: Sequence[SampleEvidence], unknown: int, unanswered: Mapping[str, int]
) -> tuple[int, float]:
    """Calls whose cost nobody told, and their upper bound; `unknown` samples may have been in flight as well.

    A request that left for an item of which the log holds no sample was in flight when the process died.
    """
    calls = sum(_lost_calls(spec, sample, unanswered.get(sample.item, 0)) for sample in samples)
    logged = {sample.item for sample in samples}
    unlogged = sum(count for item, count in unanswered.items() if item not in logged and count > 0)
    calls += 0 if spec.rented else max(0, unlogged - unknown)
    usd = spec.exposure_usd(calls) if spec.rented else calls * spec.largest_token_call_usd
    if spec.priced_by_tokens:
        impossible = sum(sample.usage_problem is not None for sample in samples)
        calls += impossible
        usd += spec.exposure_usd(impossible)
    return calls + unknown, usd + spec.exposure_usd(unknown)


def _lost_calls(spec: RunSpec, sample: SampleEvidence, unanswered: int) -> int:
    """Calls whose cost nobody told; rent is known as soon as the time is."""
    cut = sample.interrupted or sample.in_flight
    if spec.rented:
        return int(cut and sample.latency_ms is None)
    return (unstated_calls(spec, sample) if spec.roles else sample.calls_without_usage) + max(int(cut), unanswered)


def attempts_used(attempts: Sequence[AttemptRecord]) -> Counter[str]:
    """Return how many of `max_attempts` each item has used up."""
    return Counter(item for attempt in attempts for item in attempt.used)
