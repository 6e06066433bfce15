"""Execute: work off a launch, one attempt per run, each fault recorded with its own run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tamesu.base.errors import (
    BudgetRefused,
    EvidenceError,
    NotVisible,
    PaymentNeeded,
    PreflightFailed,
    Refused,
    RunHeld,
    StorageFull,
    UsageError,
)
from tamesu.base.model.evidence import AttemptRecord, Fault
from tamesu.base.model.load import LoadSummary
from tamesu.base.model.manifest import EvalRef
from tamesu.base.model.plan import RunSpec
from tamesu.base.model.progress import EndpointAwaited
from tamesu.base.model.trust import TrustedCode
from tamesu.core.attempt_lines import attempt_begun, attempt_closed, beginning_line, closing_line
from tamesu.core.planning import Retries
from tamesu.core.roles import models_of
from tamesu.core.slots import RunEvidence, reopened_slot, slot
from tamesu.core.speed import speed_remarks
from tamesu.edge.backends.chosen import backend
from tamesu.edge.backends.protocol import AttemptRequest, Backend
from tamesu.edge.store.evidence import read_attempts
from tamesu.edge.store.locks import held
from tamesu.edge.store.paths import Project, RunPaths
from tamesu.edge.store.places import places_held
from tamesu.edge.store.progress import tell_progress
from tamesu.edge.store.runs import read_run
from tamesu.short_lived import loading
from tamesu.stages.attempts import adopt, begin, close, make_request, sweep
from tamesu.stages.clock import now
from tamesu.stages.freeze import read_spec
from tamesu.stages.images import verified_images
from tamesu.stages.ingest import Extent, ingest_run
from tamesu.stages.payment import Invocation, reserve
from tamesu.stages.trust import check_trust, note_trust

if TYPE_CHECKING:
    from tamesu.stages.launch_preflight import LaunchPreflight

_RUN_PATIENCE_SECONDS = 5.0
_ENDPOINT_PATIENCE_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class LaunchOrder:
    """A launch as the plan froze it: which runs, who pays, whether failures are asked again, the word for code.

    `limit_items` are asked of each run at most.
    """

    id: str
    ref: EvalRef
    runs: tuple[str, ...]
    payer: Invocation
    retries: Retries
    trusted: tuple[TrustedCode, ...] = ()
    limit_items: int | None = None


def execute_launch(
    project: Project, order: LaunchOrder, tell: Callable[[str], None], warn: Callable[[str], None]
) -> None:
    """Make one attempt at every run of a launch that still owes something.

    A run that may not be paid for, or that another process holds, is warned about and left as it is.
    Raises UntrustedCode before anything starts, KeyboardInterrupt after the attempt under way was closed.
    """
    paths = project.eval(order.ref)
    specs = [read_spec(paths.run(run_id)) for run_id in order.runs]
    check_trust(project, order.ref, specs, order.trusted)
    with loading():
        engine = backend(specs[0].backend)
        preflight = _preflight(project, engine, order, specs, tell)
    engine.isolate(project.state / "launches" / order.id)
    sweep(project, order.ref)
    with ExitStack() as stack:
        for endpoint, (wanted, cap) in sorted(_places(specs).items()):
            stack.enter_context(places_held(project, endpoint, wanted, cap, _ENDPOINT_PATIENCE_SECONDS))
        for spec in specs:
            try:
                _execute_run(project, engine, spec, order, preflight, tell)
            except (PaymentNeeded, BudgetRefused, PreflightFailed, RunHeld, NotVisible) as error:
                warn(str(error))


def _preflight(
    project: Project, engine: Backend, order: LaunchOrder, specs: Sequence[RunSpec], tell: Callable[[str], None]
) -> LaunchPreflight | None:
    """Return what checks and opens live models, read before the process gives up its environment.

    Recorded answers need none of it, and what asks an endpoint takes time to import.
    """
    if all(model.provider == "replay" for spec in specs for model in models_of(spec)):
        return None
    from tamesu.stages.access import endpoints_of, read_accesses
    from tamesu.stages.launch_preflight import LaunchPreflight

    def awaited(event: EndpointAwaited) -> None:
        tell(event.line)
        tell_progress(project.progress(order.payer.id), event)

    return LaunchPreflight(project, engine, order.payer, read_accesses(project, specs), endpoints_of(project), awaited)


def _places(specs: Sequence[RunSpec]) -> Mapping[str, tuple[int, int | None]]:
    """Return how many places the runs want at each endpoint, and its cap; they are worked off one after another."""
    models = [model for spec in specs for model in models_of(spec)]
    wanted = {model.endpoint: 0 for model in models}
    for model in models:
        wanted[model.endpoint] = max(wanted[model.endpoint], model.concurrency)
    return {model.endpoint: (wanted[model.endpoint], model.max_connections) for model in models}


def _execute_run(
    project: Project,
    engine: Backend,
    spec: RunSpec,
    order: LaunchOrder,
    preflight: LaunchPreflight | None,
    tell: Callable[[str], None],
) -> None:
    with held(project.lock(spec.run_id), spec.run_id, _RUN_PATIENCE_SECONDS):
        attempt = _attempt(project, engine, spec, order, preflight, tell)
        if attempt is not None and attempt.state != "interrupted":
            _ingest_at_once(project, engine, spec)
    if attempt is not None:
        tell(closing_line(spec, attempt))
        for remark in speed_remarks(spec, attempt):
            tell(f"  warning: {remark}")
        if attempt.state == "interrupted":
            raise KeyboardInterrupt


def _ingest_at_once(project: Project, engine: Backend, spec: RunSpec) -> None:
    """Ingest a run as soon as it is closed, in the process that knows Inspect; its results need not wait for others.

    What refuses its log is told by the job that ingests, which goes over every run of the launch again.
    """
    with suppress(EvidenceError):
        ingest_run(project, engine, spec, Extent.NEW)


def _attempt(
    project: Project,
    engine: Backend,
    spec: RunSpec,
    order: LaunchOrder,
    preflight: LaunchPreflight | None,
    tell: Callable[[str], None],
) -> AttemptRecord | None:
    """Make the run's next attempt, after closing and ingesting what an earlier process left."""
    paths = project.eval(spec.ref)
    adopt(project, engine, spec)
    if _not_ingested(paths.run(spec.run_id)):
        ingest_run(project, engine, spec, Extent.NEW)
    owed = _pending(project, spec, order)
    if not owed.items:
        return None
    images = verified_images(spec, paths.run(spec.run_id).sources)
    if preflight is not None:
        with loading():  # the probe imports the provider's client
            preflight.check(spec)
    reserve(project, spec, owed.attempt, len(owed.items), order.payer)
    file = project.progress(order.payer.id)
    accesses = {} if preflight is None else preflight.accesses
    request = replace(make_request(project, spec, owed.attempt, owed.items, accesses), progress=file)
    note_trust(project, request, order.trusted)
    begin(project, request)
    begun = attempt_begun(spec, owed.attempt, len(owed.items), now())
    tell(beginning_line(begun))
    tell_progress(file, begun)
    with nullcontext(list[LoadSummary]()) if preflight is None else preflight.sampled_load(spec) as load:
        try:
            fault = engine.execute(request)
        except StorageFull as error:
            raise StorageFull(f"{error}; {_lost_to_a_full_disk(project, engine, request, error, images)}") from None
        except (Refused, UsageError) as error:
            _close(project, engine, request, Fault(type(error).__name__, str(error)), images)
            raise
    return _close(project, engine, request, fault, images, next(iter(load), None))


