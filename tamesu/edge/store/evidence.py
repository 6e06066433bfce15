"""Reading what lies on disk for a run, and whether it verifies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from tamesu.base.errors import EvidenceError, shown
from tamesu.base.model.evidence import AttemptRecord, RunRecord
from tamesu.base.model.manifest import EvalRef
from tamesu.base.model.plan import FoundRun, RunSpec, Stray
from tamesu.core.slots import RunEvidence
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.inside import is_name, stays_inside
from tamesu.edge.store.locks import holder
from tamesu.edge.store.parsed import read_run_record, read_wire_digests
from tamesu.edge.store.paths import EvalPaths, Project, RunPaths
from tamesu.edge.store.records import read_record
from tamesu.edge.store.runs import check_sum, restoring


def read_evidence(project: Project, spec: RunSpec, cache: DigestCache) -> RunEvidence:
    """Return the evidence of a planned run, verified against its inventory."""
    paths = project.eval(spec.ref)
    run = paths.run(spec.run_id)
    held_by = holder(project.lock(spec.run_id))
    if not run.folder.is_dir():
        return RunEvidence(holder=held_by)
    try:
        attempts = dict(read_attempts(run))
        record = read_run_record(project, run, cache) if run.record.exists() else None
        if record is not None:
            check_sum(run, record, tuple(attempts.values()))
        problem = None if record is None else inventory_problem(run, record, cache)
        problem = problem or _wire_problem(project, run, attempts.values(), cache)
        digests = {path.stem: cache.digest(path) for path in attempts}
    except EvidenceError as error:
        return RunEvidence(holder=held_by, problem=str(error).replace(f"{project.root}/", ""))
    except OSError as error:
        place = project.relative(Path(error.filename))
        return RunEvidence(holder=held_by, problem=f"{place}: {error.strerror}; restore it")
    return RunEvidence(
        record=record,
        attempts=tuple(attempts.values()),
        attempt_digests=digests,
        unclosed=held_by is None and bool(unclosed_attempts(paths, spec.run_id, attempts.values())),
        holder=held_by,
        problem=problem,
        logs_absent=any(a.log is not None and not (run.folder / a.log).exists() for a in attempts.values()),
    )


def read_attempts(run: RunPaths) -> Iterator[tuple[Path, AttemptRecord]]:
    """Yield the closed attempts of a run in order."""
    for path in sorted(run.attempts.glob("[0-9]*.yml")):
        yield path, read_record(path, AttemptRecord)


def unclosed_attempts(paths: EvalPaths, run_id: str, closed: Iterable[AttemptRecord]) -> list[int]:
    """Return the attempts that were begun (their dataset lies there) and never closed."""
    numbers = {attempt.attempt for attempt in closed}
    begun = paths.run(run_id).private.glob("attempt-[0-9]*.jsonl")
    return sorted({int(path.stem.removeprefix("attempt-")) for path in begun} - numbers)


def inventory_problem(run: RunPaths, record: RunRecord, cache: DigestCache) -> str | None:
    """Return a line about the first file that differs from the inventory of run.yml, None when none does."""
    for name, entry in record.items.items():
        files = [("result.yml", entry.result), *entry.artifacts.items()]
        for relative, sha256 in files:
            place = f"items/{name}/{relative}"
            if not is_name(name) or not stays_inside(relative):
                return f"{shown(place)}: leads out of its run; restore run.yml from its source"
            try:
                same = cache.digest(run.item(name) / relative) == sha256
            except OSError:
                return f"{place}: is missing; {restoring(run, record)}"
            if not same:
                return f"{place}: differs from its inventory; {restoring(run, record)}"
    return None


def _wire_problem(project: Project, run: RunPaths, attempts: Iterable[AttemptRecord], cache: DigestCache) -> str | None:
    """Return a line about requests that are not what their attempt recorded; a package leaves wire.jsonl out."""
    recorded = {a.attempt: a.wire.sha256 for a in attempts if a.wire is not None and a.wire.sha256 is not None}
    if not recorded or not run.wire.exists():
        return None
    found = read_wire_digests(project, run, cache)
    for attempt, sha256 in recorded.items():
        if found.get(attempt) != sha256:
            return f"wire.jsonl: differs from what attempt {attempt} recorded; restore it from version control"
    return None


def other_records(project: Project, ref: EvalRef, planned: Iterable[str], cache: DigestCache) -> tuple[RunRecord, ...]:
    """Return the records of runs on disk that the plan does not name; unreadable ones are left out."""
    known = set(planned)
    found = []
    for path in sorted(project.eval(ref).runs.glob("*/run.yml")):
        if path.parent.name in known:
            continue
        try:
            found.append(read_run_record(project, RunPaths(path.parent), cache))
        except (EvidenceError, OSError):
            continue
    return tuple(found)


def damaged_others(project: Project, ref: EvalRef, planned: Iterable[str], cache: DigestCache) -> tuple[FoundRun, ...]:
    """Return the runs that the plan does not name and whose run.yml does not say what it said, each with its line."""
    known = set(planned)
    found = []
    for path in sorted(project.eval(ref).runs.glob("*--*/run.yml")):
        if path.parent.name in known:
            continue
        try:
            read_run_record(project, RunPaths(path.parent), cache)
        except (EvidenceError, OSError) as error:
            line = str(error).replace(f"{project.root}/", "")
            found.append(FoundRun(path.parent.name, "damaged", (line,), 0.0, "kept, never counted"))
    return tuple(found)


def held_elsewhere(project: Project, ref: EvalRef, planned: Iterable[str]) -> tuple[Stray, ...]:
    """Return the runs on disk that a live process holds although the plan does not name them."""
    known = set(planned)
    folders = (path for path in sorted(project.eval(ref).runs.glob("*--*")) if path.name not in known)
    found = ((path.name, holder(project.lock(path.name))) for path in folders)
    return tuple(Stray(name, who) for name, who in found if who is not None)
