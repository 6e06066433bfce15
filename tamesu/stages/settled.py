"""Settled: whether the evidence of a case is whole and nobody is at work on it, so that it can be handed on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tamesu.base.errors import EvidenceError, Refused, RunHeld
from tamesu.base.model.manifest import EvalRef
from tamesu.core.aftermath import describe
from tamesu.core.ledger import open_reservations
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.evidence import inventory_problem, read_attempts, unclosed_attempts
from tamesu.edge.store.journal import read_ledger
from tamesu.edge.store.locks import holder
from tamesu.edge.store.parsed import read_run_record
from tamesu.edge.store.paths import EvalPaths, Project, RunPaths

_GO_ON = "let `tamesu run` or `tamesu resume` close it first"


def check_settled(project: Project, case: str, cache: DigestCache) -> None:
    """Accept a case at rest.

    Raises RunHeld while a process holds something of it, Refused for what a death left open, EvidenceError for
    evidence that does not verify.
    """
    for ref in (ref for ref in project.refs() if ref.case == case):
        _at_rest(project, ref)
        paths = project.eval(ref)
        for run in _runs(paths):
            _closed(project, paths, run)
            _verified(project, run, cache)
        reserved = {ledger: open_reservations(read_ledger(ledger)) for ledger in (paths.ledger, paths.judge_ledger)}
        for file in _append_only(paths):
            if file.exists() and not file.read_bytes().endswith(b"\n"):
                raise Refused(f"{project.relative(file)}: its last line is torn; {_GO_ON}")
        for ledger, held in reserved.items():
            for run_id, attempt in held:
                where = project.relative(ledger)
                raise Refused(f"{where}: holds money for attempt {attempt} of {run_id}, which never ended; {_GO_ON}")


def _at_rest(project: Project, ref: EvalRef) -> None:
    locks = [project.judging_lock(ref), project.review_lock(ref)]
    locks += [project.lock(run.folder.name) for run in _runs(project.eval(ref))]
    for lock in locks:
        who = holder(lock)
        if who is not None:
            raise RunHeld(f"{ref}: is at work ({lock.stem}, {describe(who)}); wait for it or stop it")


def _runs(paths: EvalPaths) -> Iterator[RunPaths]:
    return (RunPaths(folder) for folder in sorted(paths.runs.glob("*--*")) if folder.is_dir())


def _closed(project: Project, paths: EvalPaths, run: RunPaths) -> None:
    closed = [attempt for _, attempt in read_attempts(run)]
    for attempt in unclosed_attempts(paths, run.folder.name, closed):
        raise Refused(f"{project.relative(run.folder)}: attempt {attempt} was begun and never closed; {_GO_ON}")
    if closed and not run.record.exists():
        raise Refused(f"{project.relative(run.folder)}: has attempts and no run.yml; {_GO_ON}")


def _verified(project: Project, run: RunPaths, cache: DigestCache) -> None:
    if not run.record.exists():
        return
    problem = inventory_problem(run, read_run_record(project, run, cache), cache)
    if problem is not None:
        raise EvidenceError(f"{project.relative(run.folder)}/{problem}")


def _append_only(paths: EvalPaths) -> Iterator[Path]:
    yield from (file for file in (paths.ledger, paths.judge_ledger) if file.exists() and file.stat().st_size)
    yield from sorted(file for file in (paths.folder / "logs").glob("*.jsonl") if file.stat().st_size)
