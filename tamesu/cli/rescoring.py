"""Rescore: everything that can be computed again from stored evidence, for nothing."""

from __future__ import annotations

import click

from tamesu.base.errors import EvidenceError, LogAbsent, LogRefused, RunHeld
from tamesu.base.model.plan import RunSpec
from tamesu.cli.session import chosen, project_here, say, warn
from tamesu.core.corrections import correction_lines
from tamesu.core.planning import Grouping, Retries
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.locks import held
from tamesu.edge.store.paths import Project
from tamesu.stages.metrics import make_tables
from tamesu.stages.plan import Planned, digest_cache, plan_eval
from tamesu.stages.report import make_report
from tamesu.stages.rescore import rescore_run

_MOST_STALE = 5


@click.command(short_help="Verify and ingest stored logs again.")
@click.argument("name", required=False)
def rescore(name: str | None) -> None:
    """Ingest every log again after verifying it, then recompute verdicts, tables and reports. Free.

    Where a log is not here (a clone or package), the checks that Tamesu makes itself are made again from the
    stored outputs, and other results stand as recorded. A result that comes out otherwise than it was recorded
    is told, and the call log keeps what it said. What was altered is refused, the others go on, and no
    view is made.
    """
    project = project_here()
    refused = 0
    for ref in chosen(project, name):
        cache = digest_cache(project)
        planned = plan_eval(project, ref, Grouping.BATCHED, Retries.BOUNDED, cache)
        for slot in planned.plan.slots:
            run = project.eval(ref).run(slot.spec.run_id)
            if run.record.exists() or any(run.attempts.glob("*.yml")):
                refused = max(refused, _rescore_run(project, planned, slot.spec, cache))
        if refused:
            continue
        planned = plan_eval(project, ref, Grouping.BATCHED, Retries.BOUNDED, cache)
        make_tables(project, planned, cache)
        make_report(project, planned, cache)
        cache.save()
    if refused:
        raise SystemExit(refused)


def _rescore_run(project: Project, planned: Planned, spec: RunSpec, cache: DigestCache) -> int:
    """Compute one run again; return the exit code of what was wrong with it, 0 for nothing."""
    run_id = spec.run_id
    try:
        with held(project.lock(run_id), run_id, 5.0):
            made = rescore_run(project, spec, planned.matrix.datasets[spec.arm], cache)
    except LogAbsent as error:
        say(f"{run_id}: {error}")
        return 0
    except (EvidenceError, RunHeld) as error:
        warn(f"{run_id}: {error}")
        return error.exit_code
    how = ", checks made again from stored outputs, as its log is not here" if made.from_outputs else ""
    say(f"{run_id}: {made.record.state}, {made.record.complete}/{made.record.planned}{how}")
    for line in correction_lines(made.corrections, len(made.record.items)):
        warn(f"{run_id}: {line}")
    for line in made.stale[:_MOST_STALE]:
        warn(f"{run_id}: {line}")
    if len(made.stale) > _MOST_STALE:
        warn(f"{run_id}: {len(made.stale) - _MOST_STALE} more items are not what was recorded")
    return LogRefused.exit_code if made.stale else 0
