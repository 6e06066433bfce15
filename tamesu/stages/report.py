"""Report: from the same summary as the tables to leaderboard, evaluation report and result page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tamesu.base.model.evidence import ItemResult, OutputFile, ReviewedFile
from tamesu.core.images import thumbnail
from tamesu.core.media import kind_of
from tamesu.core.report.evaluation import evaluation_markdown
from tamesu.core.report.evidence import recorded_evidence
from tamesu.core.report.leaderboard import leaderboard_markdown
from tamesu.core.report.page import MOST_TILES, evaluation_page
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.files import write_atomic
from tamesu.edge.store.paths import Project
from tamesu.stages.plan import Planned
from tamesu.stages.summary import slot_results, summarise_eval

_THUMBNAIL_SIDE = 96


def make_report(project: Project, planned: Planned, cache: DigestCache) -> None:
    """Write leaderboard.md, evaluation-report.md and the self-contained result page."""
    summary = summarise_eval(project, planned, cache)
    paths = project.eval(planned.evaluation.ref)
    write_atomic(paths.leaderboard, leaderboard_markdown(summary).encode())
    write_atomic(paths.report, evaluation_markdown(summary).encode())
    page = evaluation_page(summary, _thumbnails(project, planned, cache))
    write_atomic(project.page(planned.evaluation.ref), page.encode())


def _thumbnails(project: Project, planned: Planned, cache: DigestCache) -> dict[tuple[str, str], bytes]:
    """Return small PNGs of review artifacts by run and item, as many as a page shows."""
    small: dict[tuple[str, str], bytes] = {}
    for slot in planned.plan.slots:
        run = project.eval(slot.spec.ref).run(slot.spec.run_id)
        for name, result in slot_results(project, slot, cache).items():
            if result.outcome.status != "generated":
                continue
            if len(small) >= MOST_TILES:
                return small
            contents = ((run.item(name) / path).read_bytes() for path in _pictures(result))
            picture = next(filter(None, (thumbnail(content, _THUMBNAIL_SIDE) for content in contents)), None)
            if picture is not None:
                small[slot.spec.run_id, name] = picture
    return small


def _pictures(result: ItemResult) -> Sequence[str]:
    """Return the paths of the review artifacts that are images, in the order of their roles."""
    media = {artifact.path: artifact.media_type for artifact in result.artifacts}
    match result.output:
        case None:
            files: Sequence[OutputFile | ReviewedFile] = ()
        case OutputFile():
            files = (result.output,)
        case _:
            files = result.output
    return [file.path for file in files if kind_of(media.get(file.path, "")) == "image"]


def view_made_from(path: Path) -> str | None:
    """Return the evidence that a view on disk was made from; None when it is absent or names none."""
    try:
        return recorded_evidence(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
