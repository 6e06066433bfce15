"""Rescore: a run ingested again from its logs or, where those are not, its built-in checks from stored outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tamesu.base.canonical import Json, digest_bytes
from tamesu.base.errors import EvidenceError, LogAbsent, LogRefused
from tamesu.base.model.evidence import ItemEntry, ItemResult, RunRecord
from tamesu.base.model.plan import FrozenDataset, RunSpec
from tamesu.core.corrections import Correction
from tamesu.core.rescore import as_started, checked_again, was_checked
from tamesu.core.slots import record_problem
from tamesu.core.tasks import OUTPUT, built_in_checks
from tamesu.edge.backends.chosen import backend
from tamesu.edge.store.digests import DigestCache, file_digest
from tamesu.edge.store.evidence import read_evidence
from tamesu.edge.store.journal import CallEvent, log_events
from tamesu.edge.store.paths import Project, RunPaths
from tamesu.edge.store.records import dump_record, parse_record
from tamesu.stages.clock import now
from tamesu.stages.freeze import read_spec
from tamesu.stages.ingest import Extent, ingest, write_run_record
from tamesu.stages.replacing import replace_result


@dataclass(frozen=True, slots=True)
class Rescored:
    """A run after its checks were made again; `stale` are lines about items whose files are not what was recorded.

    `corrections` are the results that came out otherwise than they were recorded.
    """

    record: RunRecord
    from_outputs: bool = False
    stale: tuple[str, ...] = ()
    corrections: tuple[Correction, ...] = ()


def rescore_run(project: Project, spec: RunSpec, dataset: FrozenDataset, cache: DigestCache) -> Rescored:
    """Return a run after everything of it was computed again; the caller holds the run.

    `spec` and `dataset` are those of the plan, which count only where nothing frozen is here. Raises EvidenceError for
    evidence that does not verify, LogAbsent when neither a log nor a built-in check can say anything anew.
    """
    run = project.eval(spec.ref).run(spec.run_id)
    try:
        frozen = read_spec(run)
        made = ingest(project, backend(frozen.backend), frozen, Extent.ALL)
        return Rescored(made.record, corrections=made.corrections)
    except LogAbsent:
        if not built_in_checks(spec.task):
            raise
    return _from_outputs(project, spec, dataset, cache)


class _Changed(Exception):
    """A file of an item that is not what was recorded of it."""


def _from_outputs(project: Project, spec: RunSpec, dataset: FrozenDataset, cache: DigestCache) -> Rescored:
    evidence = read_evidence(project, spec, cache)
    problem = record_problem(spec, evidence)
    if problem is not None:
        raise LogRefused(problem)
    if evidence.record is None:
        raise EvidenceError(evidence.problem or "run.yml is not here; restore it from version control")
    record, run = evidence.record, project.eval(spec.ref).run(spec.run_id)
    started = as_started(spec, record)
    expected: Mapping[str, Json] = {sample.item: sample.expected for sample in dataset.samples}
    entries: dict[str, ItemEntry] = {}
    events: list[tuple[CallEvent, str, Mapping[str, Json]]] = []
    call_log = project.eval(spec.ref).call_log(spec.run_id)
    stale, corrections = [], []
    for name, entry in record.items.items():
        try:
            result = _checked_again(run, started, name, entry, expected.get(name))
        except _Changed as changed:
            stale.append(str(changed))
            continue
        if result is not None:
            corrections.append(replace_result(run.result(name), result, call_log))
            entries[name] = replace(entry, result=digest_bytes(dump_record(result)))
            events.append(("item_finished", now(), {"item": name, "state": result.state, "attempt": result.attempt}))
    made = replace(record, items={**record.items, **entries})
    log_events(call_log, events)
    write_run_record(project, spec, made)
    corrected = tuple(correction for correction in corrections if correction is not None)
    return Rescored(made, True, tuple(stale), corrected)


def _checked_again(run: RunPaths, spec: RunSpec, name: str, entry: ItemEntry, expected: Json) -> ItemResult | None:
    """Return an item's result with its checks made anew, None when it stays what it is. Raises _Changed."""
    place = run.result(name)
    known = parse_record(_verified(run, place, entry.result), ItemResult, str(place))
    contents = {path: _verified(run, run.item(name) / path, sha256) for path, sha256 in entry.artifacts.items()}
    if not was_checked(known):
        return None
    output = next((artifact for artifact in known.artifacts if artifact.role == OUTPUT), None)
    made = checked_again(spec, known, expected, None if output is None else contents[output.path])
    return None if made == known else made


def _verified(run: RunPaths, path: Path, sha256: str) -> bytes:
    """Return the bytes of a file that is what the inventory says. Raises _Changed."""
    where = path.relative_to(run.folder).as_posix()
    try:
        file_digest(path)  # refuses what is no regular file, which reading might wait for
        content = path.read_bytes()
    except OSError as error:
        raise _Changed(f"{where}: {error.strerror}; restore it from version control") from None
    if digest_bytes(content) != sha256:
        raise _Changed(f"{where}: is not what was recorded, so nothing is scored of it; restore it")
    return content
