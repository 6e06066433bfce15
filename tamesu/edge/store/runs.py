"""run.yml: sealed when it is written; figures that were changed by hand later are damage, never shown."""

from __future__ import annotations

from collections.abc import Sequence

from tamesu.base.errors import EvidenceError
from tamesu.base.model.evidence import AttemptRecord, RunRecord
from tamesu.core.run_sums import miscount, wrong_sum
from tamesu.edge.store.paths import RunPaths
from tamesu.edge.store.records import read_record
from tamesu.edge.store.seal import is_intact

_CHANGED = "was changed after it was written"


def read_run(run: RunPaths) -> RunRecord:
    """Return run.yml as it was written. Raises EvidenceError when it does not parse or was changed since.

    One of a version that wrote no checksum must at least agree with its own inventory.
    """
    record = read_record(run.record, RunRecord)
    changed = None if not record.checksum or is_intact(record) else _CHANGED
    problem = miscount(record) or changed
    if problem is not None:
        raise EvidenceError(f"{run.record}: {problem}; {restoring(run, record)}")
    return record


def check_sum(run: RunPaths, record: RunRecord, attempts: Sequence[AttemptRecord]) -> None:
    """Accept a run that says what its attempts cost. Raises EvidenceError."""
    problem = wrong_sum(record, attempts)
    if problem is not None:
        raise EvidenceError(f"{run.record}: {problem}; {restoring(run, record)}")


def restoring(run: RunPaths, record: RunRecord) -> str:
    """Return what mends a file of a run: what was committed and, where every log of it is here, `tamesu rescore`."""
    logs = [log.path for log in record.execution.logs if log.path is not None]
    if logs and all((run.folder / path).is_file() for path in logs):
        return "restore it, or rebuild it with `tamesu rescore`"
    return "restore it from version control or the package it came with"
