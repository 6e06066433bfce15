"""Attempts: money reserved, the attempt begun, its log closed, the record written, money settled.

The order is what makes a death at any moment harmless: reserve, then begin (the attempt's dataset appears),
then execute, then move the log, then write the record, then settle. What lies there tells where it stopped.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType

from tamesu import __version__
from tamesu.base.canonical import digest_bytes
from tamesu.base.errors import EvidenceError, FrameworkFault, NotVisible, RunHeld
from tamesu.base.model.evidence import AttemptRecord, Fault, LedgerEntry, RunRecord
from tamesu.base.model.load import LoadSummary
from tamesu.base.model.manifest import EvalRef
from tamesu.base.model.plan import RunSpec
from tamesu.base.model.wire import WireCheck
from tamesu.core.attempts import Closing, attempt_state, close_attempt
from tamesu.core.ledger import open_reservations
from tamesu.core.roles import models_of
from tamesu.core.wire import check_wire, unanswered_calls, unanswered_role_calls
from tamesu.edge.backends.chosen import backend
from tamesu.edge.backends.protocol import AttemptRequest, Backend, ClosedLog, LogReading
from tamesu.edge.credentials import Access
from tamesu.edge.store.digests import file_digest
from tamesu.edge.store.evidence import read_attempts, unclosed_attempts
from tamesu.edge.store.files import write_exclusive
from tamesu.edge.store.journal import append_entry, ledger_held, log_event, read_ledger
from tamesu.edge.store.locks import held
from tamesu.edge.store.paths import Project, RunPaths
from tamesu.edge.store.records import dump_record, read_record
from tamesu.edge.store.wire import WireLines, read_wire
from tamesu.stages.clock import now, seconds_since
from tamesu.stages.freeze import read_spec
from tamesu.stages.images import pinned_images
from tamesu.stages.trust import noted_trust

_VISIBLE_SECONDS = 5.0
_POLL_SECONDS = 0.1
_LATEST_SECONDS = 900
_TASK_ENDED_IT = "SystemExit"


def begin(project: Project, request: AttemptRequest) -> None:
    """Write the attempt's own dataset: exactly the lines of the asked items; its presence means 'begun'."""
    asked = set(request.asked)
    lines = request.paths.dataset.read_bytes().split(b"\n")
    chosen = [line for line, item in _lines_by_item(lines) if item in asked]
    write_exclusive(request.paths.attempt_dataset(request.attempt), b"".join(line + b"\n" for line in chosen))
    log_event(
        project.eval(request.spec.ref).call_log(request.spec.run_id),
        "run_started",
        now(),
        {"attempt": request.attempt, "items": len(asked)},
    )


def _lines_by_item(lines: Sequence[bytes]) -> list[tuple[bytes, str]]:
    return [(line, str(json.loads(line)["id"])) for line in lines if line.strip()]


def asked_items(request_dataset: bytes) -> tuple[str, ...]:
    """Return the items that an attempt's dataset holds, in order."""
    return tuple(item for _, item in _lines_by_item(request_dataset.split(b"\n")))


def close(
    project: Project,
    engine: Backend,
    request: AttemptRequest,
    fault: Fault | None,
    survived: bool,
    images: Mapping[str, str] | None = None,
    load: LoadSummary | None = None,
) -> AttemptRecord:
    """Close an attempt from whatever it left: log to its place, record, settlement. Idempotent."""
    engine.remove_survivors(request)
    closed = _visible_log(project, engine, request, ended_well=survived and fault is None)
    ended = _judged(engine, request, closed, survived)
    if fault is not None and fault.type == _TASK_ENDED_IT and closed.path is not None:
        # nobody else did, and it would do so again: it uses up a try of everything that was asked
        ended = replace(ended, verdict=replace(ended.verdict, used=request.asked))
    record = replace(
        _record(request, closed, ended),
        started=_started(project, request),
        adopted=None if survived else f"process {os.getpid()} on {socket.gethostname()}",
        error=closed.error or ended.error or fault,
        images={**pinned_images(request.spec), **(images or {})},
        load=load,
    )
    write_exclusive(request.paths.attempt(request.attempt), dump_record(record))
    log_event(
        project.eval(request.spec.ref).call_log(request.spec.run_id),
        "inspect_log",
        now(),
        {"attempt": record.attempt, "log": record.log, "sha256": record.sha256, "status": record.log_status},
    )
    settle(project, request.spec, record)
    os.chdir(request.paths.folder)  # the attempt's own folder may be the working directory
    shutil.rmtree(request.workdir, ignore_errors=True)
    return record


