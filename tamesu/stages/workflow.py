"""The plan that one Snakemake invocation works off: launches, runs, derived files and what they want."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from tamesu.base.canonical import digest
from tamesu.base.errors import InvalidDocument, UsageError, shown
from tamesu.base.model.manifest import EvalRef
from tamesu.base.model.plan import Launch, Slot, SlotState
from tamesu.base.model.trust import TrustedCode
from tamesu.base.model.workflow import (
    PlannedCase,
    PlannedEval,
    PlannedJudging,
    PlannedLaunch,
    PlannedPackage,
    PlannedRun,
    WorkflowPlan,
)
from tamesu.core.planning import Grouping, Retries
from tamesu.core.scope import ALL, Scope, model_names
from tamesu.core.situation import Unpriced
from tamesu.edge.documents.reading import Shelf
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.paths import EvalPaths, Project
from tamesu.stages.case_evidence import read_case
from tamesu.stages.judge_plan import plan_judges
from tamesu.stages.metrics import tables_made_from
from tamesu.stages.packages import wanted_package
from tamesu.stages.plan import Planned, digest_cache, plan_eval
from tamesu.stages.report import view_made_from
from tamesu.stages.summary import evidence_digest

_OLD = 1  # an mtime of 0 would count as never out of date


def make_workflow_plan(
    project: Project,
    refs: Sequence[EvalRef],
    grouping: Grouping,
    retries: Retries,
    pay_usd: float | None,
    trusted: Sequence[TrustedCode] = (),
    judge_pay_usd: float | None = None,
    unpriced: Unpriced = Unpriced.REFUSED,
    scope: Scope = ALL,
) -> WorkflowPlan:
    """Plan the given evals and set the markers of their derived files.

    An eval that does not read is left out and named in `broken`; the others go on. Foreign code may run as far as it
    is `trusted`. Paid judges are asked up to `judge_pay_usd`. Raises UsageError for a model in `scope` that none has.
    """
    cache, shelf = digest_cache(project), Shelf()
    planned, broken = [], []
    for ref in refs:
        try:
            planned.append(plan_eval(project, ref, grouping, retries, cache, shelf, trusted, unpriced, scope))
        except InvalidDocument as error:
            broken.append(str(error))
    _check_models(scope, planned)
    launches = tuple(_launch(p, launch, pay_usd) for p in planned for launch in p.plan.launches)
    judging = {str(p.evaluation.ref): _judging(project, p, launches, cache, judge_pay_usd) for p in planned}
    _forget_receipts(project, launches, [one for one, _ in judging.values() if one is not None])
    stale = {str(one.evaluation.ref): stale_views(project, one, cache) for one in planned}
    # what is worked off makes everything that is derived from it out of date
    working = {launch.eval for launch in launches if launch.allowed} | {n for n, one in judging.items() if one[0]}
    for one in planned:
        ref = one.evaluation.ref
        _mark_wants(project, ref, stale[str(ref)], evidence_digest(project, one, cache), str(ref) in working)
    names = dict.fromkeys(ref.case for ref in refs)
    cases = tuple(_case(project, name, planned, working, cache, shelf) for name in names)
    behind = working | {name for name, views in stale.items() if views}
    packages = [_package(project, name, planned, behind, cache) for name in names]
    cache.save()
    return WorkflowPlan(
        invocation=uuid.uuid4().hex[:16],
        pay_usd=pay_usd,
        again=retries is Retries.AGAIN,
        launches=launches,
        runs=tuple(run for one in planned for run in _runs(project, one)),
        evals=tuple(
            replace(
                _eval(project, one, pay_usd, stale[str(one.evaluation.ref)]),
                unjudged=judging[str(one.evaluation.ref)][1],
            )
            for one in planned
        ),
        broken=tuple(broken),
        trusted=tuple(trusted),
        judging=tuple(one for one, _ in judging.values() if one is not None),
        judge_pay_usd=judge_pay_usd,
        cases=cases,
        packages=tuple(package for package in packages if package is not None),
        limit_items=scope.items,
    )


def _check_models(scope: Scope, planned: Sequence[Planned]) -> None:
    specs = [slot.spec for one in planned for slot in one.plan.slots]
    for name in sorted(scope.models - {name for spec in specs for name in model_names(spec)}):
        there = ", ".join(sorted({spec.model for spec in specs}))
        raise UsageError(f"--only {shown(name)}: no run asks that model; name one of {there}")


def _package(
    project: Project, case: str, planned: Sequence[Planned], behind: Collection[str], cache: DigestCache
) -> PlannedPackage | None:
    """Set the marker of a case's archive; while evals of it are `behind`, what it will hold is not known."""
    refs = [one.evaluation.ref for one in planned if one.evaluation.ref.case == case]
    wanted = wanted_package(project, case, refs, cache)
    if wanted is None:
        return None
    _mark(project, wanted.archive, wanted.digest, not wanted.current or any(str(ref) in behind for ref in refs))
    return wanted.planned


