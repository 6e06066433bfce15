"""Rescore: everything that can be computed again from stored evidence, for nothing."""

from __future__ import annotations

import click

from tamesu.base.errors import LogAbsent
from tamesu.cli.session import chosen, project_here, say
from tamesu.core.planning import Grouping, Retries
from tamesu.edge.backends.protocol import backend
from tamesu.edge.store.locks import held
from tamesu.stages.freeze import read_spec
from tamesu.stages.ingest import Extent, ingest_run
from tamesu.stages.metrics import make_tables
from tamesu.stages.plan import digest_cache, plan_eval
from tamesu.stages.report import make_report


@click.command()
@click.argument("name", required=False)
def rescore(name: str | None) -> None:
    """Ingest every log again after verifying it, then recompute verdicts, tables and reports. Free."""
    project = project_here()
    for ref in chosen(project, name):
        cache = digest_cache(project)
        planned = plan_eval(project, ref, Grouping.BATCHED, Retries.BOUNDED, cache)
        for slot in planned.plan.slots:
            folder = project.eval(ref).run(slot.spec.run_id)
            if not any(folder.attempts.glob("*.yml")):
                continue
            try:
                spec = read_spec(folder)
                with held(project.lock(spec.run_id), spec.run_id, 5.0):
                    record = ingest_run(project, backend(spec.backend), spec, Extent.ALL)
            except LogAbsent as error:
                say(f"{slot.spec.run_id}: {error}")
                continue
            say(f"{spec.run_id}: {record.state}, {record.complete}/{record.planned}")
        planned = plan_eval(project, ref, Grouping.BATCHED, Retries.BOUNDED, cache)
        make_tables(project, planned, cache)
        make_report(project, planned, cache)
        cache.save()
