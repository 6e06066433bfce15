"""Execute: work off a launch, one attempt per run, each fault recorded with its own run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from tamesu.base.errors import BudgetRefused, NotVisible, PaymentNeeded, Refused, RunHeld, StorageFull, UsageError
from tamesu.base.model.evidence import AttemptRecord, Fault, RunRecord
from tamesu.base.model.manifest import EvalRef
from tamesu.base.model.plan import RunSpec
from tamesu.core.planning import Retries
from tamesu.core.slots import RunEvidence, reopened_slot, slot
from tamesu.edge.backends.protocol import Backend, backend
from tamesu.edge.credentials import Access
from tamesu.edge.store.evidence import read_attempts
from tamesu.edge.store.locks import held
from tamesu.edge.store.paths import Project, RunPaths
from tamesu.edge.store.places import places_held
from tamesu.edge.store.records import read_record
from tamesu.stages.access import read_accesses
from tamesu.stages.attempts import Invocation, adopt, begin, close, make_request, reserve, sweep
from tamesu.stages.freeze import read_spec
from tamesu.stages.images import verified_images
from tamesu.stages.ingest import Extent, ingest_run

_RUN_PATIENCE_SECONDS = 5.0
_ENDPOINT_PATIENCE_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class LaunchOrder:
    """A launch as the plan froze it: which runs, who pays, and whether final failures are asked again."""

    id: str
    ref: EvalRef
    runs: tuple[str, ...]
    payer: Invocation
    retries: Retries


def execute_launch(
    project: Project, order: LaunchOrder, tell: Callable[[str], None], warn: Callable[[str], None]
) -> None:
    """Make one attempt at every run of a launch that still owes something.

    A run that may not be paid for, or that another process holds, is warned about and left as it is.
    Raises KeyboardInterrupt after the attempt under way was closed.
    """
    paths = project.eval(order.ref)
    specs = [read_spec(paths.run(run_id)) for run_id in order.runs]
    engine = backend(specs[0].backend)
    accesses = read_accesses(project, specs)
    engine.isolate(project.state / "launches" / order.id)
    sweep(project, engine, order.ref)
    with ExitStack() as stack:
        for endpoint, (wanted, cap) in sorted(_places(specs).items()):
            stack.enter_context(places_held(project, endpoint, wanted, cap, _ENDPOINT_PATIENCE_SECONDS))
        for spec in specs:
            try:
                _execute_run(project, engine, spec, order, accesses.get(spec.provider), tell)
            except (PaymentNeeded, BudgetRefused, RunHeld, NotVisible) as error:
                warn(str(error))


def _places(specs: Sequence[RunSpec]) -> Mapping[str, tuple[int, int | None]]:
    """Return how many places the runs want at each endpoint, and its cap; they are worked off one after another."""
    wanted = {spec.endpoint: 0 for spec in specs}
    for spec in specs:
        wanted[spec.endpoint] = max(wanted[spec.endpoint], spec.concurrency)
    return {spec.endpoint: (wanted[spec.endpoint], spec.max_connections) for spec in specs}


def _execute_run(
    project: Project,
    engine: Backend,
    spec: RunSpec,
    order: LaunchOrder,
    access: Access | None,
    tell: Callable[[str], None],
) -> None:
    with held(project.lock(spec.run_id), spec.run_id, _RUN_PATIENCE_SECONDS):
        attempt = _attempt(project, engine, spec, order, access)
    if attempt is not None:
        tell(_line(spec, attempt))
        if attempt.state == "interrupted":
            raise KeyboardInterrupt


def _attempt(
    project: Project, engine: Backend, spec: RunSpec, order: LaunchOrder, access: Access | None
) -> AttemptRecord | None:
    """Make the run's next attempt, after closing and ingesting what an earlier process left."""
    paths = project.eval(spec.ref)
    adopt(project, engine, spec)
    if _not_ingested(paths.run(spec.run_id)):
        ingest_run(project, engine, spec, Extent.NEW)
    owed = _pending(project, spec, order.retries)
    if not owed.items:
        return None
    images = verified_images(spec)
    reserve(project, spec, owed.attempt, len(owed.items), order.payer)
    request = make_request(project, spec, owed.attempt, owed.items, access)
    begin(project, request)
    try:
        fault = engine.execute(request)
    except (Refused, StorageFull, UsageError) as error:
        close(project, engine, request, Fault(type(error).__name__, str(error)), survived=True, images=images)
        raise
    return close(project, engine, request, fault, survived=True, images=images)


def _not_ingested(run: RunPaths) -> bool:
    """Return whether a closed attempt is missing from run.yml; tries and items are counted from there."""
    closed = [f"{record.attempt:02d}" for _, record in read_attempts(run)]
    known = read_record(run.record, RunRecord).attempts if run.record.exists() else {}
    return any(number not in known for number in closed)


@dataclass(frozen=True, slots=True)
class _Owed:
    attempt: int
    items: tuple[str, ...]


def _pending(project: Project, spec: RunSpec, retries: Retries) -> _Owed:
    run = project.eval(spec.ref).run(spec.run_id)
    attempts = tuple(record for _, record in read_attempts(run))
    record = read_record(run.record, RunRecord) if run.record.exists() else None
    known = {} if record is None else dict(record.attempts)
    evidence = RunEvidence(record=record, attempts=attempts, attempt_digests=known)
    judge = reopened_slot if retries is Retries.AGAIN else slot
    found = judge(spec, evidence)
    return _Owed(found.next_attempt, found.pending)


def _line(spec: RunSpec, attempt: AttemptRecord) -> str:
    label = f"{spec.model} x {spec.arm} rep {spec.repetition}"
    good = len(attempt.finished) - attempt.failed
    parts = [f"{label}: attempt {attempt.attempt} {attempt.state}, {good}/{len(attempt.asked)} items good"]
    if attempt.failed:
        parts.append(f"{attempt.failed} failed")
    if spec.paid:
        parts.append(f"{attempt.spent_usd:.4f} USD")
    reserved = spec.exposure_usd(len(attempt.asked))
    if attempt.spent_usd > reserved + 1e-9:
        parts.append(f"more than the {reserved:.4f} USD that were reserved (a later call was larger than the first)")
    recorded = " (recorded)" if spec.provider == "replay" else ""
    why = f": {attempt.error or attempt.failure}" if attempt.error or attempt.failure else ""
    return f"{', '.join(parts)}{recorded}{why}"


def ingest_launch(project: Project, order: LaunchOrder) -> None:
    """Ingest every run of a launch that was ever begun, first closing what an earlier process left open."""
    paths = project.eval(order.ref)
    specs: Sequence[RunSpec] = [read_spec(paths.run(run_id)) for run_id in order.runs]
    engine = backend(specs[0].backend)
    engine.isolate(project.state / "launches" / order.id)
    for spec in specs:
        with held(project.lock(spec.run_id), spec.run_id, _RUN_PATIENCE_SECONDS), suppress(NotVisible):
            adopt(project, engine, spec)
            if any(read_attempts(paths.run(spec.run_id))):
                ingest_run(project, engine, spec, Extent.NEW)