def _case(
    project: Project, case: str, planned: Sequence[Planned], working: Collection[str], cache: DigestCache, shelf: Shelf
) -> PlannedCase:
    """Set the marker of a case's page; evals of the case that are not planned here are part of what it is made from."""
    own = {one.evaluation.ref: one for one in planned if one.evaluation.ref.case == case}
    wanted = read_case(project, case, cache, shelf, own).digest
    page = project.case_page(case)
    stale = view_made_from(page) != wanted
    _mark(project, page, wanted, stale or any(str(ref) in working for ref in own))
    return PlannedCase(
        name=case,
        page=project.relative(page),
        folders=tuple(project.relative(project.eval(ref).folder) for ref in own),
        stale=stale,
        draft=all(one.evaluation.status == "draft" for one in own.values()),
    )


def _judging(
    project: Project,
    planned: Planned,
    launches: Sequence[PlannedLaunch],
    cache: DigestCache,
    pay_usd: float | None,
) -> tuple[PlannedJudging | None, bool]:
    """Return the judging of an eval, if there may be any, and whether its paid judges may be left unasked.

    What judges owe is known when outputs are there, so that runs to work off mean that judging may follow.
    """
    name = str(planned.evaluation.ref)
    if not planned.evaluation.policy.judges or planned.evaluation.status != "active":
        return None, False
    runs = any(launch.allowed for launch in launches if launch.eval == name)
    standings = plan_judges(project, planned, cache).plan.judges
    free = any(not one.paid and (runs or one.askable) for one in standings)
    paid = any(one.paid and (runs or one.askable) for one in standings)
    asked = free or (paid and pay_usd is not None)
    return PlannedJudging(digest(name)[:12], name) if asked else None, paid


def _launch(planned: Planned, launch: Launch, pay_usd: float | None) -> PlannedLaunch:
    refusal = _refusal(planned, [launch], pay_usd) if launch.mode == "execute" else None
    return PlannedLaunch(
        id=launch.id,
        eval=str(launch.ref),
        runs=launch.runs,
        mode=launch.mode,
        paid=launch.paid,
        exposure_usd=launch.exposure_usd,
        budget_usd=planned.plan.budget_usd,
        allowed=refusal is None,
        refusal=refusal,
    )


def _refusal(planned: Planned, launches: Sequence[Launch], pay_usd: float | None) -> str | None:
    """Return the line that says why these launches may not start, with their price; None when they may."""
    first, *more = planned.plan.blockers or (None,)
    if first is not None:
        rest = f" (and {len(more)} more, which `tamesu plan` lists)" if more else ""
        return f"{first}{rest}"
    paid = [launch for launch in launches if launch.paid]
    if not paid or pay_usd is not None:
        return None
    runs = sum(len(launch.runs) for launch in paid)
    exposure = sum(launch.exposure_usd for launch in paid)
    return (
        f"{planned.evaluation.ref}: {runs} paid run(s) owed, up to {exposure:.4f} USD; "
        "use `tamesu run`, or --config pay_usd=<ceiling>"
    )


def _runs(project: Project, planned: Planned) -> Iterable[PlannedRun]:
    paths = project.eval(planned.evaluation.ref)
    owner = {run: launch.id for launch in planned.plan.launches for run in launch.runs}
    sources = tuple(file.path for file in planned.evaluation.content)
    for slot in planned.plan.slots:
        run = paths.run(slot.spec.run_id)
        yield PlannedRun(
            run_id=slot.spec.run_id,
            eval=str(planned.evaluation.ref),
            folder=project.relative(run.folder),
            launch=owner.get(slot.spec.run_id),
            attempt=slot.next_attempt,
            frozen=run.dataset.exists() and run.spec.exists(),
            sources=sources,
        )


