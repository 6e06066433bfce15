"""Metrics: from item results to the tables, each made from evidence that verifies."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from tamesu.base.canonical import digest_bytes
from tamesu.base.errors import EvidenceError
from tamesu.core.metrics.catalogue import cell_metrics
from tamesu.core.parquet import table_parquet
from tamesu.core.report.summary import EvalSummary
from tamesu.core.rows import ItemRow, rows_by_run
from tamesu.core.tables import item_table, run_table, table_csv
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
    items_parquet: str
    runs_parquet: str
    schema_version: int = 2


def make_tables(project: Project, planned: Planned, cache: DigestCache) -> None:
    """Write the tables of items and runs as CSV and Parquet, their evidence, and report.yml of every run."""
    summary = summarise_eval(project, planned, cache)
    paths = project.eval(planned.evaluation.ref)
    slots = [slot_evidence(project, planned, slot, cache) for slot in planned.plan.slots]
    judges = [judge.id for judge in summary.policy.judges]
    tables = item_table(summary.rows, judges), run_table(summary.rows, slots)
    contents = (*map(table_csv, tables), *map(table_parquet, tables))
    for path, content in zip(paths.table_files, contents, strict=True):
        write_atomic(path, content)
    for run_id, rows in rows_by_run(summary.rows).items():
        if paths.run(run_id).record.exists():
            write_atomic(paths.run(run_id).report, _run_report(summary, run_id, rows))
    items, runs, typed_items, typed_runs = map(digest_bytes, contents)
    made = TablesEvidence(summary.evidence, items, runs, typed_items, typed_runs)
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
        pinned = (made.items_csv, made.runs_csv, made.items_parquet, made.runs_parquet)
        same = tuple(digest_bytes(path.read_bytes()) for path in paths.table_files) == pinned
    except (OSError, EvidenceError):
        return None
    return made.evidence if same else None
