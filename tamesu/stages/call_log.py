"""Calls of a native attempt in the call log, derived from its journal: a death before they were told loses none."""

from __future__ import annotations

from tamesu.base.model.evidence import AttemptRecord
from tamesu.base.model.plan import RunSpec
from tamesu.core.ingest import by_item
from tamesu.core.provider_attempts import call_fields, told_calls
from tamesu.edge.backends.protocol import LogReading
from tamesu.edge.store.journal import log_events, read_events
from tamesu.edge.store.paths import Project
from tamesu.stages.clock import now


def tell_calls(project: Project, spec: RunSpec, record: AttemptRecord, reading: LogReading) -> None:
    """Append one event per call of a closed attempt that the run's call log does not hold yet; idempotent.

    `spec` carries the price of the attempt. The caller holds the run.
    """
    if not reading.provider_attempts:
        return
    path = project.eval(spec.ref).call_log(spec.run_id)
    told = told_calls(read_events(path), record.attempt)
    owed = [call for call in reading.provider_attempts if call.item not in told]
    fields = call_fields(spec, record.attempt, owed, by_item(reading.samples), reading.samples_at_once)
    log_events(path, [("provider_attempt", now(), one) for one in fields])
