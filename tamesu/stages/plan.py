"""Plan: what an eval owes, from its manifest and the evidence on disk. Reads only."""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from tamesu.base.errors import InvalidDocument
from tamesu.base.model.evidence import RunRecord
from tamesu.base.model.finding import Finding
from tamesu.base.model.manifest import Eval, EvalRef
from tamesu.base.model.plan import EvalPlan, Stray
from tamesu.base.model.trust import TrustedCode
from tamesu.core.ledger import balance, spent_by_run
from tamesu.core.matrix import Matrix, Setting
from tamesu.core.planning import Grouping, Retries, plan
from tamesu.core.scope import ALL, Scope
from tamesu.core.situation import MissingCredential, Situation, Unpriced
from tamesu.core.trust import still_untrusted
from tamesu.edge.credentials import missing_credentials, read_environment
from tamesu.edge.documents.eval_reader import ReadEval, read_eval
from tamesu.edge.documents.reading import Shelf
from tamesu.edge.documents.settings_reader import installed_inspect
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.evidence import damaged_others, held_elsewhere, other_records, read_evidence
from tamesu.edge.store.journal import read_ledger
from tamesu.edge.store.paths import Project
from tamesu.stages.freeze import frozen_spec
from tamesu.stages.trust import executed_origins


@dataclass(frozen=True, slots=True)
class Planned:
    """An eval, its runs, where they stand, and the records of all runs on disk."""

    evaluation: Eval
    matrix: Matrix
    plan: EvalPlan
    setting: Setting
    warnings: tuple[Finding, ...] = ()
    records: tuple[RunRecord, ...] = ()


def valid(read: ReadEval) -> tuple[Eval, Matrix]:
    """Return eval and runs. Raises InvalidDocument with the first finding and how many there are."""
    if read.evaluation is not None and read.matrix is not None:
        return read.evaluation, read.matrix
    errors = [finding for finding in read.findings if finding.severity == "error"]
    more = f" (and {len(errors) - 1} more; see `tamesu lint`)" if len(errors) > 1 else ""
    raise InvalidDocument(f"{errors[0]}{more}")


def plan_eval(
    project: Project,
    ref: EvalRef,
    grouping: Grouping,
    retries: Retries,
    cache: DigestCache,
    shelf: Shelf | None = None,
    trusted: Sequence[TrustedCode] = (),
    unpriced: Unpriced = Unpriced.REFUSED,
    scope: Scope = ALL,
) -> Planned:
    """Return what an eval owes; foreign code may run as far as it is `trusted`. Raises InvalidDocument for errors."""
    read = read_eval(project, ref, shelf)
    evaluation, runs = valid(read)
    ledger = read_ledger(project.eval(ref).ledger)
    evidence = {spec.run_id: read_evidence(project, spec, cache) for spec in runs.runs}
    others = other_records(project, ref, (spec.run_id for spec in runs.runs), cache)
    records = (*(one.record for one in evidence.values() if one.record is not None), *others)
    situation = Situation(
        evidence=evidence,
        others=others,
        damaged=damaged_others(project, ref, (spec.run_id for spec in runs.runs), cache),
        recorded_usd=math.fsum(record.spent_usd for record in records),
        strays=_strays(project, ref, runs),
        balance=balance(ledger),
        spent=spent_by_run(ledger),
        missing_credentials=_missing_credentials(project, evaluation, read.setting),
        untrusted=still_untrusted(executed_origins(project, ref, runs.runs), trusted),
        installed_inspect=installed_inspect(),
        pinned_inspect=read.setting.inspect_version,
        unpriced=unpriced,
    )
    made = plan(evaluation, runs, situation, grouping, retries, scope)
    return Planned(evaluation, runs, made, read.setting, read.findings, records)


def _strays(project: Project, ref: EvalRef, runs: Matrix) -> tuple[Stray, ...]:
    """Return the runs that live processes hold beside the plan, with what they froze where that can be read."""
    paths = project.eval(ref)
    return tuple(
        replace(stray, spec=frozen_spec(paths.run(stray.run_id)))
        for stray in held_elsewhere(project, ref, (spec.run_id for spec in runs.runs))
    )


def _missing_credentials(project: Project, evaluation: Eval, setting: Setting) -> tuple[MissingCredential, ...]:
    return credentials_lacking(project, {model.provider for model in evaluation.asked_models}, setting)


def credentials_lacking(project: Project, providers: Set[str], setting: Setting) -> tuple[MissingCredential, ...]:
    """Return the providers that cannot be reached from here; recorded answers need nothing."""
    if providers <= {"replay"}:
        return ()
    placed = {name for name, facts in setting.endpoints.items() if facts.base_url is not None}
    return missing_credentials(providers, read_environment(project.root), placed)


def digest_cache(project: Project) -> DigestCache:
    """Return the project's memory of file digests."""
    return DigestCache(project.state / "cache" / "digests.msgpack")
