"""Ingest: from the closed attempts of a run to result.yml of each item, and run.yml last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

from tamesu.base.canonical import Json, digest_bytes
from tamesu.base.errors import EvidenceError, FrameworkFault, LogAbsent, LogRefused
from tamesu.base.model.evidence import (
    Artifact,
    AttemptRecord,
    ExecutionRecord,
    Fault,
    IdentityRecord,
    ItemEntry,
    ItemResult,
    LogEntry,
    Outcome,
    RoleRecord,
    RunRecord,
    RunState,
    SampleEvidence,
)
from tamesu.base.model.plan import RoleRun, RunSpec
from tamesu.core.artifacts import missing_roles
from tamesu.core.attempts import attempts_used
from tamesu.core.corrections import Correction
from tamesu.core.identity import ADAPTER_VERSION
from tamesu.core.ingest import StagedOutput, by_item, check_samples, ingest_item
from tamesu.core.outcome import review_outcome
from tamesu.core.slots import is_final
from tamesu.core.speed import speed_remarks
from tamesu.core.tasks import built_in_checks, others_stage_beside_reply
from tamesu.edge.backends.protocol import Backend, LogReading
from tamesu.edge.store.digests import file_digest
from tamesu.edge.store.evidence import read_attempts
from tamesu.edge.store.files import full_disk_named, write_atomic
from tamesu.edge.store.journal import CallEvent, log_event, log_events
from tamesu.edge.store.paths import Project, RunPaths
from tamesu.edge.store.records import dump_record
from tamesu.edge.store.runs import read_run
from tamesu.edge.store.seal import dump_sealed, dump_unsealed
from tamesu.edge.store.staging import collect, read_kept, read_staging
from tamesu.stages.attempts import counted_attempts, make_request
from tamesu.stages.built_in import checked, expectations
from tamesu.stages.call_log import tell_calls
from tamesu.stages.clock import now, seconds_between
from tamesu.stages.replacing import replace_result


class Extent(StrEnum):
    """Which attempts are ingested: those that run.yml does not know yet, or all of them again."""

    NEW = "new"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class _Pace:
    """What the logs say about speed: the most samples in flight, and the working time of all samples, in seconds."""

    concurrency: int | None = None
    busy_seconds: float | None = None

    def with_log(self, reading: LogReading) -> _Pace:
        times = [sample.latency_ms for sample in reading.samples if sample.latency_ms is not None]
        busy = self.busy_seconds if not times else round((self.busy_seconds or 0.0) + sum(times) / 1000, 3)
        return _Pace(max(filter(None, (self.concurrency, reading.concurrency_reached)), default=None), busy)


@dataclass(frozen=True, slots=True)
class Ingested:
    """A run as ingested, and the results of it that say otherwise than what stood there of the same attempt."""

    record: RunRecord
    corrections: tuple[Correction, ...]


def ingest_run(project: Project, backend: Backend, spec: RunSpec, extent: Extent) -> RunRecord:
    """Return the run as `ingest` makes it."""
    return ingest(project, backend, spec, extent).record


def ingest(project: Project, backend: Backend, spec: RunSpec, extent: Extent) -> Ingested:
    """Write item results and run.yml from the closed attempts; the caller holds the run.

    Idempotent. A log that cannot be mapped to the asked items makes the run failed, as a FrameworkFault in
    run.yml; nothing of that log is ingested.
    Raises LogAbsent and LogRefused, for which nothing is written.
    """
    paths = project.eval(spec.ref)
    run = paths.run(spec.run_id)
    attempts = [record for _, record in read_attempts(run)]
    known = _previous(run) if extent is Extent.NEW else None
    _refuse_missing(counted_attempts(run), attempts)
    digests = {f"{record.attempt:02d}": file_digest(run.attempt(record.attempt)) for record in attempts}
    due = [r for r in attempts if known is None or known.attempts.get(f"{r.attempt:02d}") is None]
    entries: dict[str, ItemEntry] = {} if known is None else dict(known.items)
    pace = _Pace() if known is None else _Pace(known.execution.concurrency_reached, known.execution.busy_seconds)
    # a log that could not be mapped keeps the run failed until a later attempt is ingested
    error: Fault | None = None if known is None else known.error
    # a log that is refused must not leave the results of earlier attempts in the place of later ones
    read = [(record, _mapped(project, backend, spec, record)) for record in due]
    # what a later attempt says of an item stands; that of an earlier one must not lie there in between
    last = {item: r.attempt for r, reading in read if isinstance(reading, LogReading) for item in r.asked}
    corrections: list[Correction] = []
    for record, reading in read:
        if isinstance(reading, FrameworkFault):
            error = Fault("FrameworkFault", str(reading))
            log_event(paths.call_log(spec.run_id), "framework_error", now(), {"message": str(reading)})
            continue
        pace = pace.with_log(reading)
        tell_calls(project, _priced(spec, record), record, reading)
        results = _results(project, spec, record, attempts, reading)
        entries |= {item: _entry(result, dump_record(result)) for item, result in results.items()}
        standing = [result for item, result in results.items() if last[item] == record.attempt]
        corrections += _write_results(project, spec, standing)
        error = None
    made = _run_record(spec, attempts, digests, entries, error, pace)
    if known is not None:
        made = replace(made, identity=known.identity)  # judgement as of the start, whatever it is now
    write_run_record(project, spec, made)
    return Ingested(made, tuple(corrections))


def write_run_record(project: Project, spec: RunSpec, made: RunRecord) -> None:
    """Write run.yml, and tell the call log, unless it says the same already, sealed or by an early version."""
    paths = project.eval(spec.ref)
    place, content = paths.run(spec.run_id).record, dump_sealed(made)
    if place.exists() and place.read_bytes() in {content, dump_unsealed(made)}:
        return
    write_atomic(place, content)
    counts = {"state": made.state, "complete": made.complete, "failed": made.failed}
    log_event(paths.call_log(spec.run_id), "run_finished", now(), counts)


def _previous(run: RunPaths) -> RunRecord | None:
    return read_run(run) if run.record.exists() else None


def _refuse_missing(counted: Iterable[str], attempts: Sequence[AttemptRecord]) -> None:
    """Raise LogRefused when run.yml counts on an attempt whose record is not here: without it what was paid is owed."""
    here = {f"{record.attempt:02d}" for record in attempts}
    missing = sorted(set(counted) - here)
    if missing:
        lost = f"attempts/{missing[0]}.yml: is missing and run.yml counts on it"
        raise LogRefused(f"{lost}; restore it from version control")


def _mapped(project: Project, backend: Backend, spec: RunSpec, record: AttemptRecord) -> LogReading | FrameworkFault:
    """Return the log of an attempt, or why it cannot be mapped to what was asked."""
    try:
        return _reading(project, backend, spec, record)
    except FrameworkFault as fault:
        return fault


def _reading(project: Project, backend: Backend, spec: RunSpec, record: AttemptRecord) -> LogReading:
    """Return the log of an attempt after every check; an attempt without a log, or a corrupt one, has no samples."""
    run = project.eval(spec.ref).run(spec.run_id)
    if record.log is None or record.state == "corrupt":
        return LogReading(record.log_status or "none", (), None)
    log = run.folder / record.log
    if not log.exists():
        raise LogAbsent(f"{log}: the log is not here (a clone or package); item results stand as recorded")
    if file_digest(log) != record.sha256:
        raise LogRefused(f"{log}: was altered after attempt {record.attempt} recorded it; restore the log")
    backend.check_identity(log, make_request(project, spec, record.attempt, record.asked))
    reading = backend.read_log(log)
    check_samples(record.asked, [sample.item for sample in reading.samples])
    return reading


def _results(
    project: Project,
    spec: RunSpec,
    record: AttemptRecord,
    attempts: Sequence[AttemptRecord],
    reading: LogReading,
) -> dict[str, ItemResult]:
    """Return the result of every item that an attempt asked."""
    run = project.eval(spec.ref).run(spec.run_id)
    samples: Mapping[str, SampleEvidence] = by_item(reading.samples)
    used = attempts_used([attempt for attempt in attempts if attempt.attempt <= record.attempt])
    priced = _priced(spec, record)
    results: dict[str, ItemResult] = {}
    expected = expectations(run, record.attempt) if built_in_checks(spec.task) else {}
    for item in record.asked:
        staged = _staged(run, spec, record.attempt, item, samples.get(item))
        sample = checked(run, spec, samples.get(item), staged, expected.get(item))
        results[item] = ingest_item(
            priced, item, sample, staged, record.attempt, used.get(item, 0), reading.samples_at_once
        )
    return results


def _write_results(project: Project, spec: RunSpec, results: Iterable[ItemResult]) -> list[Correction]:
    """Write results and return what they correct; what is the same already is left alone."""
    paths = project.eval(spec.ref)
    call_log = paths.call_log(spec.run_id)
    events: list[tuple[CallEvent, str, Mapping[str, Json]]] = []
    corrections = []
    for result in results:
        place = paths.run(spec.run_id).result(result.item)
        if not place.exists() or place.read_bytes() != dump_record(result):
            corrections.append(replace_result(place, result, call_log))
            events += _item_events(result)
    log_events(call_log, events)
    return [correction for correction in corrections if correction is not None]


def _priced(spec: RunSpec, record: AttemptRecord) -> RunSpec:
    """Return the run with the prices of an attempt."""
    prices = record.role_prices
    roles = tuple(replace(role, price=prices.get(role.role, role.price)) for role in spec.roles)
    return replace(spec, price=record.price, roles=roles)


def _item_events(result: ItemResult) -> list[tuple[CallEvent, str, Mapping[str, Json]]]:
    counts = {"accepted": len(result.artifacts), "rejected": len(result.rejected_artifacts)}
    return [
        ("artifacts_written", now(), {"item": result.item, **counts}),
        ("item_finished", now(), {"item": result.item, "state": result.state, "attempt": result.attempt}),
    ]


def _staged(run: RunPaths, spec: RunSpec, attempt: int, item: str, sample: SampleEvidence | None) -> StagedOutput:
    """Collect what the scorer of a finished sample staged; an unfinished one staged nothing that counts."""
    folder = run.item(item)
    unfinished = sample is None or sample.interrupted or sample.in_flight
    root = run.private / "none" if unfinished else run.staging(attempt)
    if not (root / item).exists() and not (folder / "artifacts").exists():
        return StagedOutput(missing=missing_roles(spec.artifacts, ()), outcome=_nothing_to_review(spec))
    with full_disk_named(folder):
        folder.mkdir(parents=True, exist_ok=True)
        reply = read_kept(root, item) if others_stage_beside_reply(spec.task, spec.task_file) else None
        collected = collect(root, item, folder, spec.artifacts, reply)
    reviewed = review_outcome(
        spec.artifacts, collected.artifacts, lambda artifact: _content(folder, artifact), collected.rejected
    )
    return StagedOutput(
        artifacts=collected.artifacts,
        rejected=collected.rejected,
        missing=collected.missing,
        holds_reply=any(reply is None or entry in reply for entry in read_staging(root, item)),
        outcome=reviewed.outcome,
        output=reviewed.output,
    )


def _nothing_to_review(spec: RunSpec) -> Outcome:
    return review_outcome(spec.artifacts, (), lambda _artifact: b"").outcome


def _content(folder: Path, artifact: Artifact) -> bytes:
    return (folder / artifact.path).read_bytes()


def _entry(result: ItemResult, content: bytes) -> ItemEntry:
    return ItemEntry(
        state=result.state,
        retryable=result.retryable,
        attempts=result.attempts,
        sample=result.sample,
        result=digest_bytes(content),
        error=None if result.error is None else str(result.error)[:200],
        artifacts={artifact.path: artifact.sha256 for artifact in result.artifacts},
    )


def run_state(spec: RunSpec, entries: Mapping[str, ItemEntry], error: Fault | None) -> RunState:
    """Return the state of a run under the policy it started with; a plan judges by the policy of now."""
    complete = sum(entry.state == "complete" for entry in entries.values())
    if error is not None:
        return "failed"
    if any(name not in entries or not is_final(entries[name], spec.max_attempts) for name in spec.items):
        return "partial"
    failed = len(spec.items) - complete
    tolerated = complete > 0 and failed <= spec.policy.tolerate_failed * len(spec.items)
    return "complete" if tolerated else "failed"


def _run_record(
    spec: RunSpec,
    attempts: Sequence[AttemptRecord],
    digests: Mapping[str, str],
    entries: Mapping[str, ItemEntry],
    error: Fault | None,
    pace: _Pace,
) -> RunRecord:
    if not attempts:
        raise EvidenceError(f"{spec.run_id}: has no attempt to ingest; run `tamesu run`")
    complete = sum(entry.state == "complete" for entry in entries.values())
    return RunRecord(
        run_id=spec.run_id,
        eval=str(spec.ref),
        task=spec.task,
        provider=spec.provider,
        model=spec.model,
        arm=spec.arm,
        repetition=spec.repetition,
        state=run_state(spec, entries, error),
        planned=len(spec.items),
        complete=complete,
        failed=len(entries) - complete,
        spent_usd=round(sum(attempt.spent_usd + attempt.lost_usd for attempt in attempts), 9),
        started=attempts[0].started,
        ended=attempts[-1].ended,
        error=error,
        identity=_identity_record(spec),
        execution=_execution_record(spec, attempts, pace),
        attempts=digests,
        items={name: entries[name] for name in spec.items if name in entries},
    )


def _identity_record(spec: RunSpec) -> IdentityRecord:
    identity = spec.identity
    return IdentityRecord(
        version=identity.version,
        generation_digest=identity.generation_digest,
        scoring_digest=identity.scoring_digest,
        judgement_digest=identity.judgement_digest,
        specification_fingerprint=identity.specification_fingerprint,
        content_fingerprint=identity.content_fingerprint,
        generation=identity.generation,
        scoring=identity.scoring,
        judgement=identity.judgement,
        content={file.path: file.sha256 for file in identity.content},
    )


def _execution_record(spec: RunSpec, attempts: Sequence[AttemptRecord], pace: _Pace) -> ExecutionRecord:
    versions = attempts[-1].versions
    checks = [attempt.wire for attempt in attempts if attempt.wire is not None]
    limits: dict[str, Json] = {k: v for k, v in asdict(spec.limits).items() if v is not None}
    return ExecutionRecord(
        backend=spec.backend,
        inspect_version=versions["inspect_ai"],
        adapter_version=ADAPTER_VERSION,
        tamesu_version=versions["tamesu"],
        python_version=versions["python"],
        model_uri=spec.model_uri,
        base_url_origin=spec.base_url_origin,
        task_file=spec.task_file,
        task_function=spec.task_function,
        limits=limits,
        parameters=spec.parameters,
        retries=spec.retries,
        timeout_seconds=spec.timeout_seconds,
        concurrency=spec.concurrency,
        concurrency_reached=pace.concurrency,
        price=attempts[-1].price,
        recorded=spec.provider == "replay",
        logs=tuple(LogEntry(r.attempt, r.log, r.sha256, r.log_status) for r in attempts),
        busy_seconds=pace.busy_seconds,
        wall_seconds=_wall_seconds(attempts),
        wire=next((check.way for check in checks if check.way is not None), None),
        served=dict(sorted(sum((Counter(check.served) for check in checks), Counter()).items())),
        unverified=checks[-1].unverified if checks else (),
        remarks=tuple(
            f"attempt {attempt.attempt}: {remark}" for attempt in attempts for remark in speed_remarks(spec, attempt)
        ),
        roles={role.role: _role_record(role, attempts[-1]) for role in spec.roles},
        trusted_code=tuple(dict.fromkeys(word for attempt in attempts for word in attempt.trusted_code)),
    )


def _role_record(role: RoleRun, attempt: AttemptRecord) -> RoleRecord:
    return RoleRecord(
        model_uri=role.model_uri,
        base_url_origin=role.base_url_origin,
        parameters=role.parameters,
        price=attempt.role_prices.get(role.role, role.price),
        recorded=role.provider == "replay",
    )


def _wall_seconds(attempts: Sequence[AttemptRecord]) -> float | None:
    """An attempt that another process closed later says nothing about how long it took."""
    if any(record.adopted is not None for record in attempts):
        return None
    return round(sum(seconds_between(record.started, record.ended) for record in attempts), 3)