def _eval(project: Project, planned: Planned, pay_usd: float | None, stale: Sequence[Path]) -> PlannedEval:
    asking = [launch for launch in planned.plan.launches if launch.mode == "execute"]
    paths = project.eval(planned.evaluation.ref)
    return PlannedEval(
        name=str(planned.evaluation.ref),
        folder=project.relative(paths.folder),
        page=project.relative(project.page(planned.evaluation.ref)),
        runs=tuple(slot.spec.run_id for slot in planned.plan.slots),
        incomplete=tuple(slot_line(slot) for slot in planned.plan.incomplete),
        refusal=_refusal(planned, asking, pay_usd) if asking else None,
        stale=tuple(project.relative(path) for path in stale),
        draft=planned.evaluation.status == "draft",
    )


def slot_line(slot: Slot) -> str:
    """Return where a slot stands in one line."""
    label = f"{slot.spec.model} x {slot.spec.arm} rep {slot.spec.repetition}"
    done = f"{slot.complete}/{len(slot.spec.items)} complete, {slot.failed} failed"
    final = slot.state is SlotState.FAILED and slot.problem is None
    again = "all is final; `tamesu resume --again` asks what failed once more" if final else None
    why = "; ".join(part for part in (slot.problem or slot.failure, slot.story, again) if part)
    return f"{label}: {slot.state.value}, {done}" + (f": {why}" if why else "")


def derived_files(paths: EvalPaths, page: Path) -> tuple[Path, ...]:
    """Return the derived files of an eval that have a marker each."""
    return (*paths.table_files, paths.leaderboard, paths.report, page)


def stale_views(project: Project, planned: Planned, cache: DigestCache) -> tuple[Path, ...]:
    """Return the derived files that were not made from the evidence of now."""
    paths, page = project.eval(planned.evaluation.ref), project.page(planned.evaluation.ref)
    wanted = evidence_digest(project, planned, cache)
    tables = tables_made_from(paths)
    made = {
        **dict.fromkeys(paths.table_files, tables),
        **{path: view_made_from(path) for path in (paths.leaderboard, paths.report, page)},
    }
    return tuple(path for path, evidence in made.items() if evidence != wanted)


def _mark_wants(project: Project, ref: EvalRef, stale: Sequence[Path], wanted: str, working: bool) -> None:
    """Write the marker of each derived file: old on a match, new in time and content on a mismatch.

    Whatever the file times say after a clone, an unpack or an undone edit, Snakemake then rebuilds exactly
    what was made from other evidence. The content differs each time, since Snakemake passes over a newer
    input that holds what it held before. While runs are worked off (`working`), all views are out of date, and
    the file that says 'everything is ingested' is missing, so that it has to be made first.
    """
    for path in derived_files(project.eval(ref), project.page(ref)):
        _mark(project, path, wanted, working or path in stale)
    ingested = project.want(project.eval(ref).folder / "ingested")
    if working:
        ingested.unlink(missing_ok=True)
    else:
        write_marker(ingested, "")
        os.utime(ingested, (_OLD, _OLD))


def _mark(project: Project, path: Path, wanted: str, stale: bool) -> None:
    marker = project.want(path)
    if stale:
        write_marker(marker, f"{wanted} {uuid.uuid4().hex}")
        when = max(time.time(), path.stat().st_mtime + 1 if path.exists() else 0)
    else:
        write_marker(marker, wanted)
        when = float(_OLD)
    os.utime(marker, (when, when))


def write_marker(marker: Path, content: str) -> None:
    """Write a marker in place; it is made anew by every plan, so it need not be durable."""
    marker.parent.mkdir(parents=True, exist_ok=True)
    marker.write_text(content, encoding="utf-8")


def _forget_receipts(project: Project, launches: Iterable[PlannedLaunch], judging: Iterable[PlannedJudging]) -> None:
    """A receipt of a launch that is owed again (its evidence was removed) must not count as done."""
    for one in judging:
        (project.receipts / f"judge-{one.id}").unlink(missing_ok=True)
    for launch in launches:
        for kind in ("freeze", "execute", "ingest"):
            (project.receipts / f"{kind}-{launch.id}").unlink(missing_ok=True)
