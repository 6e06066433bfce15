"""Present: the page of a case, from its question to single outputs, as it stands on disk now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from markupsafe import Markup

from tamesu.base.canonical import Json
from tamesu.base.errors import EvidenceError, TamesuError
from tamesu.base.model.judgement import Closing
from tamesu.base.model.plan import SlotState
from tamesu.core.checks.fields import schema_fields
from tamesu.core.report.binding import Analysis, binding_line, written_about
from tamesu.core.report.page import Gallery, make_gallery
from tamesu.core.report.prose import prose
from tamesu.core.report.study.case import (
    BrokenEval,
    CaseStudy,
    EvalStudy,
    ExperimentStudy,
    PictureKey,
    ReportedEval,
    case_page,
)
from tamesu.core.report.study.design import Fact, make_design
from tamesu.core.report.study.fields import make_fields
from tamesu.core.report.study.items import make_book
from tamesu.core.report.study.provenance import make_provenance
from tamesu.core.report.study.spending import spending
from tamesu.core.rows import ItemRow
from tamesu.edge.documents.reading import Shelf
from tamesu.edge.store.closings import parse_closing
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.files import write_atomic
from tamesu.edge.store.journal import read_ledger
from tamesu.edge.store.paths import Project
from tamesu.stages.case_evidence import CaseEval, CaseEvidence, named_in_project, read_case
from tamesu.stages.outputs import exhibits_of, shown_outputs
from tamesu.stages.plan import Planned
from tamesu.stages.report import view_made_from
from tamesu.stages.summary import slot_evidence, summarise_eval
from tamesu.stages.workflow import slot_line

_FACTS = {
    "business_use": "What the answer is used for",
    "current_problem": "What goes wrong today",
    "technical_uncertainty": "What nobody knows yet",
}


@dataclass(frozen=True, slots=True)
class Presented:
    """The page of a case, and for each eval with an analysis about other evidence the line that binds it to this."""

    page: Path
    evidence: str
    unbound: tuple[tuple[str, str], ...]


def present_case(project: Project, case: str, cache: DigestCache) -> Presented:
    """Write the page of a case."""
    evidence = read_case(project, case, cache, Shelf())
    page = project.case_page(case)
    write_atomic(page, case_page(_study(project, evidence, cache)).encode())
    return Presented(page, evidence.digest, tuple(_unbound(project, evidence)))


def study_of_case(project: Project, case: str, cache: DigestCache) -> CaseStudy:
    """Return all that the page of a case shows."""
    return _study(project, read_case(project, case, cache, Shelf()), cache)


def case_is_current(project: Project, case: str, cache: DigestCache) -> bool:
    """Return whether the page of a case was made from what lies on disk now."""
    return view_made_from(project.case_page(case)) == read_case(project, case, cache, Shelf()).digest


def _unbound(project: Project, case: CaseEvidence) -> list[tuple[str, str]]:
    return [
        (project.relative(project.eval(one.ref).analysis), binding_line(one.measured))
        for one in case.evals
        if one.analysis is not None and one.measured and written_about(_text(one.analysis)) != one.measured
    ]


def _study(project: Project, case: CaseEvidence, cache: DigestCache) -> CaseStudy:
    names = [name for name in case.readmes if name]
    evals = {one.ref: _eval(project, one, cache) for one in case.evals}
    experiments = tuple(
        ExperimentStudy(
            name,
            _prose(case.readmes[name], 3, f"{name}/README.md"),
            tuple(study for ref, study in evals.items() if ref.experiment == name),
        )
        for name in names
    )
    said = case.manifest
    return CaseStudy(
        case=case.case,
        title=_title(case),
        question=_said(said, "question") or _said(said, "description"),
        facts=tuple(Fact(label, _said(said, name)) for name, label in _FACTS.items() if _said(said, name)),
        readme=_prose(case.readmes[""], 3, "README.md"),
        problems=case.problems,
        experiments=experiments,
        evidence=case.digest,
    )


def _title(case: CaseEvidence) -> str:
    """Return what the case calls itself: the title of its README, else its name."""
    for line in _text(case.readmes[""] or b"").split("\n"):
        if line.startswith("# "):
            return line[2:].strip()
        if line.strip():
            break
    return _said(case.manifest, "name") or case.case


def _said(manifest: Mapping[str, Json], name: str) -> str:
    value = manifest.get(name)
    return value.strip() if isinstance(value, str) else ""


def _text(content: bytes) -> str:
    return content.decode("utf-8-sig", "replace")


def _prose(content: bytes | None, level: int, source: str) -> Markup | None:
    return None if content is None or not content.strip() else prose(_text(content), level, source)


def _eval(project: Project, one: CaseEval, cache: DigestCache) -> EvalStudy | BrokenEval | ReportedEval:
    if one.reports is not None:
        leaderboard, report = one.reports
        analysis = _prose(one.analysis, 5, "analysis.md")
        texts = _prose(leaderboard, 5, "leaderboard.md"), _prose(report, 5, "evaluation-report.md")
        return ReportedEval(one.ref, analysis, *texts)
    if one.planned is None:
        return BrokenEval(one.ref, one.problems)
    try:
        return _eval_study(project, one, _settled(one.planned), cache)
    except (TamesuError, OSError) as error:
        return BrokenEval(one.ref, (named_in_project(project, str(error)),))


def _settled(planned: Planned) -> Planned:
    """A page outlives the processes that hold runs: what they have not finished is partial."""
    slots = tuple(
        replace(slot, state=SlotState.PARTIAL, story=None) if slot.state is SlotState.RUNNING else slot
        for slot in planned.plan.slots
    )
    return replace(planned, plan=replace(planned.plan, slots=slots))


def _eval_study(project: Project, one: CaseEval, planned: Planned, cache: DigestCache) -> EvalStudy:
    evaluation, plan, runs = planned.evaluation, planned.plan, planned.matrix
    paths = project.eval(one.ref)
    summary = summarise_eval(project, planned, cache)
    slots = [slot_evidence(project, planned, slot, cache) for slot in plan.slots]
    gallery = _gallery(project, planned, summary.rows, cache)
    numbers, pictures = _pictures(gallery)
    outputs = shown_outputs(project, slots, numbers)
    views = (paths.report, paths.leaderboard, paths.items_csv, paths.runs_csv, project.page(one.ref))
    return EvalStudy(
        summary=summary,
        design=make_design(evaluation, runs),
        spending=spending(plan.slots, read_ledger(paths.ledger), summary.judge_balance),
        gallery=gallery,
        numbers=numbers,
        pictures=pictures,
        book=make_book(summary.rows, slots, evaluation.dataset.items, evaluation.policy, outputs),
        unbanked=tuple(slot_line(slot) for slot in plan.incomplete),
        found=summary.found,
        provenance=make_provenance(evaluation, runs, planned.records, one.evidence or ""),
        measured=one.measured or "",
        analysis=_analysis(one),
        closings=_closings(one),
        files=tuple(project.relative(path) for path in views),
        fields=make_fields(summary, schema_fields(evaluation.output_schema)),
    )


def _gallery(project: Project, planned: Planned, rows: Sequence[ItemRow], cache: DigestCache) -> Gallery | None:
    """Return the pictures, sounds and films; texts stand with their items."""
    found = exhibits_of(project, planned, cache)
    seen = {key: tuple(one for one in shown if one.kind != "text") for key, shown in found.items()}
    return make_gallery(rows, {key: shown for key, shown in seen.items() if shown})


def _pictures(gallery: Gallery | None) -> tuple[dict[PictureKey, int], tuple[str, ...]]:
    """Number the pictures of a gallery, and return them by number."""
    numbers: dict[PictureKey, int] = {}
    sources: list[str] = []
    for tiles in gallery.items.values() if gallery else ():
        for tile in tiles:
            for one in tile.exhibits:
                if one.kind == "image" and one.source is not None:
                    numbers[tile.row.run_id, tile.row.item, one.role] = len(sources)
                    sources.append(one.source)
    return numbers, tuple(sources)


def _analysis(one: CaseEval) -> Analysis | None:
    if one.analysis is None or not one.analysis.strip():
        return None
    text = _text(one.analysis)
    return Analysis(prose(text, 5, "analysis.md"), written_about(text))


def _closings(one: CaseEval) -> tuple[Closing, ...]:
    if one.closing is None:
        return ()
    try:
        return parse_closing(one.closing, "closing.yml").closings
    except EvidenceError as error:
        raise EvidenceError(f"{one.ref}: {error}") from None