@dataclass(frozen=True, slots=True)
class _Ended:
    """What an attempt's log and requests say: the verdict, the reading behind it, and why the log cannot be read."""

    verdict: Closing
    reading: LogReading
    wire: WireCheck | None
    error: Fault | None


def _judged(engine: Backend, request: AttemptRequest, closed: ClosedLog, survived: bool) -> _Ended:
    reading, error = _reading(engine, closed)
    samples, at_once = reading.samples, reading.samples_at_once
    corrupt = closed.error is not None or error is not None
    state = "corrupt" if corrupt else attempt_state(closed.status, survived=survived, any_sample=bool(samples))
    wire = read_wire(request.paths.wire, request.attempt)
    unanswered = unanswered_calls(wire.requests, wire.replies, reading.calls)
    of_roles = unanswered_role_calls(wire.requests, wire.replies, reading.calls)
    # every request that left was seen, so what was in flight is known whatever the log lost
    known = closed.in_flight_known or any(one.way == "http" and one.role is None for one in wire.requests)
    verdict = close_attempt(request.spec, request.asked, samples, state, known, at_once, unanswered, of_roles)
    return _Ended(verdict, reading, _wire(request, wire, reading), error)


def _record(request: AttemptRequest, closed: ClosedLog, ended: _Ended) -> AttemptRecord:
    verdict = ended.verdict
    dataset = request.paths.attempt_dataset(request.attempt)
    return AttemptRecord(
        attempt=request.attempt,
        kind="generate",
        state=verdict.state,
        log=None if closed.path is None else closed.path.relative_to(request.paths.folder).as_posix(),
        sha256=None if closed.path is None else file_digest(closed.path),
        log_status=closed.status,
        dataset_sha256=digest_bytes(dataset.read_bytes()),
        started="",
        ended=now(),
        asked=request.asked,
        used=verdict.used,
        finished=verdict.finished,
        failed=verdict.failed,
        failure=verdict.failure,
        spent_usd=verdict.spent_usd,
        lost_usd=verdict.lost_usd,
        calls_lost=verdict.calls_lost,
        price=request.spec.price,
        wire=ended.wire,
        trusted_code=noted_trust(request.paths, request.attempt),
        concurrency_reached=ended.reading.concurrency_reached,
        role_prices={role.role: role.price for role in request.spec.roles},
        versions={
            "inspect_ai": str(request.spec.identity.generation["inspect_version"]),
            "python": platform.python_version(),
            "tamesu": __version__,
        },
    )


def _visible_log(project: Project, engine: Backend, request: AttemptRequest, ended_well: bool) -> ClosedLog:
    """Return the attempt's log, waiting for one that must be somewhere.

    An attempt that ended well or whose requests left has a log; on some file systems it is seen late. Raises
    NotVisible while it may still come, so that nothing is asked again; after that everything counts as lost.
    """
    deadline = time.monotonic() + _VISIBLE_SECONDS
    while (closed := engine.close_log(request)).path is None:
        sent = len(read_wire(request.paths.wire, request.attempt).requests)
        if not (ended_well or sent):
            return closed
        where = f"{request.spec.run_id}: the log of attempt {request.attempt}"
        if seconds_since(_started(project, request)) > _LATEST_SECONDS:
            return replace(closed, in_flight_known=False, error=Fault("MissingLog", f"{where} never came to be seen"))
        if time.monotonic() > deadline:
            raise NotVisible(
                f"{where} is not visible yet, although {sent} requests left; nothing is asked again before it is; "
                f"run again, {_LATEST_SECONDS // 60} minutes after its start it counts as lost"
            )
        time.sleep(_POLL_SECONDS)
    return closed


def _reading(engine: Backend, closed: ClosedLog) -> tuple[LogReading, Fault | None]:
    """Return what a log holds, and why it cannot be read."""
    nothing = LogReading("none", (), None)
    if closed.path is None or closed.error is not None:
        return nothing, None
    try:
        return engine.read_log(closed.path), None
    except FrameworkFault as error:
        return nothing, Fault("CorruptLog", str(error))


def _wire(request: AttemptRequest, lines: WireLines, reading: LogReading) -> WireCheck | None:
    """Compare what left with the plan; recorded answers leave nothing."""
    if all(model.provider == "replay" for model in models_of(request.spec)):
        return None
    return replace(check_wire(request.spec, lines.requests, lines.replies, reading.calls), sha256=lines.sha256)


