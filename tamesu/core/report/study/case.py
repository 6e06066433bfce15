"""The page of a case as HTML: one file that loads nothing; its one script pages and filters the evidence of items."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TypeAlias

from markupsafe import Markup

from tamesu.base.model.judgement import Closing
from tamesu.base.model.manifest import EvalRef
from tamesu.base.model.plan import FoundRun
from tamesu.core.report.binding import Analysis
from tamesu.core.report.evaluation import MOST_FAILURES
from tamesu.core.report.evidence import META_NAME
from tamesu.core.report.figures import count
from tamesu.core.report.page import Gallery, difference_plot, environment, failure_lines, primary_plot
from tamesu.core.report.study.design import Design, Fact
from tamesu.core.report.study.fields import FieldsPart
from tamesu.core.report.study.island import island
from tamesu.core.report.study.items import Book
from tamesu.core.report.study.provenance import Provenance
from tamesu.core.report.study.spending import Spending
from tamesu.core.report.summary import EvalSummary, money_line
from tamesu.core.standing import Standing

PictureKey = tuple[str, str, str]  # run ID, item ID, role
_MOST_OPEN_TILES = 48
_REPORTED = "reports alone"


@dataclass(frozen=True, slots=True)
class EvalStudy:
    """One eval that reads. `measured` is the digest that an analysis is bound to; `files` are its other views.

    `numbers` says which picture of the gallery shows an output; `unbanked` holds a line per run that is not.
    """

    summary: EvalSummary
    design: Design
    spending: tuple[Spending, ...]
    gallery: Gallery | None
    numbers: Mapping[PictureKey, int]
    pictures: tuple[str, ...]
    book: Book
    unbanked: tuple[str, ...]
    found: tuple[FoundRun, ...]
    provenance: Provenance
    measured: str
    analysis: Analysis | None
    closings: tuple[Closing, ...]
    files: tuple[str, ...]
    fields: FieldsPart | None = None

    @property
    def ref(self) -> EvalRef:
        return self.summary.ref

    def picture(self, number: int) -> str:
        """Return the data URI of a picture of the gallery."""
        return self.pictures[number]


@dataclass(frozen=True, slots=True)
class BrokenEval:
    """An eval that does not read, or whose evidence does not; `lines` say why."""

    ref: EvalRef
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReportedEval:
    """An eval of a case that holds reports alone: what was written of it; nothing is computed anew."""

    ref: EvalRef
    analysis: Markup | None
    leaderboard: Markup | None
    report: Markup | None


AnyEval: TypeAlias = EvalStudy | BrokenEval | ReportedEval


@dataclass(frozen=True, slots=True)
class ExperimentStudy:
    name: str
    readme: Markup | None
    evals: tuple[AnyEval, ...]


@dataclass(frozen=True, slots=True)
class CaseStudy:
    """Everything that the page of a case shows; `evidence` is the SHA-256 of all that it is made from."""

    case: str
    title: str
    question: str
    facts: tuple[Fact, ...]
    readme: Markup | None
    problems: tuple[str, ...]
    experiments: tuple[ExperimentStudy, ...]
    evidence: str

    @property
    def evals(self) -> tuple[AnyEval, ...]:
        return tuple(one for experiment in self.experiments for one in experiment.evals)


def case_page(study: CaseStudy, package: str | None = None) -> str:
    """Return the page of a case as HTML; on a site it leads back to the page of the `package` that it lies beside."""
    script = pager_script()
    return (
        environment()
        .get_template("case.html.j2")
        .render(
            study=study,
            package=package,
            meta=META_NAME,
            policy=Markup(content_policy(script)),
            script=Markup(script),
            anchor=anchor,
            standing=standing_of,
            is_study=is_study,
            answer=answer,
            next_step=next_step,
            failures=failure_lines,
            most_failures=MOST_FAILURES,
            plot=primary_plot,
            difference_plot=difference_plot,
            island=island,
            money=money_line,
            open_tiles=_MOST_OPEN_TILES,
        )
    )


@cache
def pager_script() -> str:
    """Return the script of the page, the same for every case."""
    return (files("tamesu.core.report") / "templates" / "pager.js").read_text(encoding="utf-8").strip()


def content_policy(*scripts: str) -> str:
    """Return the content security policy of a page: nothing is loaded, and only these scripts run."""
    return (
        f"default-src 'none'; script-src {script_sources(*scripts)}; img-src data:; media-src data:; "
        "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    )


def script_sources(*scripts: str) -> str:
    """Return these scripts as a content security policy names them: by their digests."""
    return " ".join(f"'sha256-{b64encode(sha256(one.encode()).digest()).decode()}'" for one in scripts)


def anchor(ref: EvalRef) -> str:
    """Return the ID of an eval's section; that of its experiment ends at the dot, and no other ID holds one."""
    return f"{ref.experiment}.{ref.eval}"


def standing_of(one: AnyEval) -> str:
    """Return where an eval stands, in the one word that every view uses; of reports alone that is not known."""
    if isinstance(one, ReportedEval):
        return _REPORTED
    return Standing.INVALID.value if isinstance(one, BrokenEval) else one.summary.status


def is_study(one: AnyEval) -> bool:
    """Return whether the evidence of an eval is here and reads."""
    return isinstance(one, EvalStudy)


def answer(one: AnyEval) -> str:
    """Return in one sentence what is known of an eval's question, or why nothing is yet."""
    if isinstance(one, ReportedEval):
        return "Its reports are here, the evidence behind them is not; nothing was computed anew."
    if isinstance(one, BrokenEval):
        return "Not answered: the eval does not read."
    rows = one.summary.rows
    if all(row.state == "owed" for row in rows):
        return f"Not answered yet: nothing is measured, {count(len(one.summary.runs), 'run')} owed."
    return one.summary.leader.sentence


_NEXT = {
    Standing.INVALID: "mend what the lines below name; `tamesu lint` shows them again",
    Standing.DRAFT: "`tamesu plan {0}`, then `tamesu activate {0}`",
    Standing.READY: "`tamesu preflight {0}`, then `tamesu run {0}`",
    Standing.PARTIAL: "`tamesu status {0}` says what is missing; `tamesu run {0}` goes on",
    Standing.AWAITING_REVIEW: (
        "what is owed, which `tamesu status {0}` counts: reviews by `tamesu review export {0}`, judgments by "
        "`tamesu judge {0}`"
    ),
    Standing.EVIDENCE_COMPLETE: "write analysis.md beside eval.yml, then `tamesu close {0}`",
}


def next_step(one: AnyEval) -> str:
    """Return what to do next; empty for an eval that is closed, and for reports alone."""
    if isinstance(one, ReportedEval):
        return ""
    return _NEXT.get(Standing(standing_of(one)), "").format(one.ref)
