"""The evidence of a case that is packed: whether its views are of it, and what state it is in."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from tamesu.base.errors import EvidenceError, Refused
from tamesu.base.model.manifest import EvalRef
from tamesu.base.model.package import Profile
from tamesu.core.packages.notices import evidence_line, notices
from tamesu.core.planning import Grouping, Retries
from tamesu.core.rows import build_rows
from tamesu.edge.documents.reading import Shelf
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.paths import EvalPaths, Project
from tamesu.stages.plan import Planned, plan_eval
from tamesu.stages.summary import eval_standing, slot_evidence
from tamesu.stages.workflow import stale_views


def look_at_evidence(
    project: Project, case: str, files: Collection[str], profile: Profile, cache: DigestCache
) -> tuple[str, ...]:
    """Return what to tell of the evidence among the files of a package, a line each.

    Raises EvidenceError for a view that was made from other evidence than what lies here, Refused for runs whose
    reports are missing where a package holds nothing else of them.
    """
    shelf, told = Shelf(), []
    for ref in (ref for ref in project.refs() if ref.case == case):
        if profile is Profile.REPORT_ONLY:
            _check_there(project, ref)
        planned = plan_eval(project, ref, Grouping.BATCHED, Retries.BOUNDED, cache, shelf)
        _check_views(project, planned, files, cache)
        told.append(_evidence_line(project, planned, cache))
    return (*told, *notices(files, profile))


def _evidence_line(project: Project, planned: Planned, cache: DigestCache) -> str:
    """Results are read only when every run is banked, and only until the first review owed."""
    evidence = (slot_evidence(project, planned, slot, cache) for slot in planned.plan.slots)
    rows = (row for slot in evidence for row in build_rows([slot], planned.evaluation.policy))
    return evidence_line(planned.plan, eval_standing(project, planned, rows, cache))


def _check_there(project: Project, ref: EvalRef) -> None:
    paths = project.eval(ref)
    missing = [view for view in (paths.leaderboard, paths.report) if not view.is_file()]
    if missing and any(paths.runs.glob("*/run.yml")):
        what = "is missing although there are runs, and report-only holds little else of them"
        raise Refused(f"{project.relative(missing[0])}: {what}; `tamesu report {ref}` makes it")


def _check_views(project: Project, planned: Planned, files: Collection[str], cache: DigestCache) -> None:
    ref = planned.evaluation.ref
    views, case = _views(project.eval(ref)), project.case(ref.case)
    held = {view for view in views if view.relative_to(case).as_posix() in files}
    for view in held.intersection(stale_views(project, planned, cache)) if held else ():
        what = "was made from other evidence than what lies here"
        raise EvidenceError(f"{project.relative(view)}: {what}; make it anew with `tamesu rescore {ref}`")


def _views(paths: EvalPaths) -> tuple[Path, ...]:
    return (*paths.table_files, paths.leaderboard, paths.report)