def _started(project: Project, request: AttemptRequest) -> str:
    """The time of the reservation, which every attempt has."""
    entries = read_ledger(project.eval(request.spec.ref).ledger)
    times = [e.time for e in entries if (e.run_id, e.attempt) == (request.spec.run_id, request.attempt)]
    return times[0] if times else now()


def settle(project: Project, spec: RunSpec, record: AttemptRecord) -> None:
    """Release the reservation of a closed attempt and state what it cost; once, however often it is called."""
    ledger = project.eval(spec.ref).ledger
    with ledger_held(project):
        reserved = open_reservations(read_ledger(ledger)).get((spec.run_id, record.attempt))
        if reserved is None:
            return
        append_entry(
            ledger,
            LedgerEntry(
                "settled",
                now(),
                spec.run_id,
                record.attempt,
                reserved.invocation,
                spent_usd=record.spent_usd,
                lost_usd=record.lost_usd,
                samples=len(record.finished),
                unpriced=len(record.asked) if spec.unpriced and record.state != "faulted" else 0,
            ),
        )


def adopt(project: Project, engine: Backend, spec: RunSpec) -> tuple[AttemptRecord, ...]:
    """Close every attempt that an earlier process left open, and settle closed ones that were not."""
    paths = project.eval(spec.ref)
    run = paths.run(spec.run_id)
    closed = [record for _, record in read_attempts(run)]
    for record in closed:
        settle(project, spec, record)
    adopted = []
    # what run.yml counts on was closed once: its record is lost, and a new one would not say what it said
    counted = counted_attempts(run)
    for number in unclosed_attempts(paths, spec.run_id, closed):
        if f"{number:02d}" in counted:
            continue
        asked = asked_items(run.attempt_dataset(number).read_bytes())
        request = make_request(project, spec, number, asked)
        adopted.append(close(project, engine, request, None, survived=False))
    return tuple(adopted)


def counted_attempts(run: RunPaths) -> Mapping[str, str]:
    """Return the attempts that run.yml counts on, by number; a damaged one, which is made anew, counts on nothing."""
    try:
        return read_record(run.record, RunRecord).attempts if run.record.exists() else {}
    except EvidenceError:
        return {}


def make_request(
    project: Project,
    spec: RunSpec,
    attempt: int,
    asked: Sequence[str],
    accesses: Mapping[str, Access] = MappingProxyType({}),
) -> AttemptRequest:
    """Return one attempt with the folders that are its own; only an execution needs access to its models."""
    run: RunPaths = project.eval(spec.ref).run(spec.run_id)
    return AttemptRequest(
        spec=spec,
        paths=run,
        attempt=attempt,
        asked=tuple(asked),
        workdir=run.private / f"attempt-{attempt:02d}",
        replay_calls=project.replay_calls,
        access=accesses.get(spec.provider),
        role_accesses={role.role: accesses[role.provider] for role in spec.roles if role.provider in accesses},
    )


def left_open(project: Project, ref: EvalRef) -> bool:
    """Return whether a process left something open in an eval: an attempt without record, or a reservation."""
    paths = project.eval(ref)
    begun = paths.runs.glob("*/inspect/attempt-[0-9]*.jsonl")
    numbers = ((RunPaths(path.parent.parent), int(path.stem.removeprefix("attempt-"))) for path in begun)
    unclosed = any(not run.attempt(number).exists() for run, number in numbers)
    return unclosed or bool(open_reservations(read_ledger(paths.ledger)))


def sweep(project: Project, ref: EvalRef) -> None:
    """Close what dead processes left anywhere in an eval, runs that are stale by now included.

    Reservations whose attempt never began are released. Runs held by a live process are left alone.
    """
    paths = project.eval(ref)
    for dataset in sorted(paths.runs.glob("*/inspect/attempt-[0-9]*.jsonl")):
        run = RunPaths(dataset.parent.parent)
        number = int(dataset.stem.removeprefix("attempt-"))
        if run.attempt(number).exists() or not run.spec.exists():
            continue
        with suppress(RunHeld, NotVisible), held(project.lock(run.folder.name), run.folder.name, 0):
            spec = read_spec(run)
            adopt(project, backend(spec.backend), spec)
    for (run_id, attempt), entry in open_reservations(read_ledger(paths.ledger)).items():
        if attempt > 0 and paths.run(run_id).attempt_dataset(attempt).exists():
            continue
        # a probe whose process died may have been answered
        lost = entry.usd if attempt < 0 else 0.0
        with suppress(RunHeld), held(project.lock(run_id), run_id, 0), ledger_held(project):
            released = LedgerEntry("settled", now(), run_id, attempt, entry.invocation, lost_usd=lost)
            append_entry(paths.ledger, released)
