"""Metrics: from item results to the tables, each made from evidence that verifies."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from tamesu.base.canonical import digest_bytes
from tamesu.base.errors import EvidenceError
from tamesu.core.metrics.catalogue import cell_metrics
from tamesu.core.report.summary import EvalSummary
from tamesu.core.rows import ItemRow, rows_by_run
from tamesu.core.tables import items_csv, runs_csv
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.files import write_atomic
from tamesu.edge.store.paths import EvalPaths, Project
from tamesu.edge.store.records import dump_record, read_record
from tamesu.stages.plan import Planned
from tamesu.stages.summary import slot_evidence, summarise_eval


@dataclass(frozen=True, slots=True)
class TablesEvidence:
    """tables/evidence.yml: what the tables were made from, and what they held then."""

    evidence: str
    items_csv: str
    runs_csv: str
    schema_version: int = 1


def make_tables(project: Project, planned: Planned, cache: DigestCache) -> None:
    """Write items.csv, runs.csv, their evidence, and report.yml of every run."""
    summary = summarise_eval(project, planned, cache)
    paths = project.eval(planned.evaluation.ref)
    slots = [slot_evidence(project, slot, cache) for slot in planned.plan.slots]
    items, runs = items_csv(summary.rows, [judge.id for judge in summary.policy.judges]), runs_csv(summary.rows, slots)
    write_atomic(paths.items_csv, items)
    write_atomic(paths.runs_csv, runs)
    for run_id, rows in rows_by_run(summary.rows).items():
        if paths.run(run_id).record.exists():
            write_atomic(paths.run(run_id).report, _run_report(summary, run_id, rows))
    made = TablesEvidence(summary.evidence, digest_bytes(items), digest_bytes(runs))
    write_atomic(paths.tables_evidence, dump_record(made))


def _run_report(summary: EvalSummary, run_id: str, rows: tuple[ItemRow, ...]) -> bytes:
    cell = cell_metrics(rows, summary.policy, (*summary.headline, *summary.delivery))[0]
    plain = {key: value for key, value in asdict(cell).items() if key not in {"values", "cell"}}
    report = {
        "run_id": run_id,
        **plain,
        "metrics": {value.name: asdict(value) for value in cell.values},
    }
    return dump_record(report)


def tables_made_from(paths: EvalPaths) -> str | None:
    """Return the evidence that the tables on disk were made from; None when they are absent or altered."""
    try:
        made = read_record(paths.tables_evidence, TablesEvidence)
        same = (
            digest_bytes(paths.items_csv.read_bytes()) == made.items_csv
            and digest_bytes(paths.runs_csv.read_bytes()) == made.runs_csv
        )
    except (OSError, EvidenceError):
        return None
    return made.evidence if same else None
