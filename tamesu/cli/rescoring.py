"""Rescore: everything that can be computed again from stored evidence, for nothing."""

from __future__ import annotations

import click

from tamesu.base.errors import EvidenceError, LogAbsent, RunHeld
from tamesu.base.model.manifest import EvalRef
from tamesu.cli.session import chosen, project_here, say, warn
from tamesu.core.planning import Grouping, Retries
from tamesu.edge.backends.protocol import backend
from tamesu.edge.store.locks import held
from tamesu.edge.store.paths import Project
from tamesu.stages.freeze import read_spec
from tamesu.stages.ingest import Extent, ingest_run
from tamesu.stages.metrics import make_tables
from tamesu.stages.plan import digest_cache, plan_eval
from tamesu.stages.report import make_report


@click.command(short_help="Verify and ingest stored logs again.")
@click.argument("name", required=False)
def rescore(name: str | None) -> None:
    """Ingest every log again after verifying it, then recompute verdicts, tables and reports. Free.

    A log that is not here leaves its results as recorded; one that was altered is refused, the others go on,
    and no view is made.
    """
    project = project_here()
    refused = 0
    for ref in chosen(project, name):
        cache = digest_cache(project)
        planned = plan_eval(project, ref, Grouping.BATCHED, Retries.BOUNDED, cache)
        for slot in planned.plan.slots:
            if any(project.eval(ref).run(slot.spec.run_id).attempts.glob("*.yml")):
                refused = max(refused, _rescore_run(project, ref, slot.spec.run_id))
        if refused:
            continue
        planned = plan_eval(project, ref, Grouping.BATCHED, Retries.BOUNDED, cache)
        make_tables(project, planned, cache)
        make_report(project, planned, cache)
        cache.save()
    if refused:
        raise SystemExit(refused)


def _rescore_run(project: Project, ref: EvalRef, run_id: str) -> int:
    """Ingest one run again; return the exit code of what was wrong with it, 0 for nothing."""
    try:
        spec = read_spec(project.eval(ref).run(run_id))
        with held(project.lock(run_id), run_id, 5.0):
            record = ingest_run(project, backend(spec.backend), spec, Extent.ALL)
    except LogAbsent as error:
        say(f"{run_id}: {error}")
        return 0
    except (EvidenceError, RunHeld) as error:
        warn(f"{run_id}: {error}")
        return error.exit_code
    say(f"{run_id}: {record.state}, {record.complete}/{record.planned}")
    return 0