def _lost_to_a_full_disk(
    project: Project, engine: Backend, request: AttemptRequest, error: StorageFull, images: Mapping[str, str]
) -> str:
    """Close an attempt whose answers could not be written, as far as there is space; return what it loses."""
    lost = "calls in flight and answers that could not be written are lost"
    try:
        record = _close(project, engine, request, Fault(type(error).__name__, str(error)), images)
    except StorageFull:
        return f"{lost}, and the next command charges what they may have cost"
    if record.calls_lost == 0 and set(record.asked) == set(record.finished):
        return "no call was in flight"
    return f"{lost}, and up to {record.lost_usd:.4f} USD is charged for them"


def _close(
    project: Project,
    engine: Backend,
    request: AttemptRequest,
    fault: Fault | None,
    images: Mapping[str, str],
    load: LoadSummary | None = None,
) -> AttemptRecord:
    record = close(project, engine, request, fault, survived=True, images=images, load=load)
    tell_progress(request.progress, attempt_closed(request.spec, record))
    return record


def _not_ingested(run: RunPaths) -> bool:
    """Return whether a closed attempt is missing from run.yml; tries and items are counted from there."""
    closed = [f"{record.attempt:02d}" for _, record in read_attempts(run)]
    known = read_run(run).attempts if run.record.exists() else {}
    return any(number not in known for number in closed)


@dataclass(frozen=True, slots=True)
class _Owed:
    attempt: int
    items: tuple[str, ...]


def _pending(project: Project, spec: RunSpec, order: LaunchOrder) -> _Owed:
    run = project.eval(spec.ref).run(spec.run_id)
    attempts = tuple(record for _, record in read_attempts(run))
    record = read_run(run) if run.record.exists() else None
    known = {} if record is None else dict(record.attempts)
    evidence = RunEvidence(record=record, attempts=attempts, attempt_digests=known)
    judge = reopened_slot if order.retries is Retries.AGAIN else slot
    found = judge(spec, evidence)
    return _Owed(found.next_attempt, found.pending[: order.limit_items])


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
