"""What the call log says of each call that the native backend made, and which of them it does not say yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from tamesu.base.canonical import Json, digest
from tamesu.base.model.evidence import Fault, SampleEvidence
from tamesu.base.model.plan import RunSpec
from tamesu.base.model.provider_attempt import ProviderAttempt
from tamesu.core.pricing import run_sample_cost
from tamesu.core.response_schema import SCHEMA

PROVIDER_ATTEMPT = "provider_attempt"


def told_calls(events: Iterable[Mapping[str, Json]], attempt: int) -> frozenset[str]:
    """Return the items whose call of an attempt stands in a call log: one call is told once."""
    told = (one for one in events if one.get("event") == PROVIDER_ATTEMPT and one.get("attempt") == attempt)
    return frozenset(str(one.get("item")) for one in told)


def call_fields(
    spec: RunSpec,
    attempt: int,
    calls: Sequence[ProviderAttempt],
    samples: Mapping[str, SampleEvidence],
    at_once: float | None,
) -> Iterator[dict[str, Json]]:
    """Yield the fields of one event per call; `spec` carries the price of the attempt, `samples` what calls yielded.

    `at_once` is how many samples were served at once on average, which shares the rent of an endpoint.
    """
    parameters = dict(spec.parameters)
    schema = parameters.get(SCHEMA)
    same: dict[str, Json] = {
        "attempt": attempt,
        "model": spec.model_uri,
        "recorded": spec.provider == "replay",
        "parameters": digest(parameters),
        "schema": None if schema is None else digest(schema),
    }
    for call in calls:
        yield {**same, **_own(spec, call, samples[call.item], at_once or spec.concurrency)}


def _own(spec: RunSpec, call: ProviderAttempt, sample: SampleEvidence, at_once: float) -> dict[str, Json]:
    ended = call.ended is not None
    return {
        "item": call.item,
        "state": call.state,
        "sample": call.sample,
        "prompt": call.messages,
        "started": _moment(call.started),
        "ended": None if call.ended is None else _moment(call.ended),
        "latency_ms": sample.latency_ms,
        "request_id": call.request_id,
        "served": call.served,
        "stop_reason": sample.stop_reason,
        "usage": None if sample.usage is None else asdict(sample.usage),
        "cost_usd": run_sample_cost(spec, sample, at_once) if ended else None,
        "error": _error(sample),
    }


def _error(sample: SampleEvidence) -> Json:
    """A call that was answered with token counts that cannot be has a fault as well."""
    problem = sample.usage_problem
    fault = sample.error or (None if problem is None else Fault("ImpossibleUsage", problem))
    return None if fault is None else asdict(fault)


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
