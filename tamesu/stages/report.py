"""Report: from the same summary as the tables to leaderboard, evaluation report and result page."""

from __future__ import annotations

from pathlib import Path

from tamesu.core.report.evaluation import evaluation_markdown
from tamesu.core.report.evidence import recorded_evidence
from tamesu.core.report.leaderboard import leaderboard_markdown
from tamesu.core.report.page import evaluation_page
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.files import write_atomic
from tamesu.edge.store.paths import Project
from tamesu.stages.outputs import exhibits_of
from tamesu.stages.plan import Planned
from tamesu.stages.summary import summarise_eval


def make_report(project: Project, planned: Planned, cache: DigestCache) -> None:
    """Write leaderboard.md, evaluation-report.md and the self-contained result page."""
    summary = summarise_eval(project, planned, cache)
    paths = project.eval(planned.evaluation.ref)
    write_atomic(paths.leaderboard, leaderboard_markdown(summary).encode())
    write_atomic(paths.report, evaluation_markdown(summary).encode())
    page = evaluation_page(summary, exhibits_of(project, planned, cache))
    write_atomic(project.page(planned.evaluation.ref), page.encode())


def view_made_from(path: Path) -> str | None:
    """Return the evidence that a view on disk was made from; None when it is absent or names none."""
    try:
        return recorded_evidence(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
